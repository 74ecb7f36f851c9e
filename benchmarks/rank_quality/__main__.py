"""Prints, for each judge and group size, Kendall's tau between reward and true quality as a share
of what a round robin in both orders reaches; then with how few calls 95 % of it are reached, and
what lists before pairs are worth where a judge's lists are bad.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TypeVar

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.rank_quality.fewest import ENOUGH, Fewest, Plan, Reading, fewest, readings
from benchmarks.rank_quality.judges import JUDGES, WORSE_LISTS, mean_tau
from benchmarks.rank_quality.ways import (
    Told,
    after_lists,
    by_list,
    by_pairs,
    by_points,
    round_robin,
    settled,
)
from judge_service.ranking.schedule import all_orders, default_calls

SIZES = (4, 8, 16)
LIMIT_SIZE = 16
WORSE_LISTS_CALLS = 72


Row = TypeVar("Row")


def plans(size: int) -> Iterable[Plan]:
    """Every row of a group size; a plain round robin, which is the measure, comes first."""
    every = all_orders(size)
    yield Plan("round robin, wins counted", every, round_robin)
    yield Plan("all pairs, both orders", every, by_pairs(every))
    yield Plan("all pairs once", every // 2, by_pairs(every // 2))
    for each in (1, 2, 3, 4, 6):
        if each * size < every // 2:
            yield Plan(f"{each} calls a member", each * size, by_pairs(each * size))
    yield from plans_after_lists(size)
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


def plans_after_lists(size: int) -> Iterable[Plan]:
    """The rows of lists before pairs."""
    kinds: tuple[Told, ...] = ("choice", "tie")
    for told in kinds:
        for each in (3, 5):
            if each * size < all_orders(size):
                name = f"lists, then pairs ({told}): {each} calls a member"
                yield Plan(name, each * size, after_lists(each * size, told))


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
            found = fewest(reading, JUDGES[name], size, whole[name], groups=groups, seed=seed)
            row.append(_told(reading, found))
        table.add_row(*row)
    console.print(table)


def worse_lists(console: Console, size: int, groups: int, seed: int) -> None:
    """Print what lists before pairs are worth where the lists are worse than assumed."""
    calls = WORSE_LISTS_CALLS
    table = Table(title=f"groups of {size}, {calls} calls, ties where close, an ordinary judge")
    table.add_column("its lists")
    table.add_column("pairs alone", justify="right")
    table.add_column("lists, then pairs", justify="right")
    for name, judge in WORSE_LISTS.items():
        whole, *found = (
            mean_tau(judge, size, way, groups=groups, seed=seed)
            for way in (round_robin, by_pairs(calls, "tie"), after_lists(calls, "tie"))
        )
        table.add_row(name, *(f"{one / whole:.0%}" for one in found))
    console.print(table)


def _told(reading: Reading, found: Fewest) -> str:
    """The fewest calls as a share of all; where that misses the goal, what is reached within it."""
    if found.calls is None:
        return f"none\n{found.best:.0%} at best"
    missed = reading.goal is not None and found.within < ENOUGH
    more = f"\n{found.within:.0%} within the goal" if missed else ""
    return f"{found.calls} = {found.calls / all_orders(LIMIT_SIZE):.2f} ×{more}"


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
    worse_lists(console, LIMIT_SIZE, given.groups, given.seed)


if __name__ == "__main__":
    main()
