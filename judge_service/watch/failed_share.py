"""Failed shares of one rubric: of all causes together and of each apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judge_service.watch.alarm import Alarm, Series
from judge_service.watch.baseline import number_of
from judge_service.watch.bernoulli import ShareCusum

ALL = ""
"""In place of an error code: whatever the cause."""
LEAST_PROMPTS = 3
"""So many prompts must have failed before it is an alarm: 64 failed answers to one hard prompt, or
the retries of one sample, are no change.
"""


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
    _prompts: dict[str, set[int]] = field(default_factory=dict)

    def judged(self) -> None:
        """One more outcome, which did not fail."""
        self.outcomes += 1
        if self._raised:
            self._look()

    def failed(self, code: str, prompt: int, at: float) -> None:
        """One more outcome, which failed with ``code``; ``prompt`` is its prompt's key."""
        self.outcomes += 1
        for cause in (ALL, code):
            self.causes[cause] += 1
            if self.outcomes > self.learn:
                self._case(cause, prompt, at)
            else:
                self._before[cause] += 1
        if self._raised:
            self._look()

    def _case(self, cause: str, prompt: int, at: float) -> None:
        chart = self._charts.get(cause)
        if chart is None:
            chart = self._charts[cause] = self._made(cause)
        chart.case(self.outcomes)
        if chart.began == self.outcomes:
            self._cases[cause] = 0
            self._began_at[cause] = at
            self._prompts[cause] = set()
        self._cases[cause] += 1
        prompts = self._prompts.setdefault(cause, set())
        if len(prompts) < LEAST_PROMPTS:
            prompts.add(prompt)
        several = len(prompts) >= LEAST_PROMPTS
        if chart.value > chart.h and several and cause not in self._raised:
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
            "learn": self.learn,
            "causes": dict(self.causes),
            "before": dict(self._before),
            "cases": dict(self._cases),
            "charts": {cause: chart.state() for cause, chart in self._charts.items()},
            "began": self._began_at,
            "prompts": {cause: sorted(prompts) for cause, prompts in self._prompts.items()},
            "raised": {cause: [one.at, one.since] for cause, one in self._raised.items()},
        }

    def inherit(self, state: dict[str, Any]) -> None:
        """Take over from a process that has died what says more than what is known here: alarms
        while there are none, a baseline while there is none. Raises as ``restore`` does.
        """
        learnt = int(state["outcomes"]) > self.learn
        if (state["raised"] and not self._raised) or (learnt and self.outcomes <= self.learn):
            self.restore(state)

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped. Raises ValueError, KeyError or TypeError."""
        self.outcomes = int(state["outcomes"])
        self.learn = max(1, int(state["learn"]))  # a baseline is of as many as it was learnt from
        self.causes = Counter({str(c): int(n) for c, n in state["causes"].items()})
        self._before = Counter({str(c): int(n) for c, n in state["before"].items()})
        self._cases = Counter({str(c): int(n) for c, n in state["cases"].items()})
        self._charts = {}
        for cause, (value, began, seen) in state["charts"].items():
            chart = self._charts[cause] = self._made(cause)
            chart.restore(*map(number_of, (value, began, seen)))
        self._began_at = {str(c): number_of(at) for c, at in state["began"].items()}
        kept = state.get("prompts", {})
        self._prompts = {str(c): {int(key) for key in keys} for c, keys in kept.items()}
        self._raised = {
            str(c): _Raised(at=number_of(at), since=number_of(since))
            for c, (at, since) in state["raised"].items()
            if c in self._charts
        }
