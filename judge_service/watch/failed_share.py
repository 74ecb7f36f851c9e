"""Failed shares of one rubric: of all causes together and of each apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judge_service.watch.alarm import Alarm, Series
from judge_service.watch.bernoulli import ShareCusum

ALL = ""
"""In place of an error code: whatever the cause."""


@dataclass(slots=True, kw_only=True)
class _Raised:
    at: float
    since: float


@dataclass(slots=True, kw_only=True)
class FailedShares:
    """Counts outcomes; after the first ``learn`` each cause has a chart of its own.

    ``series`` names what is counted, ``changed`` hears of alarms raised and over. A chart's alarm
    is over when its sum is back at zero.
    """

    series: Callable[[str | None], Series]
    changed: Callable[[Series, bool], None]
    learn: int
    run_length: float
    outcomes: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    _before: Counter[str] = field(default_factory=Counter)
    _charts: dict[str, ShareCusum] = field(default_factory=dict)
    _cases: Counter[str] = field(default_factory=Counter)
    _raised: dict[str, _Raised] = field(default_factory=dict)
    _began_at: dict[str, float] = field(default_factory=dict)

    def add(self, code: str | None, at: float) -> None:
        """One more outcome; ``code`` is None where it did not fail."""
        self.outcomes += 1
        if code is not None:
            for cause in (ALL, code):
                self.causes[cause] += 1
                if self.outcomes > self.learn:
                    self._case(cause, at)
                else:
                    self._before[cause] += 1
        if self._raised:
            self._look()

    def _case(self, cause: str, at: float) -> None:
        chart = self._charts.get(cause)
        if chart is None:
            chart = self._charts[cause] = self._made(cause)
        chart.case(self.outcomes)
        if chart.began == self.outcomes:
            self._cases[cause] = 0
            self._began_at[cause] = at
        self._cases[cause] += 1
        if chart.value > chart.h and cause not in self._raised:
            self._raised[cause] = _Raised(at=at, since=self._began_at.get(cause, at))
            self.changed(self.series(cause or None), True)

    def _made(self, cause: str) -> ShareCusum:
        return ShareCusum(self._before[cause], self.learn, self.run_length)

    def _look(self) -> None:
        over = [c for c in self._raised if self._charts[c].level(self.outcomes) == 0.0]
        for cause in over:
            del self._raised[cause]
            self.changed(self.series(cause or None), False)

    def alarms(self) -> list[Alarm]:
        """Those that are raised."""
        return [self._alarm(cause, raised) for cause, raised in self._raised.items()]

    def _alarm(self, cause: str, raised: _Raised) -> Alarm:
        chart = self._charts[cause]
        since = max(1, self.outcomes - chart.began + 1)
        current = self._cases[cause] / since
        return Alarm(
            series=self.series(cause or None),
            chart="bernoulli cusum",
            since=raised.since,
            raised_at=raised.at,
            baseline=self._before[cause] / self.learn,
            baseline_sd=None,
            baseline_n=self.learn,
            current=current,
            effect=current - self._before[cause] / self.learn,
            effect_name="difference of shares",
            value=chart.level(self.outcomes),
            threshold=chart.h,
            run_length=self.run_length,
            observations=self.outcomes - self.learn,
            detail=None if cause else self._told(),
        )

    def _told(self) -> str:
        found = [(code, n) for code, n in self.causes.most_common() if code != ALL]
        return "since the start: " + ", ".join(f"{code} {n}" for code, n in found[:5])

    def wire(self) -> dict[str, Any]:
        """JSON: counts since the start of the process, or of the state that it took over."""
        return {
            "outcomes": self.outcomes,
            "failed": self.causes[ALL],
            "by_cause": {code: n for code, n in sorted(self.causes.items()) if code != ALL},
        }

    def state(self) -> dict[str, Any]:
        """What ``restore`` takes, as JSON."""
        return {
            "outcomes": self.outcomes,
            "causes": dict(self.causes),
            "before": dict(self._before),
            "cases": dict(self._cases),
            "charts": {cause: chart.state() for cause, chart in self._charts.items()},
            "began": self._began_at,
            "raised": {cause: [one.at, one.since] for cause, one in self._raised.items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped. Raises ValueError, KeyError or TypeError."""
        self.outcomes = int(state["outcomes"])
        self.causes = Counter({str(c): int(n) for c, n in state["causes"].items()})
        self._before = Counter({str(c): int(n) for c, n in state["before"].items()})
        self._cases = Counter({str(c): int(n) for c, n in state["cases"].items()})
        self._charts = {}
        for cause, (value, began, seen) in state["charts"].items():
            chart = self._charts[cause] = self._made(cause)
            chart.restore(value, began, seen)
        self._began_at = {str(c): float(at) for c, at in state["began"].items()}
        self._raised = {
            str(c): _Raised(at=float(at), since=float(since))
            for c, (at, since) in state["raised"].items()
            if c in self._charts
        }
