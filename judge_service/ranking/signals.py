"""What a group as a whole tells: whether its rewards differ, and what they follow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

MIN_MEMBERS = 4
"""For fewer members a correlation says nothing."""
NEAR = 0.8
SHINGLE_WORDS = 3
MAX_CHARS = 8_000
"""What is looked at of each text for near-duplicates."""
FOLLOWS_LENGTH = 0.8
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSignals:
    """``zero_advantage``: all rewards equal. ``near_duplicate_share``: of the members, those that
    nearly repeat another one. ``length_correlation``: Pearson's r of reward and length, None where
    there are fewer than four members or nothing varies. ``tie_rate``: of all pairs of members,
    those with equal rewards. Shares are in [0, 1].
    """

    zero_advantage: bool
    near_duplicate_share: float
    length_correlation: float | None
    tie_rate: float


def group_signals(rewards: Sequence[float], texts: Sequence[str]) -> GroupSignals:
    """The signals of a group's rewards and texts as judged, in the same order."""
    pairs = list(combinations(rewards, 2))
    return GroupSignals(
        zero_advantage=len(set(rewards)) <= 1,
        near_duplicate_share=near_duplicate_share(texts),
        length_correlation=_correlation(rewards, [len(text) for text in texts]),
        tie_rate=sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.0,
    )


def near_duplicate_share(texts: Sequence[str]) -> float:
    """The share of texts that have, with another one, four in five of their three-word runs in
    common (Jaccard; Broder 1997).
    """
    shingles = [_shingles(text) for text in texts]
    near: set[int] = set()
    for a, b in combinations(range(len(texts)), 2):
        one, other = shingles[a], shingles[b]
        # The smaller set bounds what can be in common.
        if min(len(one), len(other)) < NEAR * max(len(one), len(other)):
            continue
        common = len(one & other)
        if common >= NEAR * (len(one) + len(other) - common):
            near |= {a, b}
    return len(near) / len(texts) if texts else 0.0


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text[:MAX_CHARS].casefold())
    if len(words) < SHINGLE_WORDS:
        return frozenset({tuple(words)})
    return frozenset(
        tuple(words[n : n + SHINGLE_WORDS]) for n in range(len(words) - SHINGLE_WORDS + 1)
    )


def _correlation(rewards: Sequence[float], lengths: Sequence[int]) -> float | None:
    if len(rewards) < MIN_MEMBERS or len(set(rewards)) < 2 or len(set(lengths)) < 2:
        return None
    with np.errstate(all="ignore"):
        r = float(np.corrcoef(rewards, lengths)[0, 1])
    # Values that differ in the last bit only have no deviation to speak of.
    return min(1.0, max(-1.0, r)) if np.isfinite(r) else None
