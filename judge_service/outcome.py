"""Outcomes: what a request ends in. A failed outcome is a type of its own and has no reward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from judge_service.errors import JudgingError
from judge_service.flags import Flag
from judge_service.reply.expectation import Expectation
from judge_service.rules import RulesReport
from judge_service.usage import Usage

Choice = Literal["first", "second", "tie"]
PairOutcome = Literal["first", "second", "tie", "inconsistent"]
Order = Literal["AB", "BA"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One answer of one judge. Exactly one of ``point`` (assess) and ``choice`` (pair) is set.

    ``choice`` is already mapped back to the caller's order, and so is the preference that
    ``expected`` is in a pair; None where the judge is not asked for probabilities. ``latency_ms``
    covers all attempts.
    """

    judge: str
    family: str
    model: str
    model_served: str | None
    reason: str
    criterion: str | None = None
    point: int | None = None
    order: Order | None = None
    choice: Choice | None = None
    expected: Expectation | None = None
    cached: bool = False
    attempts: int = 1
    latency_ms: float = 0.0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What votes on a corrected scale count as, in [0, 1]: their points, and what is expected of
    them (the same as of points where nothing is).
    """

    of_point: float
    of_expected: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionResult:
    """A criterion's point: the lower median of the panel. ``agreement`` is the share of votes on
    that point, ``votes`` how many judges answered. ``expected`` is there where the rubric wants
    expected scores; it counts where it has a value. ``worth`` is what either counts as where a
    judge's scale is corrected.
    """

    point: int
    normalized: float
    weight: float
    agreement: float
    votes: int
    expected: Expectation | None = None
    worth: Worth | None = None

    @property
    def value(self) -> float:
        """What enters the reward, in [0, 1]."""
        counts = self.expected is not None and self.expected.value is not None
        if self.worth is not None:
            return self.worth.of_expected if counts else self.worth.of_point
        if self.expected is None or self.expected.value is None:
            return self.normalized
        return self.expected.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What every outcome carries, success or failed."""

    verdicts: tuple[Verdict, ...] = ()
    flags: tuple[Flag, ...] = ()
    metrics: Mapping[str, float]
    usage: Usage
    rubric_hash: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed(Common):
    """A success: ``reward`` in [0, 1]."""

    reward: float
    short_circuited: bool
    rules: RulesReport
    criteria: Mapping[str, CriterionResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessFailed(Common):
    """No verdict, hence no reward. ``rules`` is None where they were not run to their end."""

    error: JudgingError
    rules: RulesReport | None
    criteria: Mapping[str, CriterionResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderChoice:
    """What a judge chose in one order, mapped back to the caller's order; None without verdict."""

    order: Order
    choice: Choice | None
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Common):
    """A success: ``preference`` is 1.0, 0.0 or 0.5 for the first, None when inconsistent.

    ``expected`` is the graded preference for the first where the rubric wants expected scores:
    both orders together, whether they agree or not.
    """

    outcome: PairOutcome
    preference: float | None
    expected: Expectation | None = None
    consistent: bool
    orders: tuple[OrderChoice, ...]
    length_ratio: float | None
    short_circuited: bool
    rules: tuple[RulesReport, RulesReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareFailed(Common):
    """At least one order has no verdict, hence there is no preference. ``rules`` are None for a
    candidate on which they were not run to their end.
    """

    error: JudgingError
    expected: Expectation | None = None
    orders: tuple[OrderChoice, ...]
    length_ratio: float | None
    rules: tuple[RulesReport | None, RulesReport | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMember:
    """One member of a group. Exactly one of ``reward`` and ``error`` is set.

    ``rules`` is None where they were not run to their end; there is an error then. ``criteria`` are
    those of an assessment, ``wins`` the share of wins in pairs, in [0, 1].
    """

    id: str | None
    reward: float | None
    error: JudgingError | None
    rules: RulesReport | None
    criteria: Mapping[str, CriterionResult] = field(default_factory=dict)
    wins: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts:
    """What became of a group's pairs. ``single`` were asked in one order only (and decided);
    ``first_position_share`` is of all orders with a winner, None without any.
    """

    asked: int = 0
    consistent: int = 0
    tie: int = 0
    inconsistent: int = 0
    failed: int = 0
    single: int = 0
    first_position_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCount:
    """What one judge gave a group: ``verdicts`` of which ``cached`` were not asked for anew."""

    judge: str
    family: str
    model: str
    model_served: str | None
    verdicts: int
    cached: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCommon(Common):
    """What every outcome of a group carries; ``strategy`` is the one that was followed."""

    strategy: Literal["assess", "pairwise", "listwise"]
    members: tuple[RankedMember, ...]
    pairs: PairCounts
    judges: tuple[JudgeCount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked(GroupCommon):
    """A success: every member has a reward. ``ranks`` begin with 1, equal rewards share one."""

    rewards: tuple[float, ...]
    ranks: tuple[int, ...]
    zero_advantage: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RankFailed(GroupCommon):
    """The group has no rewards; ``members`` tell who could not be judged."""

    error: JudgingError


AssessOutcome = Assessed | AssessFailed
CompareOutcome = Compared | CompareFailed
RankOutcome = Ranked | RankFailed
Outcome = AssessOutcome | CompareOutcome | RankOutcome
