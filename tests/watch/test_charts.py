"""One chart from its first observation to an alarm and back, and what it survives."""

from __future__ import annotations

import json

import numpy as np
import pytest

from judge_service.watch.alarm import Series
from judge_service.watch.baseline import Baseline
from judge_service.watch.chart import RESTS, Chart
from judge_service.watch.homogeneity import BUCKETS, homogeneity
from judge_service.watch.limits import Limits
from judge_service.watch.product import Products
from judge_service.watch.prompts import AGAIN_AFTER, RecentPrompts
from judge_service.watch.ranks import EVEN, Ranks
from judge_service.watch.statistic import Name

LIMITS = Limits(run_length=20_000, shift=0.5)
LEARN = 500


def chart(statistic: Name = "score_mean", known: Baseline | None = None) -> Chart:
    """A chart of one judge."""
    series = Series(statistic=statistic, judge="a", rubric="r", kind="assess")
    return Chart(series, LIMITS, LEARN, known)


def points(draw: np.random.Generator, n: int, mean: float) -> list[float]:
    """Scores of a noisy judge on a scale of five points."""
    found = np.clip(np.rint(draw.normal(mean, 0.9, n)), 1, 5)
    return [float(value - 1) / 4 for value in found]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("mean", [2.5, 3.0, 4.6], ids=["low", "middle", "near the top"])
def test_an_unchanged_noisy_judge_raises_nothing(seed: int, mean: float) -> None:
    """Points are discrete, and skewed near an end: no false alarm over 2,000 observations."""
    one = chart()
    draw = np.random.default_rng(seed)

    assert not any(one.add(value, 0.0) for value in points(draw, 2_000, mean))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("shift", [0.5, -0.5])
def test_half_a_point_is_found_within_the_designed_run(seed: int, shift: float) -> None:
    """In less than three times the mean run length of a shift of half a deviation."""
    one = chart()
    draw = np.random.default_rng(seed)
    for value in points(draw, LEARN + 200, 3.0):
        one.add(value, 0.0)

    found = next(
        (n for n, value in enumerate(points(draw, 240, 3.0 + shift), 1) if one.add(value, 1.0)),
        None,
    )

    assert found is not None
    alarm = one.now()
    assert alarm is not None
    assert (alarm.raised_at, alarm.baseline_n) == (1.0, LEARN)
    assert isinstance(alarm.baseline, float)
    assert isinstance(alarm.current, float)
    assert (alarm.current > alarm.baseline) == (shift > 0)
    assert alarm.effect is not None
    assert (alarm.effect > 0) == (shift > 0)
    assert alarm.value is not None
    assert alarm.threshold is not None
    assert alarm.value > alarm.threshold
    assert alarm.run_length == 20_000


def test_an_alarm_is_over_when_it_has_been_quiet_for_a_while() -> None:
    """Not at the first observation inside the limits, so that one that wavers is one alarm."""
    one = chart(known=Baseline(mean=0.5, sd=0.1, n=0))
    draw = np.random.default_rng(2)
    changes = []
    for number in range(3_000):
        mean = 0.65 if 500 <= number < 800 else 0.5
        if one.add(float(draw.normal(mean, 0.1)), float(number)):
            changes.append((number, one.alarm is not None))

    (raised, began), (over, left) = changes
    assert (began, left) == (True, False)
    assert 500 < raised < 560
    assert 800 + RESTS < over < 1_300


def test_the_change_is_dated() -> None:
    """``since`` is the change itself, not when it was noticed."""
    one = chart(known=Baseline(mean=0.5, sd=0.1, n=0))
    draw = np.random.default_rng(4)
    number = 0
    while one.alarm is None:
        number += 1
        one.add(float(draw.normal(0.5 if number <= 400 else 0.57, 0.1)), float(number))

    assert one.alarm.raised_at == number
    assert abs(one.alarm.since - 400) < 30


def test_single_outliers_are_no_shift() -> None:
    """One observation counts for four deviations at most."""
    one = chart(known=Baseline(mean=0.0, sd=1.0, n=0))

    assert not any(one.add(1e9 if n == 50 else 0.0, 0.0) for n in range(200))


def test_a_judge_of_one_mind_has_a_deviation() -> None:
    """A baseline without any variation does not make the first other value an alarm."""
    one = chart()
    for _ in range(LEARN):
        one.add(0.75, 0.0)

    assert not one.add(0.5, 0.0)
    assert one.baseline is not None
    assert one.baseline.sd == 0.05


