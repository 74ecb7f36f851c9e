"""What the service answers about itself: the wire schemas, for the OpenAPI page and for tests."""

from __future__ import annotations

from typing import Literal

from pydantic import FiniteFloat

from judge_service.api.answers import Answer
from judge_service.api.watching_answers import AlarmAnswer, WatchAnswer


class LimitsAnswer(Answer):
    """What ``judges.toml`` says; null is no limit."""

    max_concurrency: int | None
    rpm: int | None
    tpm: int | None
    attempt_timeout_s: FiniteFloat | None


class QueueAnswer(Answer):
    """Calls that wait for the judge and that are with it, in the process that answers; ``limit``
    is how many may be just now.
    """

    waiting: int
    running: int
    limit: int | None


class BiasFiguresAnswer(Answer):
    """Counts over a judge's recent pairs; ``GET /v1/bias`` has them with intervals."""

    pairs: int
    consistent: int
    ties: int
    primacy: int
    recency: int
    first_position_share: FiniteFloat | None
    longer_won_share: FiniteFloat | None
    orders_decided: int
    lengths_decided: int


class JudgeAnswer(Answer):
    """A judge; its address and key stay inside. ``reply`` is how it is asked for its answer."""

    id: str
    model: str
    family: str
    purpose: Literal["train", "validate"]
    weight: FiniteFloat
    trial: bool
    reply: str
    breaker: Literal["closed", "open", "half_open"]
    queue: QueueAnswer
    limits: LimitsAnswer
    bias: BiasFiguresAnswer
    alarms: list[AlarmAnswer]


class JudgesAnswer(Answer):
    """All configured judges; ``watch`` is null where watching is off."""

    judges: list[JudgeAnswer]
    watch: WatchAnswer | None


class HealthAnswer(Answer):
    """The process is alive. ``version`` only for callers with a key, where keys are needed."""

    status: Literal["ok"]
    version: str | None = None


class DegradedAnswer(Answer):
    """A part that is not as it should be, and why."""

    part: Literal["judges", "rubrics", "store"]
    why: str


class ReadyAnswer(Answer):
    """Requests can be served. ``degraded`` only for callers with a key, where keys are needed."""

    status: Literal["ready"]
    degraded: list[DegradedAnswer] | None = None
