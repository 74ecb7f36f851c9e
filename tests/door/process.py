"""A service in processes of its own, for what signals do to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.door.support import Caller
from tests.harness import Judges, write_rubric
from tests.provider import FakeProvider

HEAD = b"POST /v1/assess HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
MAIN = "from judge_service.cli import main; main()"
STUB = (
    "import judge_service.cli.server as s; from tests.door.stub import stub; "
    "s.APP = 'tests.door.stub:stub'; s.app = lambda _: stub(); s.GRACE_S = 60"
)
"""Let the processes serve an app that starts at once."""


def assess(text: str = "An answer.") -> bytes:
    """A request to judge a text."""
    candidate = {"text": text, "family": "own"}
    body = json.dumps({"rubric": "quality", "prompt": "?", "candidate": candidate}).encode()
    return HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def get(path: str) -> bytes:
    """A request without a body."""
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()


@dataclass(frozen=True, slots=True)
class Served:
    """A running ``judge-service serve``."""

    process: subprocess.Popen[str]
    port: int
    family: tuple[psutil.Process, ...]

    def caller(self) -> Caller:
        """A new connection."""
        return Caller(self.port)

    def workers(self) -> list[psutil.Process]:
        """The worker processes there are now."""
        found = psutil.Process(self.process.pid).children()
        return [child for child in found if _is_worker(child)]

    def terminate(self) -> None:
        """Ask it to end."""
        self.process.send_signal(signal.SIGTERM)

    def ended(self, timeout_s: float) -> tuple[int, str]:
        """Its exit code and what it said on stderr, once it has ended."""
        _, err = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, err

    def is_refusing(self) -> bool:
        """Whether nobody listens on its port."""
        try:
            self.caller().end()
        except ConnectionRefusedError:
            return True
        return False


@contextmanager
def served(provider: FakeProvider, folder: Path, *args: str, before: str = "") -> Iterator[Served]:
    """Run the service until the block ends; ``before`` is Python that runs first."""
    write_rubric(folder)
    (folder / "anchors").mkdir()
    judges = Judges(provider).add("alpha").write(folder)
    environ = {n: v for n, v in os.environ.items() if not n.startswith("JUDGE_SERVICE_")}
    environ["JUDGE_SERVICE_STORE"] = str(folder / "store.sqlite3")
    process = subprocess.Popen(
        [sys.executable, "-c", f"{before}\n{MAIN}", "serve", "--port", "0", "--json",
         "--judges", str(judges), "--rubrics-dir", str(folder / "rubrics"),
         "--anchors-dir", str(folder / "anchors"), *args],
        cwd=folder, env={**environ, "PYTHONPATH": os.getcwd()},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    family: list[psutil.Process] = []
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said, process.communicate()[1]
        family = [psutil.Process(process.pid)]
        family += family[0].children(recursive=True)
        yield Served(process, int(json.loads(said)["url"].rsplit(":", 1)[1]), tuple(family))
    finally:
        process.kill()
        for member in family[1:]:
            with suppress(psutil.NoSuchProcess):
                member.kill()
        process.communicate()


def gone(processes: list[psutil.Process]) -> bool:
    """Whether none of them is there any more."""
    return not any(_is_there(process) for process in processes)


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # a zombie is one, too
        return False


def _is_there(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
