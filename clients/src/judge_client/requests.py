"""What is asked: one class for each kind of request, each of which knows its result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

from judge_client import marks, too_long
from judge_client.candidate import (
    MAX_TEXT_BYTES,
    Candidate,
    CandidateLike,
    candidate_body,
    longest_text,
    prompt_body,
)
from judge_client.encoding import encode
from judge_client.errors import ConfigError, InvalidRequest
from judge_client.pace import MAX_GRANTED_S, service_time
from judge_client.reading import read_assess, read_compare, read_join, read_rank
from judge_client.results import (
    AssessFailed,
    AssessOutcome,
    CompareFailed,
    CompareOutcome,
    Failure,
    JoinFailed,
    JoinOutcome,
    RankFailed,
    RankOutcome,
)
from judge_client.settings import Purpose, Settings, check_purpose

Kind = Literal["assess", "compare", "rank", "join"]
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A request as JSON, and by what its answer among many is known."""

    body: bytes
    mark: str | None = None


@dataclass(frozen=True, kw_only=True)
class Request(Generic[R_co]):
    """The fields of every request. ``rubric`` and ``purpose`` are the client's own unless given;
    ``judges`` restricts who may judge; ``metadata`` comes back with the answer and is shown to
    nobody.
    """

    kind: ClassVar[Kind]
    max_bytes: ClassVar[int] = 4 * MIB

    prompt: str | Sequence[Mapping[str, Any]]
    rubric: str | None = None
    reference: str | None = None
    judges: Sequence[str] | None = None
    panel_size: int | None = None
    purpose: Purpose | None = None
    metadata: Mapping[str, Any] | None = None
    audit: bool = False

    def fields(self, settings: Settings) -> dict[str, Any]:
        """The body of the request. Raises InvalidRequest."""
        rubric = self.rubric or settings.rubric
        if rubric is None:
            raise InvalidRequest(
                "rubric: none given, neither here nor in the settings", field="rubric"
            )
        given = {
            "rubric": rubric,
            "prompt": prompt_body(self.prompt),
            "reference": self.reference,
            "judges": None if self.judges is None else list(self.judges),
            "panel_size": self.panel_size,
            "purpose": self._purpose(settings),
            "metadata": None if self.metadata is None else dict(self.metadata),
            "audit": self.audit or None,
        }
        return {name: value for name, value in given.items() if value is not None} | self._own(
            settings
        )

    def _purpose(self, settings: Settings) -> Purpose | None:
        try:
            return check_purpose("purpose", self.purpose) or settings.purpose
        except ConfigError as wrong:
            raise InvalidRequest(str(wrong), field="purpose") from None

    def written(
        self, settings: Settings, *, timeout_s: float | None = None, number: int | None = None
    ) -> Written | R_co:
        """The body, or the result where it is known without asking. Raises InvalidRequest.

        Alone a request says its ``timeout_s``; as one of many it has a ``number`` instead, and a
        mark in its metadata. Only lengths are looked at here: what the policy wrote at too great a
        length has lost, and a question too long to be sent has failed.
        """
        fields = self.fields(settings)
        known = self._known(fields)
        if known is not None:
            return known
        if timeout_s is not None:
            fields |= self._times(timeout_s)
        metadata = fields.pop("metadata", None)
        body = encode(fields)
        mark = None if number is None else marks.mark_of(number, body)
        told = metadata if mark is None else marks.marked(metadata, mark)
        if told is not None:
            body = body[:-1] + b"," + encode({"metadata": told})[1:]
        if len(body) > self.max_bytes or (
            len(body) > MAX_TEXT_BYTES and longest_text(fields) > MAX_TEXT_BYTES
        ):
            return self.failed(too_long.request_failure(len(body)))
        return Written(body=body, mark=mark)

    @property
    def path(self) -> str:
        """Where the request is sent to."""
        return f"/v1/{self.kind}"

    def _times(self, timeout_s: float) -> dict[str, float]:
        """What the service is told of a call's time. Raises InvalidRequest."""
        return {"timeout_s": min(timeout_s, MAX_GRANTED_S)}

    @abstractmethod
    def _known(self, fields: dict[str, Any]) -> R_co | None:
        """The result where it needs no judge; may change ``fields`` instead."""

    @abstractmethod
    def _own(self, settings: Settings) -> dict[str, Any]:
        """The fields of this kind."""

    @abstractmethod
    def read(self, answer: object) -> R_co:
        """The result that the service's answer is."""

    @abstractmethod
    def failed(self, failure: Failure) -> R_co:
        """The result when there is no answer."""


