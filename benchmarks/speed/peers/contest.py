"""The service over HTTP beside libraries without: the same candidates, the same upstream, in turns.

Each peer judges with its own ordinary scorer, 64 at once; the service is one worker that 64
connections ask. The upstream takes 50 ms. What is measured has a core of its own; caller and
upstream have the others, and their time does not count.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import httpx

from benchmarks.faults.stage import ROOT, Service
from benchmarks.speed.cores import on, split
from benchmarks.speed.hammer import MARK, request
from benchmarks.speed.peers.environment import CannotBuild
from benchmarks.speed.peers.process import Judging, PeerFailed, judging
from benchmarks.speed.peers.replies import SERVICE
from benchmarks.speed.peers.roster import Peer, chosen
from benchmarks.speed.row import Row
from benchmarks.speed.spent import Spent, ask, told
from benchmarks.speed.stand import IN_FLIGHT, assess, service

FASTER = 1.3
CPU = 0.5
OURS = 640
"""Verdicts of the service in each round."""


@dataclass(slots=True)
class Match:
    """The rounds of the service and one peer, or why there are none."""

    peer: Peer
    version: str = ""
    rounds: list[tuple[Spent, Spent]] = field(default_factory=list)
    failed: str = ""

    @property
    def measured(self) -> bool:
        """Whether all rounds were played."""
        return bool(self.rounds) and not self.failed

    @property
    def rate(self) -> float:
        """The peer's verdicts per second."""
        return statistics.median(theirs.per_second for _, theirs in self.rounds)

    @property
    def faster(self) -> float:
        """The service's rate in units of the peer's."""
        return statistics.median(o.per_second / t.per_second for o, t in self.rounds)

    @property
    def cpu(self) -> float:
        """The service's processor time for a verdict in units of the peer's."""
        return statistics.median(o.cpu_ms / t.cpu_ms for o, t in self.rounds)

    @property
    def name(self) -> str:
        """The peer with its version."""
        return f"{self.peer.package} {self.version}".rstrip()

    def __str__(self) -> str:
        if not self.measured:
            return f"{self.name}: not measured: {self.failed}"
        ours, theirs = zip(*self.rounds, strict=True)
        return (
            f"{self.name:22} {told(theirs)}; service {told(ours)}: "
            f"{self.faster:5.1f} x the rate, {self.cpu:.2f} x the processor time"
        )


@contextmanager
def upstream() -> Iterator[str]:
    """The upstream of all, a process; its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.speed.peers.upstream"], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"
    finally:
        process.kill()
        process.communicate()


def measure(peer: str = "", *, rounds: int = 5) -> Row:
    """The row for one peer, or for the fastest of all; medians over ``rounds`` after a first one.

    Raises RuntimeError where none could be measured or the service did not judge.
    """
    matches = [Match(each) for each in chosen(peer)]
    numbers = itertools.count(1)
    tested, rest = split()
    with on(rest), upstream() as url, ExitStack() as stack:
        with on(tested):
            ours = stack.enter_context(service(f"{url}/{SERVICE}"))
            playing = [(match, _enter(match, url, stack)) for match in matches]
        for number in range(rounds + 1):
            for match, theirs in playing:
                if theirs is None or match.failed:
                    continue
                played = _round(ours, match, theirs, numbers, swapped=bool(number % 2))
                _progress(f"round {number} of {rounds}: {match.name} {_said(match, played)}")
                if number and played is not None:
                    match.rounds.append(played)
        _check(url, matches)
    return row_of(matches, rounds)


def _enter(match: Match, url: str, stack: ExitStack) -> Judging | None:
    _progress(f"starting {match.name}")
    try:
        theirs = stack.enter_context(judging(match.peer, url))
    except (CannotBuild, PeerFailed) as error:
        match.failed = str(error)
        return None
    match.version = theirs.version
    return theirs


def _round(
    ours: Service, match: Match, theirs: Judging, numbers: Iterator[int], *, swapped: bool
) -> tuple[Spent, Spent] | None:
    """Both sides, one after the other; the order changes with the rounds."""
    try:
        first = theirs.judge(_pairs(match.peer.verdicts, numbers)) if swapped else None
        sent = [request(assess(next(numbers))) for _ in range(OURS)]
        spent = ask(ours.url, ours.pid, sent, OURS, mark=MARK)
        return spent, first or theirs.judge(_pairs(match.peer.verdicts, numbers))
    except PeerFailed as error:
        match.failed = str(error)
        return None


def _said(match: Match, played: tuple[Spent, Spent] | None) -> str:
    if played is None:
        return match.failed
    ours, theirs = played
    return f"{told([theirs])}, service {told([ours])}"


def _pairs(many: int, numbers: Iterator[int]) -> list[tuple[str, str]]:
    asks = [assess(next(numbers)).body or {} for _ in range(many)]
    return [(body["prompt"], body["candidate"]["text"]) for body in asks]


def _check(url: str, matches: list[Match]) -> None:
    """Tell who did not have as many calls open as were in flight, and what was refused."""
    seen = httpx.get(f"{url}/stats", trust_env=False).json()
    if refused := seen["refused"]:
        _progress(f"the upstream refused {refused[0]}")
    for who in (SERVICE, *(match.peer.name for match in matches)):
        if (most := seen["most_in_flight"].get(who, 0)) < IN_FLIGHT:
            _progress(f"{who} had {most} calls open at most")


def row_of(matches: Sequence[Match], rounds: int) -> Row:
    """What was found, about the fastest. Raises RuntimeError where no peer was measured."""
    measured = [match for match in matches if match.measured]
    everyone = "\n".join(map(str, matches))
    if not measured:
        raise RuntimeError(f"no peer could be measured\n{everyone}")
    fastest = max(measured, key=lambda match: match.rate)
    slowest_lead = min(match.faster for match in measured)
    met = fastest.faster >= FASTER and fastest.cpu <= CPU and slowest_lead > 1.0
    missing = len(matches) - len(measured)
    beside = f", the fastest of {len(measured)} libraries" if len(matches) > 1 else ""
    left_out = f"; {missing} could not be measured" if missing else ""
    return Row(
        name="verdicts/s of one worker over HTTP, 64 in flight, 50 ms judge",
        against=f"{fastest.name} without HTTP{beside}{left_out}",
        goal=f">= {FASTER:.1f} x its rate at <= {CPU:.1f} x its CPU, ahead of each",
        value=fastest.faster,
        unit="x",
        told=f"{fastest.faster:.2f} x the rate, {fastest.cpu:.2f} x the CPU",
        met=met and not missing,
        detail=f"{everyone}\n{rounds} rounds, {OURS} verdicts of the service in each",
    )


def _progress(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)
