"""Agreement beside a second implementation, scikit-learn and published examples."""

from __future__ import annotations

import math

import pytest

from judge_service.statistics.agreement import (
    cohen_kappa,
    confusion,
    exact_agreement,
    kappa_paradox,
)
from judge_service.statistics.krippendorff import krippendorff_alpha
from judge_service.statistics.rates import paired_difference, rate
from tests.statistics import by_hand

WEIGHTINGS = [("none", 0, None), ("linear", 1, "linear"), ("quadratic", 2, "quadratic")]


def two_columns(seed: int, n: int, points: int) -> tuple[list[int], list[int]]:
    """Labels of two judges who mostly agree."""
    draw = by_hand.seeded(seed)
    first = [draw.randint(1, points) for _ in range(n)]
    second = [min(points, max(1, x + draw.choice([0, 0, 0, 1, -1]))) for x in first]
    return first, second


@pytest.mark.parametrize(("weighting", "power", "sklearn_name"), WEIGHTINGS)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("points", [2, 5, 7])
def test_kappa_is_what_others_compute(
    weighting: str, power: int, sklearn_name: str | None, seed: int, points: int
) -> None:
    """Plain and weighted, on scales of which not every point was given."""
    from sklearn.metrics import cohen_kappa_score

    first, second = two_columns(seed, 40, points)
    scale = list(range(1, points + 1))

    found = cohen_kappa(first, second, categories=scale, weighting=weighting)  # type: ignore[arg-type]

    assert found is not None
    assert found.value == pytest.approx(by_hand.kappa(first, second, scale, power), abs=1e-12)
    theirs = cohen_kappa_score(first, second, labels=scale, weights=sklearn_name)
    assert found.value == pytest.approx(theirs, abs=1e-12)
    assert found.ci95 is not None
    assert found.ci95[0] <= found.value <= found.ci95[1]


def test_kappa_of_a_known_table() -> None:
    """20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: agreement 0.7, kappa 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15

    agreement, kappa = exact_agreement(first, second), cohen_kappa(first, second)

    assert agreement is not None
    assert kappa is not None
    assert agreement.value == pytest.approx(0.7)
    assert kappa.value == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("first", "second"),
    [([], []), ([3], [3]), ([3, 3, 3], [3, 3, 3])],
    ids=["nothing", "one item", "one label"],
)
def test_kappa_without_a_meaning_is_none(first: list[int], second: list[int]) -> None:
    """Never NaN, never 0, never 1."""
    assert cohen_kappa(first, second, categories=[1, 2, 3]) is None


def test_columns_of_unlike_length_are_a_mistake() -> None:
    """Nothing is cut off silently."""
    with pytest.raises(ValueError, match="2 labels beside 3"):
        cohen_kappa([1, 2], [1, 2, 3])
    with pytest.raises(KeyError):
        confusion([1, 9], [1, 1], [1, 2])


@pytest.mark.parametrize(("count", "n"), [(0, 10), (3, 10), (10, 10), (60, 80), (1, 200)])
def test_wilson_is_where_the_share_is_just_significant(count: int, n: int) -> None:
    """By bisection of its definition; at the ends it stays inside [0, 1]."""
    found = rate(count, n)

    assert found is not None
    assert found.ci95 == pytest.approx(by_hand.wilson(count, n), abs=1e-9)


def test_a_share_of_nothing_is_none_and_of_too_much_a_mistake() -> None:
    """There is no rate without a case."""
    assert rate(0, 0) is None
    with pytest.raises(ValueError, match="3 of 2"):
        rate(3, 2)


def test_a_paired_difference_counts_items_not_sides() -> None:
    """Of the same items, 6 against 3 of 10."""
    first = [True] * 3 + [False] * 7
    second = [True] * 6 + [False] * 4

    found = paired_difference(first, second)

    assert found is not None
    assert found.value == pytest.approx(0.3)
    assert found.ci95 is not None
    assert 0.0 <= found.ci95[0] < 0.3 < found.ci95[1] <= 0.7


KRIPPENDORFF = [
    [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4],
    [1, 1, 2, 1], [2, 2, 2, 2], [5, 5, 5], [1, 1], [3],
]  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_textbook_example(metric: str, published: float) -> None:
    """Four observers, twelve units, some values missing."""
    found = krippendorff_alpha(KRIPPENDORFF, metric=metric)  # type: ignore[arg-type]

    assert found is not None
    assert found.value == pytest.approx(published, abs=5e-4)
    assert found.value == pytest.approx(by_hand.krippendorff(KRIPPENDORFF, metric), abs=1e-12)


def test_alpha_without_two_labels_on_anything_is_none() -> None:
    """One annotator agrees with nobody."""
    assert krippendorff_alpha([[1], [2], []]) is None
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None


def test_the_paradox_needs_high_agreement_and_low_kappa() -> None:
    """The sentence says which label causes it; elsewhere there is none."""
    mostly = ["good"] * 95 + ["bad"] * 5
    shifted = ["good"] * 92 + ["bad"] * 3 + ["good"] * 3 + ["bad"] * 2

    said = kappa_paradox(mostly, shifted)

    assert said is not None
    assert "'good'" in said
    assert "agreement is 0.94 and kappa only 0.37" in said
    assert kappa_paradox([1, 2] * 20, [1, 2] * 20) is None
    assert kappa_paradox([1] * 20, [1] * 20) is None
    assert kappa_paradox([], []) is None


def test_nothing_is_nan() -> None:
    """What an estimate holds is finite, by construction."""
    from judge_service.statistics.estimate import Estimate, estimate

    assert estimate(math.nan) is None
    with pytest.raises(ValueError, match="no estimate"):
        Estimate(math.inf)
    with pytest.raises(ValueError, match="no estimate"):
        Estimate(0.5, (0.1, math.nan))
