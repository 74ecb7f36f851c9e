"""A peer at work: its process, started in its environment, and what a batch costs it."""

from __future__ import annotations

import json
import select
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.speed.peers.environment import environ, python_of
from benchmarks.speed.peers.replies import RIGHT
from benchmarks.speed.peers.roster import Peer
from benchmarks.speed.spent import Spent, cpu_s
from benchmarks.speed.stand import IN_FLIGHT

RUN = Path(__file__).with_name("run.py")
ANSWER_S = 180.0


class PeerFailed(RuntimeError):
    """A peer did not do its part; the message says what it last wrote."""


class Judging:
    """A peer that waits for batches."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self._process = process
        self._errors = errors
        self.version = str(self._answer()["version"])

    def judge(self, pairs: Sequence[tuple[str, str]]) -> Spent:
        """Judge pairs of prompt and candidate. Raises PeerFailed for any but the right verdict."""
        self._say(json.dumps(pairs))
        self._answer()
        before = cpu_s(self._process.pid)
        self._say("go")
        seconds = float(self._answer()["seconds"])
        spent = cpu_s(self._process.pid) - before
        return Spent(len(pairs) / seconds, spent * 1000.0 / len(pairs))

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise PeerFailed(self._last_words()) from error

    def _answer(self) -> Any:
        out = self._process.stdout
        assert out is not None
        if not select.select([out], [], [], ANSWER_S)[0]:
            raise PeerFailed(f"no answer in {ANSWER_S:.0f} s; {self._last_words()}")
        line = out.readline()
        if not line:
            raise PeerFailed(self._last_words())
        return json.loads(line)

    def _last_words(self) -> str:
        lines = self._errors.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line[:300] for line in reversed(lines) if line.strip()), "it said nothing")


@contextmanager
def judging(peer: Peer, upstream_url: str) -> Iterator[Judging]:
    """A peer in a process of its own. Raises CannotBuild or PeerFailed where there will be none."""
    python = python_of(peer.name)
    with tempfile.TemporaryDirectory(prefix="speed-peer-") as name:
        home = Path(name)
        errors = home / "errors.log"
        arguments = (
            peer.name, f"{upstream_url}/{peer.name}/v1", str(IN_FLIGHT), str(RIGHT), peer.package,
        )  # fmt: skip
        with errors.open("w", encoding="utf-8") as out:
            process = subprocess.Popen(
                [str(python), "-P", str(RUN), *arguments], cwd=home, env=environ(home), text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out,
            )  # fmt: skip
        try:
            yield Judging(process, errors)
        finally:
            process.kill()
            process.communicate()
