"""Counting answers against the truth while they come in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from benchmarks.faults.load import Answered, fault_of
from benchmarks.faults.report import Report, quantile


@dataclass(slots=True)
class Tally:
    """What came of many requests. ``slack_s`` is how much later than its deadline one may be."""

    seed: int
    slack_s: float = 0.5
    answers: int = 0
    success: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    failed_after: Counter[str] = field(default_factory=Counter)
    status: Counter[str] = field(default_factory=Counter)
    wrong: int = 0
    late: int = 0
    cached: int = 0
    repeats_not_cached: int = 0
    latest_s: float = -60.0
    seconds: list[float] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)

    def add(self, answered: Answered) -> None:
        """Count one answer."""
        self.status[str(answered.status or "none")] += 1
        self.answers += answered.status is not None
        self.seconds.append(answered.seconds)
        fault = fault_of(answered, self.seed)
        if fault is not None:
            self.wrong += 1
            if len(self.examples) < 10:
                self.examples.append(f"{fault} | asked {str(answered.ask.body)[:200]}")
        self._time(answered)
        body = answered.body
        if not body or "status" not in body or answered.status != 200:
            return
        if body["status"] == "failed":
            self.failed[(body["error"] or {}).get("code", "?")] += 1
            self.failed_after[str(body["usage"]["upstream_requests"])] += 1
            self.repeats_not_cached += answered.ask.repeat
            return
        self.success += 1
        verdicts = body.get("verdicts") or []
        cached = bool(verdicts) and all(v["cached"] for v in verdicts)
        self.cached += cached
        self.repeats_not_cached += answered.ask.repeat and not cached

    def _time(self, answered: Answered) -> None:
        timeout = (answered.ask.body or {}).get("timeout_s")
        if timeout is None:
            return
        over = answered.seconds - timeout
        self.latest_s = max(self.latest_s, over)
        if over > self.slack_s:
            self.late += 1

    def promises(self, report: Report, requests: int) -> None:
        """What holds whatever happens: every request answered, rightly or as a failure, in time."""
        report.exactly("answers", self.answers, requests)
        report.exactly("wrong verdicts and unexplained failures", self.wrong, 0)
        errors = sum(n for status, n in self.status.items() if status.startswith("5"))
        report.exactly("HTTP 5xx", errors, 0)
        report.exactly("later than deadline + 0.5 s", self.late, 0)
        report.examples += self.examples
        report.figures |= {
            "requests": requests,
            "success": self.success,
            "failed": dict(self.failed),
            "failed_after_calls": dict(self.failed_after),
            "status": dict(self.status),
            "cached": self.cached,
            "p50_s": round(quantile(self.seconds, 0.5), 4),
            "p99_s": round(quantile(self.seconds, 0.99), 4),
            "max_s": round(max(self.seconds, default=0.0), 4),
        }
