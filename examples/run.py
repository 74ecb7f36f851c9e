"""Runs one example from beginning to end on this machine, and stops all it started.

``make example-dashscope``, ``make example-trl`` and ``make example-drift`` call it. The service
runs on its embedded judge, so no key and no network is needed; its verdicts are for trying out.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parent / "clients" / "src"
STOP_S = 30.0


class Process:
    """A process that says in its first line that it serves."""

    def __init__(self, command: Sequence[str], **more: str) -> None:
        self._command = command
        # Ctrl-C reaches this program alone, which then ends what it started.
        self._process = subprocess.Popen(  # noqa: S603 - a command of ours
            command, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True, process_group=0
        )

    def line(self) -> str:
        """The first line, when it comes. Exits where the process ends without one."""
        said: TextIO | None = self._process.stdout
        line = said.readline() if said is not None else ""
        if not line:
            raise SystemExit(f"it did not start: {' '.join(self._command)}")
        return line

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def running(command: Sequence[str], **more: str) -> Iterator[Process]:
    """A process while the block lasts; others can start while it does."""
    process = Process(command, **more)
    try:
        yield process
    finally:
        process.stop()


@contextmanager
def service(*options: str) -> Iterator[Process]:
    """A judge_service on a free port with its embedded judge; its line is JSON with its address.

    It keeps its verdicts in a file that goes with it, so that every run asks the judge.
    """
    command = [sys.executable, "-m", "judge_service.cli", "serve", "--json", "--port", "0"]
    command += ["--embedded-judge", "--log-level", "error", *options]
    with (
        TemporaryDirectory() as folder,
        running(command, JUDGE_SERVICE_STORE=str(Path(folder) / "store.sqlite3")) as process,
    ):
        yield process


def address(process: Process) -> str:
    """Where a service answers."""
    url: str = json.loads(process.line())["url"]
    print(f"judge_service answers on {url}, judged by the model it embeds", flush=True)
    return url


@contextmanager
def server(script: str, port_name: str) -> Iterator[tuple[Process, str]]:
    """A server of OpenAI's protocol, and its address on a free port."""
    port = str(free_port())
    with running([sys.executable, str(HERE / script)], **{port_name: port}) as process:
        yield process, f"http://127.0.0.1:{port}/v1"


def call(command: Sequence[str], where: Path, settings: Mapping[str, str]) -> None:
    """Run a command to its end; what it prints is the example's. Exits where it fails."""
    path = os.pathsep.join(filter(None, [str(CLIENT), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, **settings, "PYTHONPATH": path}
    process = subprocess.Popen(command, cwd=where, env=env, process_group=0)  # noqa: S603 - ours
    try:
        code = process.wait()
    except BaseException:
        # Not killed at once: it has processes of its own to end.
        process.terminate()
        process.wait(STOP_S)
        raise
    if code:
        raise SystemExit(code if code > 0 else 1)


def dashscope() -> None:
    """Rollouts, their rewards and their group's, each in the SDK's own server."""
    with ExitStack() as stack:
        judge = stack.enter_context(service())
        policy, policy_url = stack.enter_context(server("dashscope/serve_policy.py", "POLICY_PORT"))
        settings = {
            "JUDGE_SERVICE_URL": address(judge),
            "POLICY_URL": policy_url,
            "SERVER_PORT": str(free_port(4)),
        }
        print(policy.line(), end="", flush=True)
        call([sys.executable, "loop.py"], HERE / "dashscope", settings)


def trl() -> None:
    """GRPO steps of a tiny model. TRL_PYTHON names the Python that has torch and TRL."""
    python = os.environ.get("TRL_PYTHON", sys.executable)
    with service("--rubrics-dir", str(HERE / "trl_grpo" / "rubrics")) as judge:
        settings = {"JUDGE_SERVICE_URL": address(judge)}
        call([python, "-W", "ignore", "train.py"], HERE / "trl_grpo", settings)


def drift() -> None:
    """The embedded model beside a judge that counts words, on labelled answers."""
    with ExitStack() as stack:
        trusted, trusted_url = stack.enter_context(server("drift/word_judge.py", "JUDGE_PORT"))
        cheap, cheap_url = stack.enter_context(server("dashscope/serve_policy.py", "POLICY_PORT"))
        for process in (trusted, cheap):
            print(process.line(), end="", flush=True)
        command = [sys.executable, "compare.py", str(HERE.parent / "build" / "example-drift")]
        call(command, HERE / "drift", {"TRUSTED_URL": trusted_url, "CHEAP_URL": cheap_url})


def free_port(count: int = 1) -> int:
    """The first of some ports in a row that are free. Exits where there are none."""
    for _ in range(100):
        with ExitStack() as found:
            first = _bound(found, 0)
            if first and all(_bound(found, first + at) for at in range(1, count)):
                return first
    raise SystemExit(f"no {count} free ports in a row")


def _bound(found: ExitStack, port: int) -> int:
    """The port that was bound, 0 where it is not free."""
    tried = found.enter_context(socket.socket())
    try:
        tried.bind(("127.0.0.1", port))
    except (OSError, OverflowError):
        return 0
    bound: int = tried.getsockname()[1]
    return bound


EXAMPLES = {"dashscope": dashscope, "drift": drift, "trl": trl}


def main() -> None:
    """Run the example named on the command line."""
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in EXAMPLES:
        raise SystemExit(f"usage: run.py {'|'.join(EXAMPLES)}")
    # Whoever ends this ends what it started, too.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: sys.exit(1))
    started = time.monotonic()
    try:
        EXAMPLES[name]()
    except KeyboardInterrupt:
        sys.exit("stopped")
    print(f"done in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
