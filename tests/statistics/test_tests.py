"""Tests of significance beside exact enumeration, closed forms and published examples."""

from __future__ import annotations

import pytest

from judge_service.statistics.agreement import confusion
from judge_service.statistics.holm import holm
from judge_service.statistics.homogeneity import mcnemar, stuart_maxwell
from judge_service.statistics.shift import wilcoxon
from tests.statistics import by_hand

SCHIZOPHRENIA = [[35, 5, 0], [15, 20, 5], [10, 5, 5]]
"""100 patients, two raters, three diagnoses: the example of Fleiss, statistic 14.00."""


def labels_of(table: list[list[int]]) -> tuple[list[str], list[str]]:
    """The labels behind a table of counts."""
    names = "abcdefgh"
    cells = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return [names[i] for i, _ in cells], [names[j] for _, j in cells]


def test_stuart_maxwell_of_the_published_example() -> None:
    """And its p-value by the chi-squared distribution with two degrees of freedom."""
    first, second = labels_of(SCHIZOPHRENIA)

    found = stuart_maxwell(first, second, categories=["a", "b", "c"])

    assert found is not None
    assert found.statistic == pytest.approx(14.0, abs=0.005)
    assert found.df == 2
    assert found.p_value == pytest.approx(0.000912, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_stuart_maxwell_is_its_closed_form_for_three_labels(seed: int) -> None:
    """On any table."""
    draw = by_hand.seeded(seed)
    table = [[draw.randint(1, 12) for _ in range(3)] for _ in range(3)]

    found = stuart_maxwell(*labels_of(table), categories=["a", "b", "c"])

    assert found is not None
    assert found.statistic == pytest.approx(by_hand.stuart_maxwell_three(table), abs=1e-9)


def test_a_label_that_nobody_uses_changes_nothing() -> None:
    """Nor does one that both always use together."""
    first, second = labels_of(SCHIZOPHRENIA)

    plain = stuart_maxwell(first, second)
    wider = stuart_maxwell(
        [*first, "z"] * 1, [*second, "z"], categories=["a", "b", "c", "unused", "z"]
    )

    assert plain is not None
    assert wider is not None
    assert wider.statistic == pytest.approx(plain.statistic)
    assert wider.df == 2


def test_stuart_maxwell_with_two_labels_is_mcnemar() -> None:
    """Its chi-squared, (b - c)² / (b + c)."""
    first, second = labels_of([[30, 12], [4, 30]])

    wide = stuart_maxwell(first, second)
    narrow = mcnemar(first, second, categories=("a", "b"))

    assert wide is not None
    assert narrow is not None
    assert wide.statistic == pytest.approx(64 / 16)
    assert narrow.statistic == pytest.approx(64 / 16)
    assert (wide.df, narrow.df) == (1, 1)


@pytest.mark.parametrize(("gained", "lost"), [(12, 4), (5, 0), (1, 1), (0, 1), (30, 18)])
def test_mcnemar_is_exact(gained: int, lost: int) -> None:
    """The two-sided binomial p-value, and the change of the share as its effect."""
    first, second = labels_of([[20, gained], [lost, 20]])

    found = mcnemar(first, second, categories=("a", "b"))

    assert found is not None
    assert found.p_value == pytest.approx(
        by_hand.binomial_two_sided(gained, gained + lost), abs=1e-12
    )
    assert found.effect is not None
    assert found.effect.value == pytest.approx((gained - lost) / (40 + gained + lost))


@pytest.mark.parametrize(
    "differences",
    [
        [1, 2, 3, 4, 5, 6, 7],
        [1, -2, 3, 4, -5, 6, 7, 8],
        [0, 0, 1.5, -2.5, 3.5, 4.5, 0, 5.5],
    ],
    ids=["all up", "mixed", "with equal pairs"],
)
def test_wilcoxon_is_exact_on_few_items(differences: list[float]) -> None:
    """Over all signs; equal pairs are left out."""
    found = wilcoxon([0.0] * len(differences), differences)

    assert found is not None
    assert found.p_value == pytest.approx(by_hand.wilcoxon_exact(differences), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_wilcoxon_is_exact_with_ties(seed: int) -> None:
    """Points of judges tie all the time; over all signs again."""
    draw = by_hand.seeded(seed)
    differences = [float(draw.choice([-2, -1, -1, 0, 0, 1, 1, 2])) for _ in range(14)]
    expected = by_hand.wilcoxon_exact(differences)

    found = wilcoxon([3.0] * 14, [3.0 + d for d in differences])

    assert found is not None
    assert found.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [6, 8, 10])
def test_all_up_by_one_point_is_the_smallest_p(n: int) -> None:
    """One way of all ways, on each side."""
    found = wilcoxon([3.0] * n, [4.0] * n)

    assert found is not None
    assert found.p_value == pytest.approx(2 / 2**n, abs=1e-12)
    assert found.effect is not None
    assert found.effect.value == 1.0


def test_wilcoxon_on_many_items_is_near_scipys() -> None:
    """Without ties the approximation is good, on both sides of the limit of exactness."""
    from scipy import stats

    draw = by_hand.seeded(4)
    for n in (150, 380, 420):
        differences = [draw.gauss(0.1, 1.0) for _ in range(n)]
        found = wilcoxon([0.0] * n, differences)
        assert found is not None
        assert found.p_value == pytest.approx(stats.wilcoxon(differences).pvalue, abs=0.005)


def test_where_nothing_differs_there_is_no_test() -> None:
    """Neither a p-value of 1 nor of 0."""
    assert wilcoxon([1.0, 2.0], [1.0, 2.0]) is None
    assert mcnemar(["a", "b"], ["a", "b"], categories=("a", "b")) is None
    assert stuart_maxwell(["a", "b"], ["a", "b"]) is None
    assert stuart_maxwell([], []) is None


def test_holm_of_a_known_example() -> None:
    """0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02."""
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})

    assert list(adjusted) == ["a", "b", "c", "d"]
    assert list(adjusted.values()) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_its_definition(seed: int) -> None:
    """On any number of p-values, ties included."""
    draw = by_hand.seeded(seed)
    p_values = [draw.choice([0.001, 0.01, 0.02, 0.05, 0.3, 0.9]) for _ in range(6)]

    found = holm(dict(enumerate(p_values)))

    assert list(found.values()) == pytest.approx(by_hand.holm(p_values))
    assert holm({}) == {}


def test_the_table_behind_a_test_counts_first_by_rows() -> None:
    """Rows are the first labelling."""
    first, second = labels_of(SCHIZOPHRENIA)

    assert confusion(first, second, ["a", "b", "c"]).tolist() == SCHIZOPHRENIA
