"""Rounds of a measurement: both sides in turns, the first round to warm up, a bar meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from benchmarks.speed.stand import Costs

Part = TypeVar("Part")
Measured = Callable[[], float]
"""One side's part of a round; milliseconds of processor time per operation."""


def rounds_of(number: int, title: str) -> Iterator[int]:
    """The numbers of the rounds, 1 to ``number``, after a round 0 that does not count."""
    yield from one_by_one(range(number + 1), title)


def one_by_one(parts: Collection[Part], title: str) -> Iterator[Part]:
    """The parts of a measurement. On a terminal a bar shows how far it is."""
    console = Console(stderr=True)
    yield from track(parts, title, console=console, transient=True, disable=not console.is_terminal)


def in_turns(number: int, title: str, **sides: Measured) -> Costs:
    """What every side costs in each of the rounds that count."""
    costs = Costs()
    for this in rounds_of(number, title):
        for who, measured in sides.items():
            cost = measured()
            if this:
                costs.add(who, cost)
    return costs
