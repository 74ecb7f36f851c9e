"""What callers send: the wire schemas of requests, strict and closed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from judge_service.candidate.message_schema import (
    MANY,
    MAX_MESSAGES,
    ONE,
    MessageBody,
    Text,
    Wire,
    Word,
    one_of,
    text_or_list,
)
from judge_service.cohort.request import DEFAULT_DEADLINE_S, JoinRequest
from judge_service.request import (
    DEFAULT_TIMEOUT_S,
    MAX_GROUP,
    MAX_TIMEOUT_S,
    MIN_GROUP,
    AssessRequest,
    CompareRequest,
    Purpose,
    RankRequest,
    Strategy,
)
from judge_service.rubric.rubric import ID_PATTERN
from judge_service.types import Candidate, Prompt

_NO_CONTROLS = r"^[^\x00-\x1f\x7f]*$"
Name = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=_NO_CONTROLS)]
FamilyWord = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^\s\x00-\x1f\x7f]+$")
]
Messages = Annotated[list[MessageBody], Field(max_length=MAX_MESSAGES, fail_fast=True)]


class CandidateBody(Wire):
    """What is judged: exactly one of ``text`` and ``messages``."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": [one], "properties": {one: {"type": kind}, other: {"type": "null"}}}
                for one, kind, other in (
                    ("text", "string", "messages"), ("messages", "array", "text"),
                )
            ]
        }
    )  # fmt: skip

    id: Word | None = None
    text: Text | None = None
    messages: Messages | None = None
    policy_model: Name | None = None
    family: (
        Annotated[
            Annotated[FamilyWord, Tag(ONE)]
            | Annotated[list[FamilyWord], Field(min_length=1, max_length=8), Tag(MANY)],
            one_of("a word or a list of words", text_or_list),
        ]
        | None
    ) = None
    finish_reason: Annotated[str, StringConstraints(max_length=64)] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> CandidateBody:
        if (self.text is None) == (self.messages is None):
            raise ValueError("give exactly one of text and messages")
        return self

    def domain(self) -> Candidate:
        """The core's form."""
        family = [self.family] if isinstance(self.family, str) else self.family or []
        return Candidate(
            id=self.id,
            text=self.text,
            messages=None
            if self.messages is None
            else tuple(message.domain() for message in self.messages),
            policy_model=self.policy_model,
            families=frozenset(family),
            finish_reason=self.finish_reason,
        )


class RequestBody(Wire):
    """The fields of every judging request."""

    rubric: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    prompt: Annotated[
        Annotated[Text, Tag(ONE)] | Annotated[Messages, Field(min_length=1), Tag(MANY)],
        one_of("a text or a list of messages", text_or_list),
    ]
    reference: Text | None = None
    timeout_s: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S)] = DEFAULT_TIMEOUT_S
    judges: (
        Annotated[
            list[Annotated[str, StringConstraints(pattern=ID_PATTERN)]],
            Field(min_length=1, max_length=64),
        ]
        | None
    ) = None
    panel_size: Annotated[int, Field(ge=1, le=9)] | None = None
    purpose: Purpose | None = None
    metadata: dict[str, Any] | None = None
    audit: bool = False

    def _fields(self, timeout_s: float | None) -> dict[str, Any]:
        """The common fields in the core's form; ``timeout_s`` replaces the body's own."""
        prompt: Prompt = (
            self.prompt
            if isinstance(self.prompt, str)
            else tuple(message.domain() for message in self.prompt)
        )
        return {
            "rubric": self.rubric,
            "prompt": prompt,
            "reference": self.reference,
            "timeout_s": self.timeout_s if timeout_s is None else timeout_s,
            "judges": None if self.judges is None else tuple(self.judges),
            "panel_size": self.panel_size,
            "purpose": self.purpose,
            "metadata": self.metadata,
            "audit": self.audit,
        }


ASSESS_EXAMPLE: dict[str, Any] = {
    "rubric": "quick-look",
    "prompt": "How do I keep basil alive indoors?",
    "candidate": {
        "text": "Give it six hours of light, water it when the top of the soil is dry, and pinch "
        "off the tips every week so that it grows bushy instead of flowering.",
        "policy_model": "qwen3-4b",
    },
    "timeout_s": 120,
}
COMPARE_EXAMPLE: dict[str, Any] = {
    "rubric": "pairwise-helpfulness",
    "prompt": "How do I keep basil alive indoors?",
    "candidates": [
        {"text": "Water it when the top of the soil is dry and give it six hours of light."},
        {"text": "Basil is a plant. Plants are great. Good luck!"},
    ],
    "timeout_s": 120,
}


