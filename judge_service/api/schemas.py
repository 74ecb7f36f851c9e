"""What callers send: the wire schemas of requests, strict and closed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
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
from judge_service.text.parts import said
from judge_service.types import Candidate, Message, Prompt, ToolCall

MAX_TEXT_BYTES = 1024 * 1024
MAX_MESSAGES = 4_096
MAX_PARTS = 1_024
MAX_TOOL_CALLS = 1_024
_ONE, _MANY = FORMS = ("(one)", "(many)")
"""Where a field is one text or a list: the names of the two forms, which no path shows."""


def _bounded(text: str) -> str:
    if len(text) > MAX_TEXT_BYTES or len(text.encode()) > MAX_TEXT_BYTES:
        raise ValueError(f"a text may have at most {MAX_TEXT_BYTES:,} bytes")
    return text


Text = Annotated[str, AfterValidator(_bounded)]
Word = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")
]
_NO_CONTROLS = r"^[^\x00-\x1f\x7f]*$"
Name = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=_NO_CONTROLS)]
FamilyWord = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^\s\x00-\x1f\x7f]+$")
]


def _one_or_many(what: str) -> Discriminator:
    """Tells a text from a list, so that a fault in one is not reported for the other as well."""
    return Discriminator(
        lambda value: _ONE if isinstance(value, str) else _MANY if _is_list(value) else None,
        custom_error_type="one_or_many",
        custom_error_message=f"must be {what}",
    )


def _is_list(value: object) -> bool:
    return isinstance(value, list)


class Wire(BaseModel):
    """Base of all requests: strict types, unknown fields refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FunctionBody(Wire):
    """The function of a tool call; ``arguments`` is JSON text."""

    name: Word
    arguments: Text = ""


class ToolCallBody(Wire):
    """A tool call of an assistant turn, as in the chat protocol."""

    id: Word | None = None
    type: Literal["function"] = "function"
    function: FunctionBody

    def domain(self) -> ToolCall:
        """The core's form."""
        return ToolCall(name=self.function.name, arguments=self.function.arguments, id=self.id)


class PartBody(BaseModel):
    """One part of a message's content. Only text is judged, a refusal's too; other parts are named,
    not shown, and reasoning is left out.
    """

    model_config = ConfigDict(
        extra="allow",
        strict=True,
        frozen=True,
        json_schema_extra={
            "if": {"properties": {"type": {"const": "text"}}},
            "then": {"required": ["text"], "properties": {"text": {"type": "string"}}},
        },
    )

    type: Word = "text"
    text: Text | None = None

    @model_validator(mode="after")
    def _says_something(self) -> PartBody:
        if self.type == "text" and self.text is None:
            raise ValueError("a text part needs a text")
        return self

    def domain(self) -> str | None:
        """The text, or a placeholder that says what stood there; None for reasoning."""
        return said({**(self.model_extra or {}), "type": self.type, "text": self.text})


class MessageBody(Wire):
    """A chat message. System, developer and tool turns are data like all the rest."""

    role: Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,32}$")]
    content: (
        Annotated[
            Annotated[Text, Tag(_ONE)]
            | Annotated[list[PartBody], Field(max_length=MAX_PARTS, fail_fast=True), Tag(_MANY)],
            _one_or_many("a text, a list of parts or null"),
        ]
        | None
    ) = None
    name: Word | None = None
    tool_calls: (
        Annotated[list[ToolCallBody], Field(max_length=MAX_TOOL_CALLS, fail_fast=True)] | None
    ) = None
    tool_call_id: Word | None = None
    refusal: Text | None = None
    reasoning_content: Text | None = None

    @model_validator(mode="after")
    def _one_text(self) -> MessageBody:
        # The parts of one message are judged as one text.
        if isinstance(self.content, list):
            _bounded(self._text())
        return self

    def _text(self) -> str:
        if isinstance(self.content, list):
            told = (part.domain() for part in self.content)
            return "\n".join(text for text in told if text is not None)
        return self.content if self.content is not None else self.refusal or ""

    def domain(self) -> Message:
        """The core's form. A model's separate reasoning is not part of what it said."""
        return Message(
            role=self.role,
            text=self._text(),
            name=self.name,
            tool_calls=tuple(call.domain() for call in self.tool_calls or ()),
            tool_call_id=self.tool_call_id,
        )


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
            Annotated[FamilyWord, Tag(_ONE)]
            | Annotated[list[FamilyWord], Field(min_length=1, max_length=8), Tag(_MANY)],
            _one_or_many("a word or a list of words"),
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
        Annotated[Text, Tag(_ONE)] | Annotated[Messages, Field(min_length=1), Tag(_MANY)],
        _one_or_many("a text or a list of messages"),
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
        Annotated[Literal["fail"], Tag(_ONE)] | Annotated[AtLeast, Tag(_MANY)],
        Discriminator(
            lambda value: _ONE if isinstance(value, str) else _MANY,
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
