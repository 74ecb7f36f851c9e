"""Correlations beside a second implementation, and their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from judge_service.statistics.bootstrap import Bootstrap, percentile_interval, weighted_mean
from judge_service.statistics.correlation import correlation_of, kendall, pearson, spearman
from judge_service.statistics.estimate import Estimate
from judge_service.statistics.shift import mean_shift
from tests.statistics import by_hand

KINDS: list[tuple[str, Callable[..., Estimate | None], Callable[..., float]]] = [
    ("spearman", spearman, by_hand.spearman),
    ("kendall", kendall, by_hand.kendall),
    ("pearson", pearson, by_hand.pearson),
]


def columns(seed: int, n: int, *, ties: bool) -> tuple[list[float], list[float]]:
    """Two columns that go together, with or without ties."""
    draw = by_hand.seeded(seed)
    x = [float(draw.randint(1, 5)) if ties else draw.random() for _ in range(n)]
    y = [a + draw.choice([-1, 0, 1]) if ties else a + draw.random() for a in x]
    return x, y


@pytest.mark.parametrize(("kind", "ours", "theirs"), KINDS, ids=[k for k, _, _ in KINDS])
@pytest.mark.parametrize("ties", [True, False], ids=["ties", "no ties"])
@pytest.mark.parametrize("seed", range(4))
def test_the_value_is_what_the_definition_gives(
    kind: str,
    ours: Callable[..., Estimate | None],
    theirs: Callable[..., float],
    ties: bool,
    seed: int,
) -> None:
    """SciPy's, the vectorised one for the bootstrap, and plain loops: three ways, one number."""
    x, y = columns(seed, 30, ties=ties)

    found = ours(x, y)
    (vectorised,) = correlation_of(kind, x, y)(np.ones((1, 30)))  # type: ignore[arg-type]

    assert found is not None
    assert found.value == pytest.approx(theirs(x, y), abs=1e-12)
    assert vectorised == pytest.approx(theirs(x, y), abs=1e-12)
    assert found.ci95 is not None
    assert found.ci95[0] < found.value < found.ci95[1]


@pytest.mark.parametrize(("kind", "ours", "theirs"), KINDS, ids=[k for k, _, _ in KINDS])
def test_weights_are_repetitions(
    kind: str, ours: Callable[..., Estimate | None], theirs: Callable[..., float]
) -> None:
    """A replicate with weights is the sample with its items repeated."""
    del ours
    x, y = columns(5, 20, ties=True)
    weights = np.random.default_rng(1).multinomial(20, [0.05] * 20, size=3)

    found = correlation_of(kind, x, y)(weights.astype(float))  # type: ignore[arg-type]

    for row, value in zip(weights, found, strict=True):
        again = [i for i, times in enumerate(row) for _ in range(times)]
        repeated = theirs([x[i] for i in again], [y[i] for i in again])
        assert value == pytest.approx(repeated, abs=1e-12)


@pytest.mark.parametrize(
    ("x", "y"), [([], []), ([1.0], [2.0]), ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])],
    ids=["nothing", "one item", "a column that never changes"],
)  # fmt: skip
def test_no_correlation_is_none(x: Sequence[float], y: Sequence[float]) -> None:
    """Never NaN, never 0."""
    for ours in (spearman, kendall, pearson):
        assert ours(x, y) is None


def test_columns_must_be_finite_and_of_one_length() -> None:
    """A NaN that came in would come out as a number."""
    with pytest.raises(ValueError, match="not a finite number"):
        spearman([1.0, float("nan")], [1.0, 2.0])
    with pytest.raises(ValueError, match="2 numbers beside 3"):
        spearman([1.0, 2.0], [1.0, 2.0, 3.0])


def test_the_bootstrap_is_seeded() -> None:
    """The same arguments give the same interval, another seed another one."""
    x, y = columns(1, 30, ties=True)

    first, second = spearman(x, y), spearman(x, y)
    other = spearman(x, y, draws=Bootstrap(30, seed=7))

    assert first == second
    assert other is not None
    assert first is not None
    assert other.value == first.value
    assert other.ci95 != first.ci95


def test_the_interval_of_a_mean_is_about_the_usual_one() -> None:
    """Beside the normal approximation, on a large sample."""
    draw = by_hand.seeded(3)
    first = [draw.random() for _ in range(400)]
    second = [a + 0.1 + draw.gauss(0, 0.5) for a in first]
    differences = [b - a for a, b in zip(first, second, strict=True)]

    found = mean_shift(first, second)

    assert found is not None
    assert found.ci95 is not None
    error = float(np.std(differences, ddof=1)) / 20
    assert found.ci95[0] == pytest.approx(found.value - 1.96 * error, abs=0.01)
    assert found.ci95[1] == pytest.approx(found.value + 1.96 * error, abs=0.01)


def test_clusters_widen_the_interval() -> None:
    """Ten items of one prompt that always agree are one case, not ten."""
    values = [float(i // 10 % 2) for i in range(100)]
    alone = Bootstrap(100).estimate(weighted_mean(values))
    together = Bootstrap(100, clusters=[i // 10 for i in range(100)]).estimate(
        weighted_mean(values)
    )

    assert alone is not None
    assert together is not None
    assert alone.value == together.value == 0.5
    assert alone.ci95 is not None
    assert together.ci95 is not None
    assert together.ci95[1] - together.ci95[0] > 2 * (alone.ci95[1] - alone.ci95[0])


def test_an_interval_needs_a_meaning_in_nearly_all_replicates() -> None:
    """One item that makes the difference between a meaning and none is no ground to stand on."""
    assert percentile_interval(np.array([0.5] * 80 + [np.nan] * 20)) is None
    assert percentile_interval(np.array([0.5] * 95 + [np.nan] * 5)) == (0.5, 0.5)
    assert Bootstrap(1).interval(weighted_mean([1.0])) is None
