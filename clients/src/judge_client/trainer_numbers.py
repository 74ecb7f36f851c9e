"""The numbers beside a reward: the same names for every sample, for trainers take them from one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_client.results import Assessed, Joined, Ranked

FAILED = "judge_failed"
NAMES = ("judge_score_raw", FAILED, "judge_swap_consistent", "judge_cached")
PLACEHOLDERS: Mapping[str, float] = {name: float(name == FAILED) for name in NAMES}
"""Beside a failure."""


def numbers(result: Assessed | Joined | Ranked, reward: float) -> dict[str, float]:
    """The numbers beside ``reward``.

    ``judge_score_raw`` is what the judge alone gave, without rules and weights (in a group: the
    reward); ``judge_swap_consistent`` the share of the decided pairs of the group in which both
    orders agreed (1.0 where no pair was asked); ``judge_cached`` the share of stored verdicts.
    """
    return {
        "judge_score_raw": result.metrics.get("model_score", reward),
        FAILED: 0.0,
        "judge_swap_consistent": _consistent(_pairs(result)),
        "judge_cached": result.metrics.get("cached", 0.0),
    }


def _pairs(result: Assessed | Joined | Ranked) -> Mapping[str, Any]:
    told = result.group if isinstance(result, Joined) else result.raw
    pairs = told.get("pairs")
    return pairs if isinstance(pairs, dict) else {}


def _consistent(pairs: Mapping[str, Any]) -> float:
    agreed = _count(pairs.get("consistent")) + _count(pairs.get("tie"))
    asked = agreed + _count(pairs.get("inconsistent"))
    return agreed / asked if asked else 1.0


def _count(value: object) -> float:
    # Not NaN, and no integer too long to be a float.
    is_count = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9
    return float(value) if is_count and isinstance(value, (int, float)) else 0.0
