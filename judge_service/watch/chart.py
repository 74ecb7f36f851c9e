"""One statistic under watch: it learns its baseline, then a CUSUM and an EWMA look for a shift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from judge_service.watch.alarm import Alarm, Series
from judge_service.watch.baseline import Baseline, Learning, baseline_of, number_of
from judge_service.watch.cusum import Cusum
from judge_service.watch.ewma import Ewma
from judge_service.watch.limits import SMOOTHING, Limit, Limits
from judge_service.watch.statistic import STATISTICS

Observed: TypeAlias = tuple[float, float]
"""A finite value, and when it was observed."""
RESTS = 100
"""Observations in a row, well inside the limits of both charts, after which an alarm is over."""
FARTHEST = 4.0
"""No single observation counts for more deviations: charts look for shifts, not for outliers, and
run lengths stay what they are where tails are heavy.
"""


class Chart:
    """The chart of one series. ``known`` is a baseline that needs no learning, ``learn`` how many
    observations make one.

    An alarm stays until both charts have been well inside their limits for a while, however that
    comes.
    """

    __slots__ = (
        "_cusum", "_down_began_at", "_ewma", "_learn", "_learning", "_limit", "_limits", "_rested",
        "_up_began_at", "alarm", "baseline", "observations", "series",
    )  # fmt: skip

    def __init__(
        self, series: Series, limits: Limits, learn: int, known: Baseline | None = None
    ) -> None:
        self.series = series
        self.alarm: Alarm | None = None
        self.baseline: Baseline | None = None
        self.observations = 0
        self._rested = 0
        self._limits = limits
        self._learn = learn
        self._learning = Learning()
        self._up_began_at = self._down_began_at = 0.0
        if known is not None:
            self.take(known)

    def take(self, baseline: Baseline) -> None:
        """Watch from now on, against this baseline."""
        self._limit: Limit = self._limits.of(baseline.n)
        self._cusum = Cusum(self._limit.k, self._limit.h)
        self._ewma = Ewma(SMOOTHING, self._limit.ewma)
        self.baseline = baseline

    def add(self, value: float, at: float) -> bool:
        """One observation; whether an alarm was raised or is over."""
        return bool(self.add_all([(value, at)]))

    def add_all(self, observed: Sequence[Observed]) -> list[bool]:
        """Observations in the order they were made. For every time that an alarm was raised or is
        over in that course: whether it was raised.
        """
        changes: list[bool] = []
        number, n = 0, len(observed)
        while number < n:
            if self.baseline is not None and self.alarm is None:
                number = self._quietly(self.baseline, observed, number)
                if self._beyond:
                    self._raise(observed[number - 1][1])
                    changes.append(True)
                continue
            value, at = observed[number]
            number += 1
            if self.baseline is None:
                self._learn_from(value)
            elif self._is_over(self.baseline, value, at):
                changes.append(False)
        return changes

    def _learn_from(self, value: float) -> None:
        self._learning.add(value)
        if self._learning.n >= self._learn:
            self.take(self._learning.done(STATISTICS[self.series.statistic].least_sd))

    def _quietly(self, baseline: Baseline, observed: Sequence[Observed], number: int) -> int:
        """Take in observations from ``number`` on, up to one with which a chart passes its limit;
        the number of the next. Nearly all of them pass here, so it is one loop over plain numbers;
        ``Cusum`` and ``Ewma`` say what it does.
        """
        mean, sd, cusum, ewma = baseline.mean, baseline.sd, self._cusum, self._ewma
        k, h, smoothing, bound = cusum.k, cusum.h, ewma.smoothing, ewma.bound
        up, up_n, down, down_n = cusum.up, cusum.up_n, cusum.down, cusum.down_n
        average, first = ewma.value, number
        for number in range(first, len(observed)):
            value, at = observed[number]
            z = (value - mean) / sd
            z = -FARTHEST if z < -FARTHEST else FARTHEST if z > FARTHEST else z
            up, down = up + z - k, down - z - k
            if up > 0.0:
                up_n += 1
                if up_n == 1:
                    self._up_began_at = at
            else:
                up, up_n = 0.0, 0
            if down > 0.0:
                down_n += 1
                if down_n == 1:
                    self._down_began_at = at
            else:
                down, down_n = 0.0, 0
            average += smoothing * (z - average)
            if up > h or down > h or average > bound or average < -bound:
                break
        cusum.up, cusum.up_n, cusum.down, cusum.down_n = up, up_n, down, down_n
        ewma.value = average
        self.observations += number + 1 - first
        return number + 1

    @property
    def _beyond(self) -> bool:
        return self._cusum.direction is not None or self._ewma.beyond

    def _raise(self, at: float) -> None:
        self.alarm = self._raised(at)
        self._rested = 0

    def _is_over(self, baseline: Baseline, value: float, at: float) -> bool:
        """One observation while the alarm is raised."""
        z = min(FARTHEST, max(-FARTHEST, baseline.z(value)))
        cusum, ewma = self._cusum, self._ewma
        self.observations += 1
        cusum.add(z)
        ewma.add(z)
        if cusum.up_n == 1:
            self._up_began_at = at
        if cusum.down_n == 1:
            self._down_began_at = at
        self._rested = self._rested + 1 if cusum.at_rest and ewma.at_rest else 0
        if self._rested >= RESTS:
            self.alarm = None
        return self.alarm is None

    def current(self) -> float | None:
        """What the statistic is lately, in its unit; None while the baseline is being learnt."""
        if self.baseline is None:
            return None
        return self.baseline.mean + self._ewma.value * self.baseline.sd

    def now(self) -> Alarm | None:
        """The alarm, with what the statistic is by now."""
        if self.alarm is None:
            return None
        return self._raised(self.alarm.raised_at, since=self.alarm.since, chart=self.alarm.chart)

    def _raised(self, at: float, *, since: float | None = None, chart: str | None = None) -> Alarm:
        baseline, cusum, ewma = self.baseline, self._cusum, self._ewma
        assert baseline is not None  # noqa: S101 - there is no alarm before there is one
        chart = chart or ("cusum" if cusum.direction is not None else "ewma")
        began_at = self._up_began_at if cusum.up >= cusum.down else self._down_began_at
        current = baseline.mean + ewma.value * baseline.sd
        return Alarm(
            series=self.series,
            chart=chart,
            since=min(began_at, at) if since is None else since,
            raised_at=at,
            baseline=baseline.mean,
            baseline_sd=baseline.sd,
            baseline_n=baseline.n,
            current=current,
            effect=ewma.value,
            effect_name="standard deviations of one observation",
            value=cusum.value if chart == "cusum" else abs(ewma.value),
            threshold=cusum.h if chart == "cusum" else ewma.bound,
            run_length=self._limit.run_length,
            observations=self.observations,
        )

    def wire(self) -> dict[str, Any]:
        """JSON: what is usual, what is so lately, and how far the charts are."""
        known, series = self.baseline, self.series
        where = {"judge": series.judge, "rubric": series.rubric, "kind": series.kind}
        told = {"statistic": series.statistic, **where, "observations": self.observations}
        if known is None:
            learning = {"learnt": self._learning.n, "to_learn": self._learn}
            return {**told, **learning, "baseline": None, "current": None, "charts": None}
        cusum, ewma = self._cusum, self._ewma
        return {
            **told,
            "learnt": known.n,
            "to_learn": known.n,
            "baseline": {"mean": known.mean, "sd": known.sd},
            "current": self.current(),
            "charts": {
                "cusum": {"up": cusum.up, "down": cusum.down, "k": cusum.k, "threshold": cusum.h},
                "ewma": {"value": ewma.value, "threshold": ewma.bound},
                "run_length": self._limit.run_length,
            },
        }

    def state(self) -> dict[str, Any]:
        """What ``restore`` takes, as JSON."""
        if self.baseline is None:
            return {"learning": self._learning.state()}
        cusum = self._cusum
        return {
            "baseline": [self.baseline.mean, self.baseline.sd, self.baseline.n],
            "sums": [cusum.up, cusum.up_n, cusum.down, cusum.down_n, self._ewma.value],
            "began": [self._up_began_at, self._down_began_at],
            "observations": self.observations,
            "raised": None if self.alarm is None
            else [self.alarm.chart, self.alarm.since, self.alarm.raised_at],
        }  # fmt: skip

    def inherit(self, state: dict[str, Any]) -> None:
        """Take over from a process that has died what says more than this chart: an alarm, a
        baseline, or a larger sum. Raises as ``restore`` does.
        """
        theirs = Chart(self.series, self._limits, self._learn)
        theirs.restore(state)
        if self.alarm is not None or theirs.baseline is None:
            return
        mine = self._cusum.value if self.baseline is not None else -1.0
        if theirs.alarm is not None or theirs._cusum.value > mine:
            observations = self.observations
            self.restore(state)
            self.observations += observations

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped. Raises ValueError, KeyError or TypeError for
        what no chart has written.
        """
        if "learning" in state:
            n, mean, squares = map(number_of, state["learning"])
            self._learning = Learning(int(n), mean, squares)
            return
        self.take(baseline_of(state["baseline"]))
        cusum = self._cusum
        up, up_n, down, down_n, average = map(number_of, state["sums"])
        cusum.up, cusum.up_n, cusum.down, cusum.down_n = up, int(up_n), down, int(down_n)
        self._ewma.value = average
        self._up_began_at, self._down_began_at = map(number_of, state["began"])
        self.observations = int(state["observations"])
        if state["raised"] is not None:
            chart, since, raised_at = state["raised"]
            self.alarm = self._raised(
                number_of(raised_at), since=number_of(since), chart=str(chart)
            )
