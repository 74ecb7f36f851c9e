"""Runs one example from beginning to end on this machine, and stops all it started.

``make example-dashscope``, ``make example-trl`` and ``make example-drift`` call it. The service
runs on its embedded judge, so no key and no network is needed; its verdicts are for trying out.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parent / "clients" / "src"
STOP_S = 30.0


@contextmanager
def running(command: Sequence[str], **more: str) -> Iterator[str]:
    """A process while the block lasts; gives the first line it prints."""
    process = subprocess.Popen(  # noqa: S603 - a command of ours
        command, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise SystemExit(f"it did not start: {' '.join(command)}")
        yield line
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def service(*options: str) -> Iterator[str]:
    """A judge_service on a free port with its embedded judge; gives its address.

    It keeps its verdicts in a file that goes with it, so that every run asks the judge.
    """
    command = [sys.executable, "-m", "judge_service.cli", "serve", "--json", "--port", "0"]
    command += ["--embedded-judge", "--log-level", "error", *options]
    with (
        TemporaryDirectory() as folder,
        running(command, JUDGE_SERVICE_STORE=str(Path(folder) / "store.sqlite3")) as line,
    ):
        url: str = json.loads(line)["url"]
        yield url


def call(command: Sequence[str], where: Path, settings: Mapping[str, str]) -> None:
    """Run a command to its end; what it prints is the example's. Exits where it fails."""
    path = os.pathsep.join(filter(None, [str(CLIENT), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, **settings, "PYTHONPATH": path}
    code = subprocess.run(command, cwd=where, env=env, check=False).returncode  # noqa: S603
    if code:
        raise SystemExit(code)


def dashscope() -> None:
    """Rollouts, their rewards and their group's, each in the SDK's own server."""
    with ExitStack() as stack:
        settings = {
            "JUDGE_SERVICE_URL": stack.enter_context(service()),
            "POLICY_URL": stack.enter_context(server("dashscope/serve_policy.py", "POLICY_PORT")),
            "SERVER_PORT": str(free_port()),
        }
        call([sys.executable, "loop.py"], HERE / "dashscope", settings)


def trl() -> None:
    """GRPO steps of a tiny model. TRL_PYTHON names the Python that has torch and TRL."""
    python = os.environ.get("TRL_PYTHON", sys.executable)
    with service("--rubrics-dir", str(HERE / "trl_grpo" / "rubrics")) as url:
        call([python, "-W", "ignore", "train.py"], HERE / "trl_grpo", {"JUDGE_SERVICE_URL": url})


def drift() -> None:
    """The embedded model beside a judge that counts words, on labelled answers."""
    with ExitStack() as stack:
        trusted = stack.enter_context(server("drift/word_judge.py", "JUDGE_PORT"))
        cheap = stack.enter_context(server("dashscope/serve_policy.py", "POLICY_PORT"))
        command = [sys.executable, "compare.py", str(HERE.parent / "build" / "example-drift")]
        call(command, HERE / "drift", {"TRUSTED_URL": trusted, "CHEAP_URL": cheap})


@contextmanager
def server(script: str, port_name: str) -> Iterator[str]:
    """A server of OpenAI's protocol on a free port; gives its address."""
    port = str(free_port())
    with running([sys.executable, str(HERE / script)], **{port_name: port}) as line:
        print(line, end="", flush=True)
        yield f"http://127.0.0.1:{port}/v1"


def free_port() -> int:
    """A port that is free, and most likely the three that follow are as well."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


EXAMPLES = {"dashscope": dashscope, "drift": drift, "trl": trl}


def main() -> None:
    """Run the example named on the command line."""
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in EXAMPLES:
        raise SystemExit(f"usage: run.py {'|'.join(EXAMPLES)}")
    started = time.monotonic()
    EXAMPLES[name]()
    print(f"done in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
