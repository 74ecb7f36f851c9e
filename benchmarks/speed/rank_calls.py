"""How few calls rank a group of 16 nearly as well as a round robin of 240.

``python -m benchmarks.speed.rank_calls`` ranks simulated groups by the service's own schedule and
fit; only the judges are made up. ``make rank-quality`` prints the same with more groups and plans.
"""

from __future__ import annotations

import argparse
import math
from typing import Literal, get_args

from benchmarks.rank_quality.fewest import (
    ENOUGH,
    LOGPROBS,
    POINTS_AND_TIES,
    Fewest,
    fewest,
    readings,
)
from benchmarks.rank_quality.judges import JUDGES, mean_tau
from benchmarks.rank_quality.ways import round_robin
from benchmarks.speed.rounds import one_by_one
from benchmarks.speed.row import Row
from judge_service.ranking.schedule import all_orders

Kind = Literal["odds", "graded"]
ANSWERS: dict[Kind, str] = {"odds": LOGPROBS, "graded": POINTS_AND_TIES}
SIZE = 16


def measure(kind: Kind = "odds", *, groups: int = 200, seed: int = 0) -> Row:
    """The row: the share of calls of the judge that takes most of them."""
    reading = next(one for one in readings(SIZE) if one.name == ANSWERS[kind])
    found: dict[str, Fewest] = {}
    for name in one_by_one(JUDGES, f"rank_calls:{kind}"):
        judge = JUDGES[name]
        whole = mean_tau(judge, SIZE, round_robin, groups=groups, seed=seed)
        found[name] = fewest(reading, judge, SIZE, whole, groups=groups, seed=seed)
    assert reading.goal is not None
    return row(reading.name, reading.goal, found, f"{groups} groups of each judge, seed {seed}")


def row(answers: str, goal: float, found: dict[str, Fewest], groups: str) -> Row:
    """The row of what was ``found`` by judge."""
    every = all_orders(SIZE)
    shares = [math.inf if one.calls is None else one.calls / every for one in found.values()]
    lines = [
        f"{name:13} {one.calls or 'never enough'} calls; at most {one.within:.0%} of the quality "
        f"for {goal:g} x of the calls"
        for name, one in found.items()
    ]
    most = f"{max(shares):.2f} x" if max(shares) < math.inf else "never"
    return Row(
        name=f"group of {SIZE}: calls for {ENOUGH:.0%} of round robin's rank quality, by {answers}",
        against=f"round robin in both orders, {every} calls",
        goal=f"<= {goal:g} x",
        value=max(shares),
        unit="x",
        met=max(shares) <= goal,
        told=f"{min(shares):.2f} x to {most}, by judge",
        detail="\n".join([*lines, groups]),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--groups", type=int, default=200, help="of each judge")
    given = parser.parse_args()
    for each in get_args(Kind):
        print(measure(each, groups=given.groups))
