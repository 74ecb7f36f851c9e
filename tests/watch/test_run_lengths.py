"""Average run lengths: as tables print them, as other methods find them, as charts have them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from judge_service.watch.alarm import Series
from judge_service.watch.arl import cusum_arl, cusum_limit, ewma_arl, ewma_limit
from judge_service.watch.baseline import Baseline
from judge_service.watch.bernoulli import ShareCusum
from judge_service.watch.chart import Chart
from judge_service.watch.cusum import Cusum
from judge_service.watch.ewma import Ewma
from judge_service.watch.limits import SMOOTHING, Limits

LONGEST = 400_000
SCORE = Series(statistic="score_mean", judge="a", rubric="r", kind="assess")


@pytest.mark.parametrize(
    ("h", "shift", "arl"),
    [
        (4.0, 0.0, 168.0), (4.0, 0.25, 74.2), (4.0, 0.5, 26.6), (4.0, 0.75, 13.3),
        (4.0, 1.0, 8.38), (4.0, 1.5, 4.75), (4.0, 2.0, 3.34), (4.0, 3.0, 2.19),
        (5.0, 0.0, 465.0), (5.0, 0.25, 139.0), (5.0, 0.5, 38.0), (5.0, 0.75, 17.0),
        (5.0, 1.0, 10.4), (5.0, 1.5, 5.75), (5.0, 2.0, 4.01), (5.0, 3.0, 2.57),
    ],
)  # fmt: skip
def test_cusum_as_lucas_and_crosier_print_it(h: float, shift: float, arl: float) -> None:
    """Two-sided, k = 0.5 (Technometrics 24, 1982; the table of most textbooks)."""
    assert cusum_arl(0.5, h, shift) == pytest.approx(arl, rel=6e-3)


@pytest.mark.parametrize(
    ("smoothing", "limit", "arls"),
    [
        (0.40, 3.054, (500, 224, 71.2, 28.4, 14.3)),
        (0.25, 2.998, (500, 170, 48.2, 20.1, 11.1)),
        (0.20, 2.962, (500, 150, 41.8, 18.2, 10.5)),
        (0.10, 2.814, (500, 106, 31.3, 15.9, 10.3)),
        (0.05, 2.615, (500, 84.1, 28.8, 16.4, 11.4)),
    ],
)
def test_ewma_as_lucas_and_saccucci_print_it(
    smoothing: float, limit: float, arls: tuple[float, ...]
) -> None:
    """For shifts of 0, 0.25, 0.5, 0.75 and 1 (Technometrics 32, 1990)."""
    found = [ewma_arl(smoothing, limit, 0.25 * n) for n in range(5)]

    assert found == pytest.approx(arls, rel=8e-3)


def markov_cusum(k: float, h: float, shift: float, cells: int = 400) -> float:
    """Brook and Evans' Markov chain (Biometrika 59, 1972): another way to the same number."""
    width = 2.0 * h / (2 * cells - 1)
    edges = (np.arange(cells) + 0.5) * width

    def one_sided(mean: float) -> float:
        below = np.array(
            [
                [_normal(edge - at * width + k - mean) for edge in edges]
                for at in range(cells)
            ]
        )  # fmt: skip
        moves = np.diff(below, axis=1, prepend=0.0)
        return float(np.linalg.solve(np.eye(cells) - moves, np.ones(cells))[0])

    return 1.0 / (1.0 / one_sided(shift) + 1.0 / one_sided(-shift))


