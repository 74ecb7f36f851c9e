"""A first look at each side: whether anybody answers there at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import SideName

FIRST_LOOK = 8
"""How many judgements tell: whether anybody is there, what one costs, how long it takes."""
UNANSWERED = frozenset(
    {
        "timeout", "deadline_exceeded", "upstream_error", "upstream_protocol", "upstream_auth",
        "quota_exhausted", "breaker_open",
    }
)  # fmt: skip
"""Failures of a judge that was not reached, or that let nobody in. A reply that is no verdict is
none of them, nor is a judge that is busy.
"""


def is_unanswered(judgement: Judgement) -> bool:
    """Whether nothing came of a judgement because the judge did not answer."""
    return (
        judgement.status == "failed"
        and judgement.error in UNANSWERED
        and not judgement.served
        and not judgement.usage.completion_tokens
    )


@dataclass(slots=True)
class FirstLook:
    """Counts what each side's first judgements of this process came to."""

    _answered: set[SideName] = field(default_factory=set)
    _failures: dict[SideName, Counter[str]] = field(default_factory=dict)

    def has_answered(self, side: SideName) -> bool:
        """Whether somebody did, now or in the part of the run that was there before."""
        return side in self._answered

    def remember(self, known: Iterable[tuple[SideName, Judgement]]) -> None:
        """Note who answered before. Failures of then say nothing of now."""
        self._answered |= {side for side, judgement in known if _is_answered(judgement)}

    def count(self, side: SideName, judgement: Judgement) -> None:
        """One more judgement of the side."""
        if _is_answered(judgement):
            self._answered.add(side)
        elif is_unanswered(judgement):
            self._failures.setdefault(side, Counter())[str(judgement.error)] += 1

    def why_not(self, side: SideName) -> str | None:
        """Why there is no use in asking the side on: its first judgements all went unanswered."""
        failures = self._failures.get(side)
        if failures is None or side in self._answered or failures.total() < FIRST_LOOK:
            return None
        causes = ", ".join(f"{n} {code}" for code, n in failures.most_common())
        return f"the {side} does not answer: none of its first {failures.total()} ({causes})"


def _is_answered(judgement: Judgement) -> bool:
    # What a rule ends is not shown to a judge.
    return judgement.status != "short_circuited" and not is_unanswered(judgement)
