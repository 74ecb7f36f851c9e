"""Asking one side about one item: always its own judge, past the cache, whatever the family."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judge_service.bias.history import PairHistory
from judge_service.candidate.answer_history import AnswerHistory
from judge_service.candidate.inspection import Inspection, inspect
from judge_service.drift.judgement import MAX_REASON_CHARS, Judgement, Status
from judge_service.drift.side import Side
from judge_service.engine import Engine
from judge_service.errors import JudgingError
from judge_service.gold.item import GoldItem
from judge_service.outcome import (
    Assessed,
    AssessOutcome,
    Compared,
    CompareOutcome,
    PairOutcome,
    Verdict,
)
from judge_service.request import AssessRequest, CompareRequest
from judge_service.rubric.library import Library
from judge_service.types import Candidate
from judge_service.usage import Usage

PATIENT_CODES = frozenset({"breaker_open", "overloaded", "rate_limited"})
"""Failures that pass if one waits; nobody waits for a drift run."""
MAX_TRIES = 4
LONGEST_WAIT_S = 10.0


@dataclass(slots=True)
class SideAsker:
    """Asks one side of a run.

    No family is excluded: what a judge makes of its own family is part of what is measured, and no
    reward comes of it. Verdicts are asked for anew, for a judge that was changed without notice
    hides behind verdicts that are kept; ``cached`` takes them from the cache all the same.
    """

    engine: Engine
    side: Side
    timeout_s: float
    cached: bool = False
    _own: Engine = field(init=False)

    def __post_init__(self) -> None:
        # Histories of its own: what a run asks is no traffic.
        self._own = replace(
            self.engine,
            library=Library([self.side.alone]),
            require_family=False,
            history=PairHistory(),
            answers=AnswerHistory(),
            watch=None,
        )

    def check(self, item: GoldItem) -> None:
        """Raises RequestError where the item can never be asked about."""
        self._own.check(self._request(item))

    async def judge(self, item: GoldItem, *, patient: bool = True) -> Judgement:
        """What the side makes of an item; a judge that is busy or away is waited for, the latter
        only if ``patient``.
        """
        spent = Usage()
        for tried in range(1, MAX_TRIES):
            found, error = await self.once(item)
            spent = spent + found.usage
            away = error is not None and error.code == "breaker_open"
            if error is None or error.code not in PATIENT_CODES or (away and not patient):
                return replace(found, usage=spent)
            await asyncio.sleep(min(LONGEST_WAIT_S, error.retry_after_s or 0.5 * 2.0**tried))
        found, _ = await self.once(item)
        return replace(found, usage=spent + found.usage)

    async def once(self, item: GoldItem) -> tuple[Judgement, JudgingError | None]:
        """The same without waiting for a judge that is busy or away; and the error, if any."""
        request = self._request(item)
        case = self._own.check(request)
        started = time.monotonic()
        inspections = await inspect(_bare(item), case.rubric, request, case.deadline)
        chars = tuple(one.shown.chars for one in inspections)
        settled = _without_judge(inspections)
        if settled is not None:
            return _settled(item, settled, chars), None
        outcome: AssessOutcome | CompareOutcome
        if isinstance(request, AssessRequest):
            outcome = await self._own.assess(request, case)
            found = _assessed(item, outcome, chars)
        else:
            outcome = await self._own.compare(request, case)
            found = _compared(item, outcome, chars)
        found = replace(found, seconds=round(time.monotonic() - started, 3))
        return found, getattr(outcome, "error", None)

    def _request(self, item: GoldItem) -> AssessRequest | CompareRequest:
        shown = _bare(item)
        common: dict[str, Any] = {
            "rubric": self.side.rubric.id,
            "prompt": item.prompt,
            "reference": item.reference,
            "timeout_s": self.timeout_s,
            "judges": (self.side.judge.id,),
            "panel_size": 1,
            "audit": not self.cached,
        }
        if len(shown) == 1:
            return AssessRequest(candidate=shown[0], **common)
        return CompareRequest(candidates=(shown[0], shown[1]), **common)


def _bare(item: GoldItem) -> tuple[Candidate, ...]:
    """The candidates without their families."""
    return tuple(replace(c, families=frozenset(), policy_model=None) for c in item.candidates)


def _without_judge(inspections: Sequence[Inspection]) -> PairOutcome | None:
    """What needs no judge: "second" where a single candidate breaks a hard rule."""
    if any(one.broken is not None for one in inspections):
        return None
    if len(inspections) == 1:
        return None if inspections[0].passed else "second"
    first, second = inspections
    if first.passed != second.passed:
        return "first" if first.passed else "second"
    if not first.passed or first.shown.same_as(second.shown):
        return "tie"
    return None


def _settled(item: GoldItem, outcome: PairOutcome, chars: tuple[int, ...]) -> Judgement:
    single = len(chars) == 1
    return Judgement(
        item=item.id,
        digest=item.digest,
        status="short_circuited",
        outcome=None if single else outcome,
        reward=0.0 if single else None,
        chars=chars,
    )


def _assessed(item: GoldItem, outcome: AssessOutcome, chars: tuple[int, ...]) -> Judgement:
    common = _common(item, outcome.verdicts, outcome.usage, chars)
    if not isinstance(outcome, Assessed):
        return replace(
            common, status="failed", error=outcome.error.code, retryable=outcome.error.retryable
        )
    if outcome.short_circuited:
        return replace(common, status="short_circuited", reward=0.0)
    return replace(
        common,
        points={name: result.point for name, result in outcome.criteria.items()},
        reward=outcome.reward,
        score=outcome.metrics["model_score"],
    )


def _compared(item: GoldItem, outcome: CompareOutcome, chars: tuple[int, ...]) -> Judgement:
    common = _common(item, outcome.verdicts, outcome.usage, chars)
    common = replace(common, orders={o.order: o.choice for o in outcome.orders})
    if not isinstance(outcome, Compared):
        return replace(
            common, status="failed", error=outcome.error.code, retryable=outcome.error.retryable
        )
    status: Status = "short_circuited" if outcome.short_circuited else "judged"
    return replace(common, status=status, outcome=outcome.outcome, score=outcome.preference)


def _common(
    item: GoldItem, verdicts: Sequence[Verdict], usage: Usage, chars: tuple[int, ...]
) -> Judgement:
    return Judgement(
        item=item.id,
        digest=item.digest,
        status="judged",
        chars=chars,
        reasons={(v.criterion or v.order or ""): v.reason[:MAX_REASON_CHARS] for v in verdicts},
        served=tuple(sorted({v.model_served for v in verdicts if v.model_served})),
        cached=bool(verdicts) and all(v.cached for v in verdicts),
        usage=usage,
    )