@pytest.mark.parametrize("n", [10, LEARN + 20, LEARN + 400], ids=["learning", "usual", "alarm"])
def test_a_chart_goes_on_where_another_stopped(n: int) -> None:
    """Its state passes through JSON; the copy does what the chart itself does."""
    draw = np.random.default_rng(6)
    values = points(draw, LEARN + 50, 3.0) + points(draw, 600, 3.6)
    one = chart()
    for number, value in enumerate(values[:n]):
        one.add(value, float(number))
    other = chart()
    other.restore(json.loads(json.dumps(one.state())))

    rest = list(enumerate(values[n:], n))

    assert [one.add(v, float(at)) for at, v in rest] == [other.add(v, float(at)) for at, v in rest]
    assert one.state() == other.state()
    assert one.now() == other.now()


@pytest.mark.parametrize(
    "state",
    [{}, {"baseline": [1]}, {"baseline": [0.5, 0.0, 3]}, {"learning": ["x", 0, 0]}],
    ids=["empty", "short", "no deviation", "words"],
)
def test_a_state_that_no_chart_wrote_is_refused(state: dict[str, object]) -> None:
    """And the chart is left out, by whoever reads it."""
    with pytest.raises((ValueError, KeyError, TypeError)):
        chart().restore(state)


@pytest.mark.parametrize("rho", [-0.6, 0.0, 0.4])
def test_products_are_a_correlation(rho: float) -> None:
    """Their mean is the correlation, also while one of the two quantities wanders."""
    draw = np.random.default_rng(8)
    products = Products()
    found = []
    for number in range(6_000):
        a = draw.normal()
        b = rho * a + np.sqrt(1 - rho * rho) * draw.normal()
        (product,) = products.of([float(a + number / 2_000)], [float(b)])
        if product is not None:
            found.append(product)

    assert np.mean(found) == pytest.approx(rho, abs=0.07)


def test_nothing_that_varies_has_no_correlation() -> None:
    """Rules that are always met say nothing about the judge."""
    products = Products()

    assert {*products.of([1.0] * 200, [float(n) for n in range(200)])} == {None}


def test_a_prompt_counts_once() -> None:
    """Its other answers are like the first, so that they are no news; the next epoch's are."""
    recent = RecentPrompts()

    assert [recent.counts(7) for _ in range(3)] == [True, False, False]
    others = [recent.counts(number) for number in range(1_000, 1_000 + 2 * AGAIN_AFTER)]
    assert all(others[: AGAIN_AFTER - 3])
    assert not recent.counts(1_000 + 2 * AGAIN_AFTER - 1)
    assert recent.counts(7)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_of_failures_by_chance_are_even(seed: int) -> None:
    """Whatever lengths are like: no alarm in 1,000 failures, and a mean of one half."""
    draw = np.random.default_rng(seed)
    ranks, one = Ranks(), chart("failed_length", EVEN)
    raised = False
    for number in range(11_000):
        value = float(draw.lognormal(5, 1.5))
        if number % 11:
            ranks.judged(value)
            continue
        rank = ranks.failed(value)
        raised |= rank is not None and one.add(rank, 0.0)

    figures = ranks.figures()
    assert not raised
    assert figures is not None
    assert abs(figures.z) < 3.0


def test_failures_that_are_longer_are_told() -> None:
    """With the effect and its test beside the chart."""
    draw = np.random.default_rng(1)
    ranks, one = Ranks(), chart("failed_length", EVEN)
    for _ in range(500):
        ranks.judged(float(draw.lognormal(5, 1)))
    failures = 0
    while one.alarm is None:
        failures += 1
        rank = ranks.failed(float(draw.lognormal(6, 1)))
        assert rank is not None
        one.add(rank, 0.0)

    figures = ranks.figures()
    assert figures is not None
    assert failures < 60
    assert figures.rank_biserial > 0.3
    assert figures.p_value < 1e-4


def test_equal_values_have_the_middle_rank() -> None:
    """Answers of one length tell nothing."""
    ranks = Ranks()
    for _ in range(100):
        ranks.judged(3.0)

    assert ranks.failed(3.0) == 0.5


def test_homogeneity_as_scipy_has_it() -> None:
    """Statistic, degrees of freedom and, nearly, the p-value."""
    from scipy import stats

    draw = np.random.default_rng(3)
    failed = [int(n) for n in draw.multinomial(64, np.full(BUCKETS, 1 / BUCKETS))]
    judged = [int(n) for n in draw.multinomial(500, np.full(BUCKETS, 1 / BUCKETS))]
    found, expected = homogeneity(failed, judged), stats.chi2_contingency([failed, judged])

    assert found is not None
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.df == expected.dof
    assert found.p_value == pytest.approx(expected.pvalue, rel=0.05)


@pytest.mark.parametrize(
    ("failed", "judged"),
    [([0] * 4, [1, 2, 3, 4]), ([1, 2, 3, 4], [0] * 4), ([3, 0, 0, 0], [9, 0, 0, 0])],
    ids=["none failed", "all failed", "one bucket"],
)
def test_nothing_to_compare(failed: list[int], judged: list[int]) -> None:
    """An outage that fails everything says nothing of prompts."""
    assert homogeneity(failed, judged) is None
