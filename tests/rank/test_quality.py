"""How good a ranking is for its calls, on simulated judges: what the figures rest on."""

from __future__ import annotations

import pytest

from benchmarks.rank_quality.judges import JUDGES, mean_tau
from benchmarks.rank_quality.ways import after_lists, by_pairs, round_robin

SIZE, EVERY, GROUPS = 16, 240, 80


@pytest.mark.parametrize("name", JUDGES)
def test_odds_take_a_seventh_of_the_calls(name: str) -> None:
    """36 calls by the judge's odds come close to, or beyond, a round robin of 240."""
    judge = JUDGES[name]
    whole = mean_tau(judge, SIZE, round_robin, groups=GROUPS, seed=1)
    found = mean_tau(judge, SIZE, by_pairs(36, "odds"), groups=GROUPS, seed=1)

    assert found >= 0.93 * whole


@pytest.mark.parametrize("name", JUDGES)
def test_lists_before_pairs_take_a_third_of_the_calls(name: str) -> None:
    """72 calls for lists and choices with ties come close to, or beyond, a round robin of 240."""
    judge = JUDGES[name]
    whole = mean_tau(judge, SIZE, round_robin, groups=GROUPS, seed=1)
    found = mean_tau(judge, SIZE, after_lists(72), groups=GROUPS, seed=1)

    assert found >= 0.93 * whole


def test_half_of_the_calls_keep_nearly_everything() -> None:
    """All pairs once, positions balanced and fitted, beside all pairs in both orders."""
    judge = JUDGES["ordinary"]
    whole = mean_tau(judge, SIZE, round_robin, groups=GROUPS, seed=1)
    found = mean_tau(judge, SIZE, by_pairs(EVERY // 2), groups=GROUPS, seed=1)

    assert 0.88 * whole < found < whole
