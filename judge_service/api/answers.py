"""What the service answers: the wire schemas of outcomes, for the OpenAPI page and for tests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, FiniteFloat

ErrorCode = Literal[
    "timeout", "deadline_exceeded", "rate_limited", "upstream_error", "upstream_auth",
    "upstream_protocol", "quota_exhausted", "context_too_long", "empty_reply", "refused",
    "content_filtered", "truncated_reply", "unparsable", "off_scale", "wrong_model",
    "no_eligible_judge", "breaker_open", "quorum_not_met", "cohort_incomplete", "inconclusive",
    "overloaded", "internal",
]  # fmt: skip
ChoiceWord = Literal["first", "second", "tie"]


class Answer(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(extra="forbid")


class UsageAnswer(Answer):
    """What was spent upstream; ``cost_usd`` is null when a price is not known."""

    upstream_requests: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost_usd: FiniteFloat | None
    unknown_cost_calls: int


class ExpectedAnswer(Answer):
    """An expected score, or of a pair the preference for the first, in [0, 1]; null where it does
    not count. ``mass`` is the probability that the values offered cover, 0 where none is known.
    """

    value: FiniteFloat | None
    mass: FiniteFloat


class VerdictAnswer(Answer):
    """One judge's verdict: ``criterion`` and ``point`` in an assessment, ``order`` and ``choice``
    in a comparison. ``expected`` is there where the judge is asked for probabilities.
    """

    judge: str
    family: str
    model: str
    model_served: str | None
    criterion: str | None = None
    point: int | None = None
    order: Literal["AB", "BA"] | None = None
    choice: ChoiceWord | None = None
    expected: ExpectedAnswer | None = None
    reason: str
    cached: bool
    attempts: int
    latency_ms: FiniteFloat
    usage: UsageAnswer


class RuleAnswer(Answer):
    """What one rule found."""

    rule: str
    hard: bool
    passed: bool
    score: FiniteFloat
    detail: str | None


class RulesAnswer(Answer):
    """All rules of one candidate; ``passed`` means no hard rule failed."""

    passed: bool
    score: FiniteFloat
    results: list[RuleAnswer]


class CriterionAnswer(Answer):
    """A criterion's point, the lower median of ``votes`` judges. ``expected`` is there where the
    rubric wants expected scores, and then is what the reward is made of, unless its value is null.
    ``corrected`` is there where the scale of a judge is corrected, and then is what counts.
    """

    point: int
    normalized: FiniteFloat
    weight: FiniteFloat
    agreement: FiniteFloat
    votes: int
    expected: ExpectedAnswer | None = None
    corrected: FiniteFloat | None = None


class FlagAnswer(Answer):
    """Something to know about an outcome; it never changes the reward."""

    flag: str
    detail: str


class ErrorAnswer(Answer):
    """Why there is no verdict."""

    code: ErrorCode
    message: str
    retryable: bool
    retry_after_s: FiniteFloat | None


class OutcomeAnswer(Answer):
    """What every outcome carries."""

    status: Literal["success", "failed"]
    short_circuited: bool
    verdicts: list[VerdictAnswer]
    flags: list[FlagAnswer]
    metrics: dict[str, FiniteFloat]
    usage: UsageAnswer
    rubric_hash: str
    fingerprint: str
    error: ErrorAnswer | None
    metadata: dict[str, Any] | None


class AssessAnswer(OutcomeAnswer):
    """``reward`` is null exactly when ``status`` is failed, ``rules`` where that was before they
    were run to their end.
    """

    reward: FiniteFloat | None
    rules: RulesAnswer | None
    criteria: dict[str, CriterionAnswer]


class OrderAnswer(Answer):
    """What one judge chose in one order, mapped back to the caller's order."""

    order: Literal["AB", "BA"]
    choice: ChoiceWord | None
    judge: str


