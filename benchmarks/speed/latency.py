"""What the service adds to the time of a slow judge, while hundreds of calls are in flight.

``python -m benchmarks.speed.latency`` lets requests arrive at random, 100 a second, at the service
and, in turns and at the same moments, at its judge alone. The judge answers after 2 s. The time of
a request runs from when it was due, whether or not the caller was late.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.faults.load import Ask
from benchmarks.faults.stage import upstream
from benchmarks.speed.arrivals import Arrived, arrive, percentile, poisson
from benchmarks.speed.hammer import MARK, request
from benchmarks.speed.rounds import rounds_of
from benchmarks.speed.row import Row
from benchmarks.speed.stand import assess, bare_body, compare, service

Kind = Literal["assess", "compare"]
GOALS_MS: dict[Kind, dict[float, float]] = {
    "assess": {0.5: 3.0, 0.99: 15.0},
    "compare": {0.99: 50.0},
}
"""By share of the requests, the time added to it."""
ASKS: dict[Kind, Callable[[int], Ask]] = {"assess": assess, "compare": compare}
SHARES = (0.5, 0.9, 0.99, 1.0)
RATE = 100.0
JUDGE_S = 2.0
FILLED_S = 2.5
"""From here on as many are in flight as will ever be; what arrives before is not counted."""
CONNECTIONS = 320
ANSWER = b'"choices"'
"""What an answer of the judge has."""


@dataclass(slots=True)
class Side:
    """Milliseconds by share, one for each round, and what the caller itself was late by."""

    found: dict[float, list[float]] = field(default_factory=lambda: {s: [] for s in SHARES})
    late: list[float] = field(default_factory=list)
    in_flight: int = 0

    def add(self, arrived: Arrived, first: int) -> None:
        """One round more; requests before ``first`` are not counted."""
        for share, found in self.found.items():
            found.append(percentile(arrived.taken[first:], share) * 1e3)
        self.late.append(percentile(arrived.late[first:], 0.99) * 1e3)
        self.in_flight = max(self.in_flight, arrived.most_in_flight)

    def added(self, beside: Side, share: float) -> list[float]:
        """What this side takes more than the other one, round by round."""
        return [a - b for a, b in zip(self.found[share], beside.found[share], strict=True)]


def measure(kind: Kind = "assess", *, seconds: float = 17.5, rounds: int = 3) -> Row:
    """The row: medians over ``rounds`` of so many ``seconds``, after a shorter one to warm up."""
    ours, alone = Side(), Side()
    numbers = itertools.count(1)
    with upstream() as provider:
        provider.control(latency_s=JUDGE_S)
        with service(provider.url) as asked:
            for number in rounds_of(rounds, f"latency:{kind}"):
                due = poisson(RATE, seconds if number else FILLED_S, number)
                fresh = list(itertools.islice(numbers, len(due)))
                plain = [request(bare_body(one)) for one in fresh]
                full = [request(ASKS[kind](one)) for one in fresh]
                first = sum(when < FILLED_S for when in due)
                turns = [
                    (alone, provider.url, plain, ANSWER),
                    (ours, asked.url, full, MARK),
                ]
                for side, url, bodies, mark in turns[:: 1 if number % 2 else -1]:
                    arrived = arrive(url, bodies, due, mark=mark, connections=CONNECTIONS)
                    if number:
                        side.add(arrived, first)
    return row(kind, ours, alone, f"{rounds} rounds of {seconds - FILLED_S:.0f} s")


def row(kind: Kind, ours: Side, alone: Side, rounds: str) -> Row:
    """The row of what was measured of the service and of its judge alone."""
    added = {share: statistics.median(ours.added(alone, share)) for share in SHARES}
    goals = GOALS_MS[kind]
    return Row(
        name=f"time added to a judge of {JUDGE_S:.0f} s, {RATE:.0f} requests a second, {kind}",
        against="the judge alone",
        goal=", ".join(f"p{share * 100:.0f} <= {most:.0f} ms" for share, most in goals.items()),
        value=added[max(goals)],
        unit="ms",
        met=all(added[share] <= most for share, most in goals.items()),
        told="; ".join(f"p{share * 100:.0f} {added[share]:.1f} ms" for share in goals),
        detail=_told(ours, alone) + f"\n{rounds}; in flight at most: {ours.in_flight} requests",
    )


def _told(ours: Side, alone: Side) -> str:
    lines = []
    for share in SHARES:
        added = ours.added(alone, share)
        lines.append(
            f"p{share * 100:<3.0f} added {statistics.median(added):6.1f} ms "
            f"[{min(added):.1f}-{max(added):.1f}]; service "
            f"{statistics.median(ours.found[share]):7.1f}, judge alone "
            f"{statistics.median(alone.found[share]):7.1f}"
        )
    late = ", ".join(f"{statistics.median(side.late):.1f} ms" for side in (ours, alone))
    return "\n".join([*lines, f"the caller itself was late by (p99, included): {late}"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=17.5, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for each in GOALS_MS:
        print(measure(each, seconds=given.seconds, rounds=given.rounds))