@dataclass(frozen=True, kw_only=True)
class Assess(Request[AssessOutcome]):
    """One candidate on a rubric."""

    kind: ClassVar[Kind] = "assess"

    candidate: CandidateLike

    def _own(self, settings: Settings) -> dict[str, Any]:
        return {"candidate": candidate_body(self.candidate, settings, "candidate")}

    def _known(self, fields: dict[str, Any]) -> AssessOutcome | None:
        length = too_long.excess(fields["candidate"])
        return too_long.assessed(fields, length) if length else None

    def read(self, answer: object) -> AssessOutcome:
        """The assessment."""
        return read_assess(answer)

    def failed(self, failure: Failure) -> AssessOutcome:
        """No assessment."""
        return AssessFailed(error=failure)


@dataclass(frozen=True, kw_only=True)
class Compare(Request[CompareOutcome]):
    """Two candidates against each other, in both orders."""

    kind: ClassVar[Kind] = "compare"

    first: CandidateLike
    second: CandidateLike

    def _own(self, settings: Settings) -> dict[str, Any]:
        pair = [("first", self.first), ("second", self.second)]
        return {"candidates": [candidate_body(given, settings, name) for name, given in pair]}

    def _known(self, fields: dict[str, Any]) -> CompareOutcome | None:
        lengths = [too_long.excess(candidate) for candidate in fields["candidates"]]
        return too_long.compared(fields, lengths) if any(lengths) else None

    def read(self, answer: object) -> CompareOutcome:
        """The comparison."""
        return read_compare(answer)

    def failed(self, failure: Failure) -> CompareOutcome:
        """No comparison."""
        return CompareFailed(error=failure)


@dataclass(frozen=True, kw_only=True)
class Rank(Request[RankOutcome]):
    """A group of 2 to 64 candidates for one prompt."""

    kind: ClassVar[Kind] = "rank"
    max_bytes: ClassVar[int] = 64 * MIB

    candidates: Sequence[CandidateLike]
    strategy: Literal["auto", "assess", "pairwise", "listwise"] = "auto"
    max_calls: int | None = None

    def _own(self, settings: Settings) -> dict[str, Any]:
        members = [
            candidate_body(given, settings, f"candidates[{at}]")
            for at, given in enumerate(self.candidates)
        ]
        more = {} if self.max_calls is None else {"max_calls": self.max_calls}
        return {"candidates": members, "strategy": self.strategy, **more}

    def _known(self, fields: dict[str, Any]) -> None:
        fields["candidates"] = [too_long.emptied(member) for member in fields["candidates"]]

    def read(self, answer: object) -> RankOutcome:
        """The ranking."""
        ids = [own.id if isinstance(own, Candidate) else None for own in self.candidates]
        return read_rank(answer, ids)

    def failed(self, failure: Failure) -> RankOutcome:
        """No ranking."""
        return RankFailed(error=failure)


@dataclass(frozen=True, kw_only=True)
class Join(Request[JoinOutcome]):
    """One member of a group that others complete. The call is held until ``size`` members are
    there, or until ``deadline_s`` (half of the call's time unless given); what is left of the
    call's time is for judging. ``partial`` says what becomes of an incomplete group.
    """

    kind: ClassVar[Kind] = "join"
    max_bytes: ClassVar[int] = 64 * MIB

    group: str
    size: int
    member: str
    candidate: CandidateLike
    deadline_s: float | None = None
    partial: Literal["fail"] | Mapping[str, int] = "fail"
    run: str | None = None

    @property
    def path(self) -> str:
        """Where the request is sent to."""
        return "/v1/groups/join"

    def _own(self, settings: Settings) -> dict[str, Any]:
        more = {} if self.run is None else {"run": self.run}
        return {
            "group": self.group,
            "size": self.size,
            "member": self.member,
            "candidate": candidate_body(self.candidate, settings, "candidate"),
            "partial": self.partial if isinstance(self.partial, str) else dict(self.partial),
            **more,
        }

    def _times(self, timeout_s: float) -> dict[str, float]:
        whole = service_time(timeout_s)
        wait = whole / 2 if self.deadline_s is None else self.deadline_s
        if not 0 < wait < whole:
            raise InvalidRequest(
                f"deadline_s: {wait:g} s of waiting leave no time to judge in {timeout_s:g} s",
                field="deadline_s",
            )
        judging = min(whole - wait, MAX_GRANTED_S)
        return {"deadline_s": min(wait, MAX_GRANTED_S), "timeout_s": judging}

    def _known(self, fields: dict[str, Any]) -> None:
        fields["candidate"] = too_long.emptied(fields["candidate"])

    def read(self, answer: object) -> JoinOutcome:
        """The member's share."""
        return read_join(answer)

    def failed(self, failure: Failure) -> JoinOutcome:
        """No share."""
        return JoinFailed(error=failure)


def failed_all(requests: Sequence[Request[R]]) -> Callable[[Failure], list[R]]:
    """What becomes of all of these requests by one failure: a result for each, in order."""
    return lambda failure: [request.failed(failure) for request in requests]
