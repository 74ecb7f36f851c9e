"""An assessment made of verdicts that are kept since: what must still be so for it to hold again.

Everything else that goes into such an outcome is a pure function of the request, the rubric and the
judges: rules, flags, points, reward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from judge_service.candidate.answer_history import Sighting
from judge_service.case import Case
from judge_service.events import Judged
from judge_service.judges.judge import Bench
from judge_service.outcome import Assessed, AssessOutcome
from judge_service.rubric.rubric import Rubric
from judge_service.usage import NOTHING

_TOLD = tuple(field.name for field in fields(Judged) if field.name != "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One outcome. ``kept`` are the keys of its verdicts and the signed records under them,
    ``left_out`` the judges that were excluded for their family, ``sighting`` what is remembered of
    the answer (None for a short one), ``constant`` whether it was flagged as a constant one,
    ``timeout_s`` the request's, in seconds; ``told`` is what was told of it, its time aside.
    """

    rubric: Rubric
    bench: Bench
    kept: tuple[tuple[str, bytes], ...]
    left_out: tuple[str, ...]
    sighting: Sighting | None
    constant: bool
    timeout_s: float
    outcome: Assessed
    told: Mapping[str, Any]

    def again(self) -> Assessed:
        """The outcome as it is when none of its verdicts is asked for."""
        verdicts = tuple(
            replace(verdict, cached=True, attempts=0, usage=NOTHING)
            for verdict in self.outcome.verdicts
        )
        metrics = {**self.outcome.metrics, "cached": 1.0}
        return replace(self.outcome, verdicts=verdicts, metrics=metrics, usage=NOTHING)


def past_of(case: Case, outcome: AssessOutcome) -> Past | None:
    """What is to be remembered of an outcome; None for one that need not come out the same."""
    if not isinstance(outcome, Assessed) or outcome.short_circuited or case.request.audit:
        return None
    trace = case.trace
    if trace.missed or trace.unkept or not trace.kept or trace.event is None:
        return None
    return Past(
        rubric=case.rubric,
        bench=case.bench,
        kept=tuple(trace.kept.items()),
        left_out=tuple(trace.left_out),
        sighting=trace.sighting,
        constant=any(flag.flag == "constant_answer" for flag in outcome.flags),
        timeout_s=case.request.timeout_s,
        outcome=outcome,
        told={name: getattr(trace.event, name) for name in _TOLD},
    )
