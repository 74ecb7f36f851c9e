"""A group on its way through a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from judge_service.asking.ask import Answer
from judge_service.bias.history import PairHistory
from judge_service.candidate.inspection import Inspection
from judge_service.case import Case
from judge_service.errors import JudgingError
from judge_service.judging import combine
from judge_service.outcome import CriterionResult, PairCounts
from judge_service.ranking.length_window import LengthWindow
from judge_service.ranking.members import Distinct, distinct
from judge_service.request import RankRequest
from judge_service.verdicts.source import VerdictSource

Followed = Literal["assess", "pairwise", "listwise"]
"""The strategy that was followed."""


@dataclass(slots=True)
class MemberState:
    """What is known of a member so far."""

    reward: float | None = None
    error: JudgingError | None = None
    criteria: Mapping[str, CriterionResult] = field(default_factory=dict)
    wins: float | None = None


@dataclass(slots=True, kw_only=True)
class Group:
    """A group on its way. ``states`` are those of its members, in the caller's order; ``digests``
    are hashes of what is shown of them.
    """

    case: Case
    request: RankRequest
    source: VerdictSource
    history: PairHistory
    lengths: LengthWindow
    inspections: list[Inspection]
    states: list[MemberState]
    digests: Sequence[str] = ()
    answers: list[Answer] = field(default_factory=list)
    counts: PairCounts = field(default_factory=PairCounts)

    @property
    def passing(self) -> list[int]:
        """The members that a judge is asked about."""
        audit = self.case.request.audit
        return [n for n, one in enumerate(self.inspections) if one.passed or audit]

    def distinct(self, places: Sequence[int], *, exact: bool) -> list[Distinct]:
        """The distinct answers at ``places``."""
        return distinct(self.digests, self.inspections, places, exact=exact)

    def chars(self, place: int) -> int:
        """The length of a member as judged."""
        return self.inspections[place].shown.chars

    def give(self, place: int, model_score: float) -> None:
        """A member's reward from the judge's part of it, length control included."""
        inspection = self.inspections[place]
        self.states[place].reward = combine.reward(self.case.rubric, inspection.report, model_score)