class CompareAnswer(OutcomeAnswer):
    """``preference`` is for the first: 1.0, 0.0, 0.5 for a tie, null when inconsistent or failed.
    ``rules`` has one report per candidate, null where it failed before the rules were run to their
    end; ``expected`` is there where the rubric wants expected scores.
    """

    outcome: Literal["first", "second", "tie", "inconsistent"] | None
    preference: FiniteFloat | None
    expected: ExpectedAnswer | None = None
    consistent: bool | None
    orders: list[OrderAnswer]
    length_ratio: FiniteFloat | None
    rules: list[RulesAnswer | None]


class RubricPutAnswer(Answer):
    """What became of an uploaded rubric: ``created`` is a new version, ``restored`` one that was
    there before and is current again, ``unchanged`` the current one.
    """

    id: str
    version: str
    rubric_hash: str
    result: Literal["created", "restored", "unchanged"]
    warnings: list[str]


class MemberAnswer(Answer):
    """One member of a group; ``reward`` is null exactly when its ``status`` is failed, ``rules``
    where that was before they were run to their end.
    """

    id: str | None
    status: Literal["success", "failed"]
    reward: FiniteFloat | None
    rules: RulesAnswer | None
    criteria: dict[str, CriterionAnswer]
    wins: FiniteFloat | None
    error: ErrorAnswer | None


class PairsAnswer(Answer):
    """What became of a group's pairs; ``single`` were asked in one order only."""

    asked: int
    consistent: int
    tie: int
    inconsistent: int
    failed: int
    single: int
    first_position_share: FiniteFloat | None


class JudgeCountAnswer(Answer):
    """What one judge gave a group."""

    judge: str
    family: str
    model: str
    model_served: str | None
    verdicts: int
    cached: int


class RankAnswer(Answer):
    """``rewards`` and ``ranks`` are in the order of the candidates, null when the group failed."""

    status: Literal["success", "failed"]
    strategy: Literal["assess", "pairwise", "listwise"]
    rewards: list[FiniteFloat] | None
    ranks: list[int] | None
    candidates: list[MemberAnswer]
    pairs: PairsAnswer
    zero_advantage: bool
    judges: list[JudgeCountAnswer]
    flags: list[FlagAnswer]
    metrics: dict[str, FiniteFloat]
    usage: UsageAnswer
    rubric_hash: str
    fingerprint: str
    error: ErrorAnswer | None
    metadata: dict[str, Any] | None


class GroupAnswer(Answer):
    """A group in short: how many ``members`` of ``size`` it had, null where that is not known, and
    what they have in common. A ``partial`` one was judged with fewer than its size.
    """

    generation: int
    size: int
    members: int | None
    partial: bool
    strategy: Literal["assess", "pairwise", "listwise"] | None
    zero_advantage: bool
    pairs: PairsAnswer | None
    judges: list[JudgeCountAnswer]
    metrics: dict[str, FiniteFloat]


class JoinAnswer(Answer):
    """One member's reward, null exactly when ``status`` is failed, and its group in short."""

    status: Literal["success", "failed"]
    reward: FiniteFloat | None
    rank: int | None
    rules: RulesAnswer | None
    criteria: dict[str, CriterionAnswer]
    wins: FiniteFloat | None
    group: GroupAnswer
    flags: list[FlagAnswer]
    usage: UsageAnswer
    rubric_hash: str | None
    fingerprint: str | None
    error: ErrorAnswer | None
    metadata: dict[str, Any] | None


class BulkAnswer(Answer):
    """One result per item, in the order of the items; ``metadata`` where the bulk had any."""

    results: list[AssessAnswer | CompareAnswer | RankAnswer]
    metadata: dict[str, Any] | None = None


class ProblemDetail(Answer):
    """The caller's mistake."""

    code: str
    message: str
    field: str | None = None
    faults: list[dict[str, str]] | None = None


class ProblemAnswer(Answer):
    """The body of every answer that is not 2xx."""

    error: ProblemDetail
