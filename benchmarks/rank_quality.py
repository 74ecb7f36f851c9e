"""What a group's ranking is worth for how many calls, on simulated judges.

Candidates have a true quality q ~ N(0, 1). A judge that sees i first and j second chooses i with
a chance of 1 / (1 + exp(-x)), where x = sharpness · (q_i - q_j) + position bias + a whim of the
pair + noise of the call. The five judges differ in sharpness, bias and noise; the numbers are
assumptions, not fitted to any model. The product's own schedule, strengths and shares are used;
only the judge is made up. ``make rank-quality`` prints, for each judge and group size, Kendall's
tau between reward and true quality as a percentage of what all pairs in both orders reach.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from judge_service.pairwise import pair_outcome
from judge_service.ranking.bradley_terry import Shown, strengths, win_shares
from judge_service.ranking.by_list import orders
from judge_service.ranking.schedule import all_orders, default_calls, schedule

Floats = NDArray[np.float64]
SIZES = (4, 8, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedJudge:
    """``bias`` is mean and spread of the position bias over groups, ``whim`` the spread of a pair's
    lasting quirk, ``noise`` that of a single call; ``repeats`` gives the same answer each time.
    ``point`` is the lasting and the passing error of a point on a scale, ``listed`` the error and
    the pull of the place in a list.
    """

    sharpness: float
    bias: tuple[float, float]
    whim: float
    noise: float
    point: tuple[float, float]
    listed: tuple[float, float]
    repeats: bool = False


JUDGES = {
    "ordinary": SimulatedJudge(
        sharpness=2.0, bias=(0.5, 0.5), whim=0.7, noise=0.5, point=(0.5, 0.6), listed=(0.55, 0.4)
    ),
    "sharp": SimulatedJudge(
        sharpness=4.0, bias=(0.3, 0.3), whim=0.7, noise=0.5, point=(0.35, 0.35), listed=(0.35, 0.25)
    ),
    "biased": SimulatedJudge(
        sharpness=2.0, bias=(1.5, 1.0), whim=0.7, noise=0.5, point=(0.5, 0.6), listed=(0.55, 1.0)
    ),
    "temperature 0": SimulatedJudge(
        sharpness=3.0, bias=(1.0, 1.0), whim=1.5, noise=0.3, point=(0.8, 0.2), listed=(0.4, 0.5),
        repeats=True,
    ),
    "noisy": SimulatedJudge(
        sharpness=1.0, bias=(0.5, 0.5), whim=0.7, noise=0.7, point=(0.8, 1.0), listed=(0.9, 0.4)
    ),
}  # fmt: skip


class Group:
    """One group of candidates in front of one judge."""

    def __init__(self, judge: SimulatedJudge, size: int, draw: np.random.Generator) -> None:
        self.size = size
        self.judge = judge
        self.draw = draw
        self.quality = draw.normal(size=size)
        self._bias = draw.normal(*judge.bias)
        whim = np.triu(draw.normal(0.0, judge.whim, (size, size)), 1)
        self._whim = whim - whim.T
        self._lasting = draw.normal(0.0, judge.point[0], size)
        self._in_lists = draw.normal(0.0, judge.point[0] * 0.7, size)

    def first_wins(self, first: int, second: int) -> bool:
        """One call: whether the one shown first is chosen."""
        x = (
            self.judge.sharpness * (self.quality[first] - self.quality[second])
            + self._bias
            + self._whim[first, second]
            + self.draw.normal(0.0, self.judge.noise)
        )
        if self.judge.repeats:
            return bool(x > 0)
        return bool(self.draw.random() < 1.0 / (1.0 + np.exp(-x)))

    def points(self) -> Floats:
        """One point from 1 to 5 for each; judges are a little lenient."""
        felt = self.quality + self._lasting + self.draw.normal(0, self.judge.point[1], self.size)
        points: Floats = np.clip(np.rint(3.3 + felt), 1, 5)
        return points

    def listed(self, order: list[int]) -> Floats:
        """The points from one list, by member."""
        error, pull = self.judge.listed
        place = np.empty(self.size)
        place[order] = np.linspace(-1.0, 1.0, self.size)
        felt = self.quality + self._in_lists - pull * place
        felt += self.draw.normal(0.0, error * np.sqrt(1 + self.size / 8), self.size)
        points: Floats = np.clip(np.rint(3.3 + felt), 1, 5)
        return points


def by_pairs(group: Group, calls: int) -> Floats:
    """The win shares for a number of calls, as the service computes them."""
    meetings = schedule(group.size, calls)
    first = {meeting: group.first_wins(*meeting) for meeting in meetings}
    if len(meetings) < all_orders(group.size):
        shown = [Shown(*meeting, 0, float(won)) for meeting, won in first.items()]
        return win_shares(strengths(shown, group.size, 1))
    wins, met = np.zeros(group.size), np.zeros(group.size)
    for a in range(group.size):
        for b in range(a + 1, group.size):
            ab = "first" if first[a, b] else "second"  # type: ignore[index]
            ba = "second" if first[b, a] else "first"  # type: ignore[index]
            outcome = pair_outcome(ab, ba)  # type: ignore[arg-type]
            if outcome != "inconsistent":
                wins[a if outcome == "first" else b] += 1
                met[[a, b]] += 1
    return np.divide(wins, met, out=np.full(group.size, 0.5), where=met > 0)


def by_list(group: Group, number: int) -> Floats:
    """The mean points of several lists."""
    shuffled = group.draw.permutation(group.size)
    asked = [[int(shuffled[m]) for m in order] for order in orders(group.size, number)]
    total = sum((group.listed(order) for order in asked), np.zeros(group.size))
    return total / number


def by_points(group: Group, times: int) -> Floats:
    """The mean of one or several assessments."""
    return sum((group.points() for _ in range(times)), np.zeros(group.size)) / times


def settled(group: Group) -> Floats:
    """Points, and pairs in both orders among those that have the same."""
    points = group.points()
    rewards = points.copy()
    for point in set(points.tolist()):
        tied = np.flatnonzero(points == point)
        for member in tied if len(tied) > 1 else ():
            won = sum(
                (group.first_wins(member, o) + (not group.first_wins(o, member))) / 2
                for o in tied
                if o != member
            )
            rewards[member] += 0.9 * (won / (len(tied) - 1) - 0.5)
    return rewards


def tau(rewards: Floats, quality: Floats) -> float:
    """Kendall's tau-a of two rankings: a pair of equal rewards counts as nothing."""
    upper = np.triu_indices(len(quality), 1)
    signs = [np.sign(v[:, None] - v[None, :])[upper] for v in (rewards, quality)]
    return float((signs[0] * signs[1]).mean())


