"""Prints, for each judge and group size, Kendall's tau between reward and true quality as a share
of what a round robin in both orders reaches; then with how few calls 95 % of it are reached.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.rank_quality.judges import JUDGES, mean_tau
from benchmarks.rank_quality.ways import (
    Way,
    by_graded_pairs,
    by_list,
    by_pairs,
    by_points,
    round_robin,
    settled,
)
from judge_service.ranking.by_list import most_orders
from judge_service.ranking.schedule import all_orders, default_calls

SIZES = (4, 8, 16)
ENOUGH = 0.95
LIMIT_SIZE = 16


Row = TypeVar("Row")


class Plan(NamedTuple):
    """One row: its name, its calls (None where the points decide), and the way."""

    name: str
    calls: int | None
    way: Way


class Reading(NamedTuple):
    """One kind of answer, the plans that use it with rising calls, and the goal for their share."""

    name: str
    plans: tuple[Plan, ...]
    goal: float | None


def plans(size: int) -> Iterable[Plan]:
    """Every row of a group size; a plain round robin, which is the measure, comes first."""
    every = all_orders(size)
    yield Plan("round robin, wins counted", every, round_robin)
    yield Plan("all pairs, both orders", every, by_pairs(every))
    yield Plan("all pairs once", every // 2, by_pairs(every // 2))
    for each in (1, 2, 3, 4, 6):
        if each * size < every // 2:
            yield Plan(f"{each} calls a member", each * size, by_pairs(each * size))
    yield Plan("odds: all pairs once", every // 2, by_pairs(every // 2, "odds"))
    for each in (1, 2, 3, 4):
        if each * size < every // 2:
            yield Plan(f"odds: {each} calls a member", each * size, by_pairs(each * size, "odds"))
    for each in (2, 4):
        if each * size < every // 2:
            yield Plan(
                f"overconfident odds: {each} calls a member",
                each * size,
                by_pairs(each * size, "overconfident odds"),
            )
    for number in (1, 2, 4, 8):
        yield Plan(f"list, {number} orders", number, by_list(number))
    yield Plan("points", size, by_points(1))
    yield Plan("points, expected scores", size, by_points(1, rounded=False))
    yield Plan("points, 3 times", 3 * size, by_points(3))
    yield Plan("points, ties by pairs", None, settled)


def readings(size: int) -> Iterable[Reading]:
    """What an answer may tell, and the calls that are tried."""
    every = all_orders(size)
    some = [c for c in (16, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 96, 108) if c < every // 2]
    pairs = [*some, every // 2, 160, 200, every]

    def of(name: str, way: Callable[[int], Way], calls: Iterable[int]) -> tuple[Plan, ...]:
        return tuple(Plan(f"{name} {number}", number, way(number)) for number in calls)

    yield Reading("choices", of("pairs", by_pairs, pairs), None)
    yield Reading(
        "choices, ties where close", of("pairs", lambda n: by_pairs(n, "tie"), pairs), 0.3
    )
    yield Reading("logprobs", of("odds", lambda n: by_pairs(n, "odds"), pairs), 0.15)
    yield Reading(
        "logprobs, overconfident",
        of("odds", lambda n: by_pairs(n, "overconfident odds"), pairs),
        0.15,
    )
    lists = [n for n in (1, 2, 4, 8, 12, 16, 24, 32) if n <= most_orders(size)]
    yield Reading("points in lists", of("lists", by_list, lists), 0.3)
    yield Reading("five-level pairs (not offered)", of("graded", by_graded_pairs, pairs[:-3]), 0.3)


def quality(console: Console, size: int, groups: int, seed: int) -> None:
    """Print the table of one group size."""
    table = Table(
        title=f"groups of {size}; the service's default: {default_calls(size)} calls, "
        f"{default_calls(size, graded=True)} by odds"
    )
    _columns(table, "plan", "calls")
    whole: dict[str, float] = {}
    for plan in _tracked(console, list(plans(size)), f"groups of {size}"):
        row = [plan.name, "–" if plan.calls is None else str(plan.calls)]
        for name, judge in JUDGES.items():
            found = mean_tau(judge, size, plan.way, groups=groups, seed=seed)
            told = f"tau {found:.2f}" if name not in whole else f"{found / whole[name]:.0%}"
            whole.setdefault(name, found)
            row.append(told)
        table.add_row(*row)
    console.print(table)


def limits(console: Console, size: int, groups: int, seed: int) -> None:
    """Print with how few calls each kind of answer reaches enough of all pairs in both orders."""
    every = all_orders(size)
    table = Table(title=f"groups of {size}: calls for {ENOUGH:.0%} of the rank quality of {every}")
    _columns(table, "answers", "goal")
    whole = {
        name: mean_tau(judge, size, round_robin, groups=groups, seed=seed)
        for name, judge in JUDGES.items()
    }
    for reading in _tracked(console, list(readings(size)), "fewest calls"):
        row = [reading.name, "" if reading.goal is None else f"≤ {reading.goal:g} ×"]
        for name in JUDGES:
            row.append(_fewest(reading, name, whole[name], groups=groups, seed=seed))
        table.add_row(*row)
    console.print(table)


def _fewest(reading: Reading, name: str, whole: float, *, groups: int, seed: int) -> str:
    """The fewest calls as a share of all; where that misses the goal, what is reached within it."""
    every = all_orders(LIMIT_SIZE)
    within, best = 0.0, 0.0
    for plan in reading.plans:
        found = mean_tau(JUDGES[name], LIMIT_SIZE, plan.way, groups=groups, seed=seed) / whole
        best, calls = max(best, found), plan.calls or 0
        if reading.goal is not None and calls <= reading.goal * every:
            within = max(within, found)
        if found >= ENOUGH:
            missed = reading.goal is not None and within < ENOUGH
            told = f"\n{within:.0%} within the goal" if missed else ""
            return f"{calls} = {calls / every:.2f} ×{told}"
    return f"none\n{best:.0%} at best"


def _tracked(console: Console, rows: list[Row], what: str) -> Iterable[Row]:
    shown = console.is_terminal
    return track(rows, what, console=console, transient=True, disable=not shown)


def _columns(table: Table, first: str, second: str) -> None:
    table.add_column(first)
    table.add_column(second, justify="right")
    for name in JUDGES:
        table.add_column(name, justify="right")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--groups", type=int, default=200, help="simulated groups per cell")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    console = Console()
    for size in SIZES:
        quality(console, size, given.groups, given.seed)
    limits(console, LIMIT_SIZE, given.groups, given.seed)


if __name__ == "__main__":
    main()
