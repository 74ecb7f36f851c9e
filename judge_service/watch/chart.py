"""One statistic under watch: it learns its baseline, then a CUSUM and an EWMA look for a shift."""

from __future__ import annotations

from typing import Any

from judge_service.watch.alarm import Alarm, Series
from judge_service.watch.baseline import Baseline, Learning
from judge_service.watch.cusum import Cusum
from judge_service.watch.ewma import Ewma
from judge_service.watch.limits import SMOOTHING, Limit, Limits
from judge_service.watch.statistic import STATISTICS

RESTS = 100
"""Observations in a row, well inside the limits of both charts, after which an alarm is over."""
FARTHEST = 4.0
"""No single observation counts for more deviations: charts look for shifts, not for outliers, and
run lengths stay what they are where tails are heavy.
"""


class Chart:
    """The chart of one series. ``known`` is a baseline that needs no learning.

    An alarm stays until both charts have been well inside their limits for a while, however that
    comes.
    """

    __slots__ = (
        "_began_at", "_cusum", "_ewma", "_learn", "_learning", "_limit", "_limits", "_rested",
        "alarm", "baseline", "observations", "series",
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
        self._began_at = {"up": 0.0, "down": 0.0}
        if known is not None:
            self.take(known)

    def take(self, baseline: Baseline) -> None:
        """Watch from now on, against this baseline."""
        self._limit: Limit = self._limits.of(baseline.n)
        self._cusum = Cusum(self._limit.k, self._limit.h)
        self._ewma = Ewma(SMOOTHING, self._limit.ewma)
        self.baseline = baseline

    def add(self, value: float, at: float) -> bool:
        """One observation, made at a time. Whether an alarm was raised or is over."""
        baseline = self.baseline
        if baseline is None:
            self._learning.add(value)
            if self._learning.n >= self._learn:
                least = STATISTICS[self.series.statistic].least_sd
                self.take(self._learning.done(least))
            return False
        self.observations += 1
        z = min(FARTHEST, max(-FARTHEST, baseline.z(value)))
        cusum, ewma = self._cusum, self._ewma
        cusum.add(z)
        ewma.add(z)
        if cusum.up_n == 1:
            self._began_at["up"] = at
        if cusum.down_n == 1:
            self._began_at["down"] = at
        if self.alarm is not None:
            self._rested = self._rested + 1 if cusum.at_rest and ewma.at_rest else 0
            if self._rested >= RESTS:
                self.alarm = None
                return True
            return False
        if cusum.value > cusum.h or ewma.beyond:
            self.alarm = self._raised(at)
            self._rested = 0
            return True
        return False

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
        side = "up" if (cusum.up >= cusum.down) else "down"
        current = baseline.mean + ewma.value * baseline.sd
        return Alarm(
            series=self.series,
            chart=chart,
            since=self._began_at[side] if since is None else since,
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
            "began": [self._began_at["up"], self._began_at["down"]],
            "observations": self.observations,
            "raised": None if self.alarm is None
            else [self.alarm.chart, self.alarm.since, self.alarm.raised_at],
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped. Raises ValueError, KeyError or TypeError for
        what no chart has written.
        """
        if "learning" in state:
            n, mean, squares = state["learning"]
            self._learning = Learning(int(n), float(mean), float(squares))
            return
        mean, sd, n = state["baseline"]
        if not float(sd) > 0.0:
            raise ValueError("a baseline without deviation")
        self.take(Baseline(mean=float(mean), sd=float(sd), n=int(n)))
        cusum = self._cusum
        up, up_n, down, down_n, average = state["sums"]
        cusum.up, cusum.up_n, cusum.down, cusum.down_n = (
            float(up), int(up_n), float(down), int(down_n)
        )  # fmt: skip
        self._ewma.value = float(average)
        self._began_at = {"up": float(state["began"][0]), "down": float(state["began"][1])}
        self.observations = int(state["observations"])
        if state["raised"] is not None:
            chart, since, raised_at = state["raised"]
            self.alarm = self._raised(float(raised_at), since=float(since), chart=str(chart))