class AssessBody(RequestBody):
    """``POST /v1/assess``: one candidate on a rubric."""

    model_config = ConfigDict(json_schema_extra={"examples": [ASSESS_EXAMPLE]})

    candidate: CandidateBody

    def request(self, timeout_s: float | None = None) -> AssessRequest:
        """The core's form."""
        return AssessRequest(candidate=self.candidate.domain(), **self._fields(timeout_s))


class CompareBody(RequestBody):
    """``POST /v1/compare``: two candidates, in both orders."""

    model_config = ConfigDict(json_schema_extra={"examples": [COMPARE_EXAMPLE]})

    candidates: Annotated[list[CandidateBody], Field(min_length=2, max_length=2)]

    def request(self, timeout_s: float | None = None) -> CompareRequest:
        """The core's form."""
        first, second = (candidate.domain() for candidate in self.candidates)
        return CompareRequest(candidates=(first, second), **self._fields(timeout_s))


RANK_EXAMPLE: dict[str, Any] = {
    "rubric": "pairwise-helpfulness",
    "prompt": "How do I keep basil alive indoors?",
    "candidates": [
        {"text": "Water it when the top of the soil is dry and give it six hours of light."},
        {"text": "Water it every day."},
        {"text": "Basil is a plant. Plants are great. Good luck!"},
    ],
    "timeout_s": 300,
}


class RankBody(RequestBody):
    """``POST /v1/rank``: a group of 2 to 64 candidates. ``max_calls`` bounds the verdicts asked."""

    model_config = ConfigDict(json_schema_extra={"examples": [RANK_EXAMPLE]})

    candidates: Annotated[
        list[CandidateBody], Field(min_length=MIN_GROUP, max_length=MAX_GROUP, fail_fast=True)
    ]
    strategy: Strategy = "auto"
    max_calls: Annotated[int, Field(ge=1, le=100_000)] | None = None

    def request(self, timeout_s: float | None = None) -> RankRequest:
        """The core's form."""
        return RankRequest(
            candidates=tuple(candidate.domain() for candidate in self.candidates),
            strategy=self.strategy,
            max_calls=self.max_calls,
            **self._fields(timeout_s),
        )


JOIN_EXAMPLE: dict[str, Any] = {
    "group": "step-12/prompt-7",
    "size": 8,
    "member": "0",
    "rubric": "helpfulness",
    "prompt": "How do I keep basil alive indoors?",
    "candidate": {
        "text": "Water it when the top of the soil is dry and give it six hours of light.",
        "policy_model": "qwen3-4b",
    },
    "deadline_s": 60,
    "timeout_s": 120,
}


class AtLeast(Wire):
    """A group that is judged at its deadline with at least so many members."""

    at_least: Annotated[int, Field(ge=2, le=MAX_GROUP)]


class JoinBody(RequestBody):
    """``POST /v1/groups/join``: one member of a group of ``size``.

    ``deadline_s`` is how long the group is waited for from its first member on, ``timeout_s`` how
    long judging may take after that. ``run`` keeps the names of one training run apart from
    another's.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [JOIN_EXAMPLE]})

    group: Name
    size: Annotated[int, Field(ge=1, le=MAX_GROUP)]
    member: Name
    run: Annotated[str, StringConstraints(max_length=512, pattern=_NO_CONTROLS)] = ""
    candidate: CandidateBody
    deadline_s: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S)] = DEFAULT_DEADLINE_S
    partial: Annotated[
        Annotated[Literal["fail"], Tag(ONE)] | Annotated[AtLeast, Tag(MANY)],
        Discriminator(
            lambda value: ONE if isinstance(value, str) else MANY,
        ),
    ] = "fail"

    def request(self, timeout_s: float | None = None) -> JoinRequest:
        """The core's form."""
        return JoinRequest(
            group=self.group,
            size=self.size,
            member=self.member,
            run=self.run,
            candidate=self.candidate.domain(),
            deadline_s=self.deadline_s,
            at_least=None if isinstance(self.partial, str) else self.partial.at_least,
            **self._fields(timeout_s),
        )