def _normal(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@pytest.mark.parametrize(("k", "h", "shift"), [(0.25, 8.0, 0.0), (0.25, 8.0, 0.5), (0.5, 4.0, 1.0)])
def test_cusum_by_a_markov_chain(k: float, h: float, shift: float) -> None:
    """The integral equation and the chain agree."""
    assert cusum_arl(k, h, shift) == pytest.approx(markov_cusum(k, h, shift), rel=2e-3)


@pytest.mark.parametrize("wanted", [500.0, 5_000.0, 40_000.0])
def test_limits_give_the_run_length(wanted: float) -> None:
    """What is searched is found."""
    assert cusum_arl(0.25, cusum_limit(0.25, wanted)) == pytest.approx(wanted, rel=1e-4)
    assert ewma_arl(0.05, ewma_limit(0.05, wanted)) == pytest.approx(wanted, rel=1e-4)


def naive_cusum(values: npt.NDArray[np.float64], k: float) -> npt.NDArray[np.float64]:
    """Both sums as differences of partial sums and their extremes so far: no recursion."""
    up = np.concatenate(([0.0], np.cumsum(values - k)))
    down = np.concatenate(([0.0], np.cumsum(-values - k)))
    sides = [side - np.minimum.accumulate(side) for side in (up, down)]
    larger: npt.NDArray[np.float64] = np.maximum(*sides)
    return larger[1:]


def naive_ewma(values: npt.NDArray[np.float64], smoothing: float) -> float:
    """The average as one weighted sum."""
    n = len(values)
    return float(sum(smoothing * (1 - smoothing) ** (n - 1 - i) * values[i] for i in range(n)))


def test_charts_are_what_their_formulas_say() -> None:
    """Against the definitions in closed form, on a thousand observations."""
    values = np.random.default_rng(3).normal(0.1, 1.0, 1_000)
    cusum, ewma = Cusum(0.25, 1_000.0), Ewma(0.05, 3.0)
    sums = []
    for value in values:
        cusum.add(float(value))
        ewma.add(float(value))
        sums.append(cusum.value)

    assert sums == pytest.approx(naive_cusum(values, 0.25), abs=1e-9)
    assert ewma.value == pytest.approx(naive_ewma(values, 0.05), abs=1e-12)


def run_length(chart: Chart, draw: np.random.Generator, shift: float) -> int:
    """Observations until an alarm."""
    for start in range(0, LONGEST, 1_000):
        for number, value in enumerate(draw.normal(0.5 + shift * 0.1, 0.1, 1_000)):
            if chart.add(float(value), 0.0):
                return start + number + 1
    return LONGEST


@pytest.mark.parametrize(
    ("wanted", "shift", "runs"), [(500, 0.0, 150), (500, 0.5, 200), (20_000, 0.5, 100)]
)
def test_a_chart_has_its_run_length(wanted: int, shift: float, runs: int) -> None:
    """CUSUM and EWMA together, simulated: false alarms are as rare as designed, or rarer, since the
    two often raise the same one; a shift is found as soon as the quicker of them finds it.
    """
    limits = Limits(run_length=wanted, shift=0.5)
    draw = np.random.default_rng(11)
    known = Baseline(mean=0.5, sd=0.1, n=0)
    lengths = [run_length(Chart(SCORE, limits, 60, known), draw, shift) for _ in range(runs)]
    mean, error = np.mean(lengths), np.std(lengths) / math.sqrt(runs)

    limit = limits.of(0)
    quickest = min(cusum_arl(limit.k, limit.h, shift), ewma_arl(SMOOTHING, limit.ewma, shift))
    if shift == 0.0:
        assert wanted - 3 * error < mean < 2 * wanted + 3 * error
    else:
        assert mean < quickest + 3 * error


@pytest.mark.parametrize("n", [256, 500, 2_000])
def test_a_learnt_baseline_keeps_the_run_length(n: int) -> None:
    """Also where the mean was learnt wrong by two standard errors."""
    limit = Limits(run_length=20_000, shift=0.5).of(n)
    wrong = 2.0 / math.sqrt(n)
    by_cusum, by_ewma = cusum_arl(limit.k, limit.h, wrong), ewma_arl(SMOOTHING, limit.ewma, wrong)

    assert 1.0 / (1.0 / by_cusum + 1.0 / by_ewma) == pytest.approx(20_000, rel=1e-3)


@pytest.mark.parametrize(("cases", "n"), [(0, 300), (3, 300), (15, 300), (60, 300)])
def test_a_share_has_its_run_length(cases: int, n: int) -> None:
    """Simulated at the upper end of the baseline's interval, where it is designed."""
    chart = ShareCusum(cases, n, 5_000)
    draw = np.random.default_rng(5)
    lengths = []
    for _ in range(120):
        chart.restore(0.0, 0, 0)
        number = 0
        while chart.value <= chart.h and number < LONGEST:
            number += int(draw.geometric(chart.before))
            chart.case(number)
        lengths.append(number)
    mean, error = np.mean(lengths), np.std(lengths) / math.sqrt(len(lengths))

    assert mean > 5_000 - 3 * error


def test_a_share_is_the_plain_recursion() -> None:
    """What is no case is counted by its number only; the sum is that of every outcome in turn."""
    chart = ShareCusum(15, 300, 20_000)
    failed = np.random.default_rng(9).random(2_000) < 0.08
    plain = 0.0
    for number, bad in enumerate(failed, start=301):
        plain = min(max(0.0, plain + float(bad) - chart.r), 2.0 * chart.h)
        if bad:
            chart.case(number)
        assert chart.level(number) == pytest.approx(plain, abs=1e-9)