def plans(size: int) -> Iterable[tuple[str, float, Callable[[Group], Floats]]]:
    """Name, calls and way of every row."""
    every = all_orders(size)
    yield "all pairs, both orders", every, lambda g: by_pairs(g, every)
    yield "all pairs once", every // 2, lambda g: by_pairs(g, every // 2)
    for each in (1, 2, 3, 4, 6):
        if each * size < every // 2:
            yield f"{each} calls a member", each * size, lambda g, n=each: by_pairs(g, n * g.size)
    for number in (1, 2, 4, 8):
        yield f"list, {number} orders", number, lambda g, n=number: by_list(g, n)
    yield "points", size, lambda g: by_points(g, 1)
    yield "points, 3 times", 3 * size, lambda g: by_points(g, 3)
    yield "points, ties by pairs", float("nan"), settled


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=int, default=200, help="simulated groups per cell")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    console = Console()
    for size in SIZES:
        table = Table(title=f"groups of {size}; the service's default: {default_calls(size)} calls")
        table.add_column("plan")
        table.add_column("calls", justify="right")
        for name in JUDGES:
            table.add_column(name, justify="right")
        whole: dict[str, float] = {}
        for plan, calls, way in track(list(plans(size)), f"groups of {size}", transient=True):
            row = [plan, "–" if np.isnan(calls) else f"{calls:g}"]
            for name, judge in JUDGES.items():
                draw = np.random.default_rng([given.seed, size])
                values = []
                for _ in range(given.groups):
                    group = Group(judge, size, draw)
                    values.append(tau(way(group), group.quality))
                mean = float(np.mean(values))
                whole.setdefault(name, mean)
                row.append(f"{mean / whole[name]:.0%}" if plan != "all pairs, both orders"
                           else f"tau {mean:.2f}")  # fmt: skip
            table.add_row(*row)
        console.print(table)


if __name__ == "__main__":
    main()
