"""The shadow: a judge of another family, asked what was asked, after the answer has gone out.

Its verdicts are recorded beside those that counted and change none of them. Which requests are
shadowed depends on the request alone, so that every replica chooses the same ones.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from judge_service.bias.history import PairHistory
from judge_service.bias.live import ScoreHistory
from judge_service.candidate.answer_history import AnswerHistory
from judge_service.candidate.inspection import Inspection
from judge_service.case import Case
from judge_service.drift.side import Side
from judge_service.engine import Engine
from judge_service.events import Kind, Observer, ShadowJudged
from judge_service.judges.judge import JudgeSpec, fingerprint
from judge_service.outcome import Assessed, Compared, Outcome
from judge_service.ranking.length_window import LengthWindow
from judge_service.request import AssessRequest
from judge_service.rubric.library import Library
from judge_service.rubric.rubric import Rubric
from judge_service.watch.background import Background, requests_of
from judge_service.watch.bill import Reserved
from judge_service.watch.desk import Desk
from judge_service.watch.settings import ShadowSettings
from judge_service.watch.shadow_case import ShadowCase, shadow_case, texts_of
from judge_service.watch.shadow_pairs import (
    CHOICES,
    Pair,
    ShadowPairs,
    choice_of,
    choice_pair,
    point_pairs,
    points_of,
)
from judge_service.watch.shadow_record import Key, ShadowRecord

AFTER_S = 0.25
"""The shadow is asked so much later, so that the answer goes out first."""
TIMEOUT_S = 120.0
Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class Shadow:
    """Asks and records."""

    settings: ShadowSettings
    engine: Engine
    background: Background
    desk: Desk
    tell: Observer
    sleep: Sleep = asyncio.sleep
    record: ShadowRecord = field(init=False)
    failed: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.record = ShadowRecord(self._version)

    def _version(self, judge: str, shadow: str, rubric: str) -> str | None:
        bench, found = self.engine.bench, self.engine.library.get(rubric)
        if found is None or judge not in bench or shadow not in bench:
            return None
        both = {judge: bench[judge], shadow: bench[shadow]}
        return fingerprint(found.rubric_hash, both)[:32]

    def live(
        self, kind: Kind, case: Case, inspections: tuple[Inspection, ...], outcome: Outcome
    ) -> None:
        """A request has its outcome; it is shadowed if it is one of the share."""
        texts = texts_of(case.request, inspections)
        if not chosen(case.rubric, texts, self.settings.share):
            return
        given = shadow_case(kind, case, inspections, outcome)
        shadow = None if given is None else self._judge(given)
        if given is not None and shadow is not None:
            single = isinstance(given.request, AssessRequest)
            requests = requests_of(given.rubric, "assess" if single else "compare")
            self.background.begin(
                shadow, requests, lambda reserved: self._ask(given, shadow, reserved)
            )

    def _judge(self, given: ShadowCase) -> JudgeSpec | None:
        """The first of the configured ones that is of another family than all concerned."""
        taken = given.families.union(
            *(self.engine.bench[judge].families for judge in given.live), frozenset()
        )
        shadows = (self.engine.bench[judge] for judge in self.settings.judges)
        return next((shadow for shadow in shadows if not shadow.families & taken), None)

    async def _ask(self, given: ShadowCase, shadow: JudgeSpec, reserved: Reserved) -> None:
        await self.sleep(AFTER_S)
        request = given.request
        single = isinstance(request, AssessRequest)
        side = Side(judge=shadow, rubric=given.rubric, kind="assess" if single else "compare")
        engine = alone(self.engine, side)
        request = replace(
            request, judges=(shadow.id,), panel_size=1, audit=True, timeout_s=TIMEOUT_S,
            purpose=None,
        )  # fmt: skip
        outcome: Outcome
        if isinstance(request, AssessRequest):
            outcome = await engine.assess(request)
        else:
            outcome = await engine.compare(request)
        await self.background.bill.spent(shadow.id, outcome.usage, reserved)
        for judge in given.live:
            self._record(given, judge, shadow.id, outcome)

    def _record(self, given: ShadowCase, judge: str, shadow: str, outcome: Outcome) -> None:
        rubric = given.rubric
        found: dict[str | None, Pair] = {}
        if isinstance(outcome, Assessed):
            theirs = given.points.get(judge, {})
            found.update(point_pairs(rubric, theirs, points_of(outcome, shadow)))
        elif isinstance(outcome, Compared):
            choice, ours = given.choices.get(judge), choice_of(outcome, shadow)
            if choice is not None and ours is not None:
                found[None] = choice_pair(choice, ours)
        if not found:
            where = (judge, shadow)
            self.failed[where] = self.failed.get(where, 0) + 1
            self.tell(ShadowJudged(judge, shadow, rubric.id, "failed"))
            return
        scales = {c.name: c.points.values for c in rubric.criteria if c.scale is not None}
        for criterion, pair in found.items():
            key = (judge, shadow, rubric.id, criterion)
            categories = CHOICES if criterion is None else tuple(scales[criterion])
            kept = self.record.add(key, categories, pair)
            agreement, kappa, shift = kept.plain()
            result: Literal["agrees", "differs"]
            result = "agrees" if pair.live == pair.shadow else "differs"
            self.tell(ShadowJudged(judge, shadow, rubric.id, result, agreement, kappa, shift))
        self._chart(given, judge, list(found.values()))

    def _chart(self, given: ShadowCase, judge: str, pairs: list[Pair]) -> None:
        place = self.desk.place(judge, given.rubric, given.kind)
        at, n = self.desk.wall(), len(pairs)
        apart = sum(pair.live_value - pair.shadow_value for pair in pairs) / n
        place.feed("shadow_shift", [(apart, at)])
        same = sum(pair.live == pair.shadow for pair in pairs) / n
        place.feed("shadow_agreement", [(same, at)])

    def wire(self) -> dict[str, Any]:
        """JSON, but for the figures."""
        return {
            "judges": list(self.settings.judges),
            "share": self.settings.share,
            **self.background.bill.wire(),
            "skipped": dict(self.background.skipped),
            "failed": [
                {"judge": judge, "shadow": shadow, "failed": n}
                for (judge, shadow), n in self.failed.items()
            ],
        }


def figures_of(windows: Sequence[tuple[Key, ShadowPairs]]) -> list[dict[str, Any]]:
    """JSON, with intervals that take some milliseconds each; of windows that nobody adds to."""
    return [
        {
            "judge": judge, "shadow": shadow, "rubric": rubric, "criterion": criterion,
            **pairs.wire(),
        }
        for (judge, shadow, rubric, criterion), pairs in windows
    ]  # fmt: skip


def chosen(rubric: Rubric, texts: tuple[str, ...], share: float) -> bool:
    """Whether a request is one of the share: by a hash of rubric, prompt and candidates."""
    digest = hashlib.sha256(b"shadow")
    for part in (rubric.rubric_hash, *texts):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return int.from_bytes(digest.digest()[:8], "big") < share * 2.0**64


def alone(engine: Engine, side: Side) -> Engine:
    """An engine for one judge under one rubric, whose histories are not those of live traffic."""
    return replace(
        engine,
        library=Library([side.alone]),
        require_family=False,
        history=PairHistory(),
        scores=ScoreHistory(),
        answers=AnswerHistory(),
        lengths=LengthWindow(),
        watch=None,
    )
