"""Orderings inside a group: what a trainer that compares answers to one prompt would notice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from judge_service.statistics.bootstrap import Bootstrap, ratio
from judge_service.statistics.estimate import Estimate, wire
from judge_service.statistics.interval import wilson

MAX_PAIRS = 200_000
"""How many pairs are looked at; a group of n has n(n-1)/2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """``share`` of the ``orderings`` that the first side has (two candidates of one group, one
    better than the other) that the second side turns round. ``lost`` are orderings that the second
    side does not have, ``made`` those that only it has; ``groups`` have two candidates or more.
    """

    share: Estimate | None
    orderings: int
    flipped: int
    lost: int
    made: int
    groups: int

    def wire(self) -> dict[str, Any] | None:
        """JSON; None where no group has an ordering."""
        if self.share is None:
            return None
        return {
            **(wire(self.share) or {}),
            "orderings": self.orderings,
            "flipped": self.flipped,
            "lost": self.lost,
            "gained": self.made,
            "groups": self.groups,
        }


def group_flips(
    groups: Sequence[Hashable], first: Sequence[float], second: Sequence[float], *, seed: int
) -> Flips:
    """Compare the orderings of two sides inside groups; the interval is over groups."""
    members: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        members[group].append(place)
    counts = []
    looked = 0
    for places in members.values():
        if len(places) > 1 and looked < MAX_PAIRS:
            counts.append(_counts(places, first, second))
            looked += len(places) * (len(places) - 1) // 2
    return _flips(counts, seed=seed)


def _counts(
    places: Sequence[int], first: Sequence[float], second: Sequence[float]
) -> Mapping[str, int]:
    found: defaultdict[str, int] = defaultdict(int)
    for a, b in combinations(places, 2):
        before = _sign(first[a] - first[b])
        after = _sign(second[a] - second[b])
        found["orderings"] += before != 0
        found["flipped"] += before * after < 0
        found["lost"] += before != 0 and after == 0
        found["made"] += before == 0 and after != 0
    return found


def pair_flips(first: Sequence[str], second: Sequence[str], *, seed: int) -> Flips:
    """The same for outcomes of pairs: each is a group of two; inconsistent is no ordering."""
    sign = {"first": 1, "second": -1}
    counts = []
    for a, b in zip(first, second, strict=True):
        before, after = sign.get(a, 0), sign.get(b, 0)
        counts.append(
            {
                "orderings": int(before != 0),
                "flipped": int(before * after < 0),
                "lost": int(before != 0 and after == 0),
                "made": int(before == 0 and after != 0),
            }
        )
    return _flips(counts, seed=seed)


def _flips(counts: Sequence[Mapping[str, int]], *, seed: int) -> Flips:
    flipped = [one["flipped"] for one in counts]
    orderings = [one["orderings"] for one in counts]
    share = Bootstrap(len(counts), seed=seed).estimate(ratio(flipped, orderings))
    if share is not None and share.value in (0.0, 1.0):
        # Every replicate is the same then; groups that have an ordering are the cases.
        share = Estimate(share.value, wilson(share.value, sum(n > 0 for n in orderings)))
    return Flips(
        share=share,
        orderings=sum(orderings),
        flipped=sum(flipped),
        lost=sum(one["lost"] for one in counts),
        made=sum(one["made"] for one in counts),
        groups=len(counts),
    )


def _sign(value: float) -> int:
    # Rewards are sums of a few products: differences of an ulp are none.
    return 0 if abs(value) < 1e-12 else (1 if value > 0 else -1)
