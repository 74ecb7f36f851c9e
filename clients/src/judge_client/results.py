"""Results: what a call ends in. A failed outcome is a type of its own and has no reward.

``Assessed | AssessFailed``, ``Compared | CompareFailed``, ``Ranked | RankFailed`` and
``Joined | JoinFailed`` are told apart by ``isinstance`` or by ``status``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NoReturn

from judge_client.errors import JudgingFailed

PairOutcome = Literal["first", "second", "tie", "inconsistent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no verdict.

    ``code`` is one of the service's words, or of the client's own: ``unreachable`` (no connection,
    or it broke off), ``protocol`` (an answer that is not the service's), ``deadline_exceeded``,
    ``overloaded``, ``rate_limited``, ``context_too_long``. ``retryable`` says whether asking again
    can help; ``at`` who found out.
    """

    code: str
    message: str
    retryable: bool
    retry_after_s: float | None = None
    at: Literal["service", "client"] = "service"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What every result has: ``raw`` is the service's whole answer, unknown fields included (empty
    when there was none), ``metrics`` its finite numbers.
    """

    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of what stood out, such as ``injection`` or ``family_unknown``."""
        found = self.raw.get("flags")
        listed = found if isinstance(found, list) else []
        return tuple(
            str(flag["flag"]) for flag in listed if isinstance(flag, dict) and "flag" in flag
        )

    @property
    def metadata(self) -> Any:
        """What the request's ``metadata`` was, echoed."""
        return self.raw.get("metadata")

    @property
    def fingerprint(self) -> str | None:
        """A hash of rubric, envelope and the judges that answered."""
        found = self.raw.get("fingerprint")
        return found if isinstance(found, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Success(Outcome):
    """A verdict, or a rule that made one unnecessary (``short_circuited``)."""

    status: ClassVar[Literal["success"]] = "success"

    short_circuited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Outcome):
    """No verdict, hence no reward."""

    status: ClassVar[Literal["failed"]] = "failed"

    error: Failure

    def or_raise(self) -> NoReturn:
        """Raises JudgingFailed."""
        raise JudgingFailed(self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed(Success):
    """One candidate on a rubric: ``reward`` in [0, 1]."""

    reward: float

    def or_raise(self) -> Assessed:
        """Itself: a success."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessFailed(Failed):
    """The candidate could not be judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Success):
    """A pair, asked in both orders: ``preference`` is 1.0, 0.0 or 0.5 for the first, and None when
    ``outcome`` is ``inconsistent``, which is nobody's win and not a tie.
    """

    outcome: PairOutcome
    preference: float | None

    def or_raise(self) -> Compared:
        """Itself: a success."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareFailed(Failed):
    """At least one order has no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked(Success):
    """A group: ``rewards`` in [0, 1] and ``ranks`` (1 is best) in the order of the request.

    ``candidates`` are the service's entries for each; ``zero_advantage`` says that all rewards are
    equal.
    """

    rewards: tuple[float, ...]
    ranks: tuple[int, ...] = ()
    candidates: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    zero_advantage: bool = False

    def or_raise(self) -> Ranked:
        """Itself: a success."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class RankFailed(Failed):
    """The group could not be judged as a whole; ``candidates`` says which member was the cause."""

    candidates: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined(Success):
    """A member's own reward, in [0, 1], once its group was judged; ``rank`` is its place in the
    group (1 is best), ``group`` the group's summary, ``metrics`` the group's.
    """

    reward: float
    rank: int | None = None
    group: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def or_raise(self) -> Joined:
        """Itself: a success."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinFailed(Failed):
    """The group was never complete, or could not be judged."""


AssessOutcome = Assessed | AssessFailed
CompareOutcome = Compared | CompareFailed
RankOutcome = Ranked | RankFailed
JoinOutcome = Joined | JoinFailed
