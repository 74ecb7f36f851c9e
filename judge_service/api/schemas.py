"""What callers send: the wire schemas of requests, strict and closed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from judge_service.request import DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S
from judge_service.rubric import ID_PATTERN
from judge_service.types import Candidate, Message, Prompt, ToolCall

MAX_TEXT_BYTES = 1024 * 1024


def _bounded(text: str) -> str:
    if len(text) > MAX_TEXT_BYTES or len(text.encode()) > MAX_TEXT_BYTES:
        raise ValueError(f"a text may have at most {MAX_TEXT_BYTES:,} bytes")
    return text


Text = Annotated[str, AfterValidator(_bounded)]
Word = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")
]
FamilyWord = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^\S+$")]


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
    """One part of a message's content. Only text is judged; other parts are named, not shown."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    type: Word = "text"
    text: Text | None = None

    def domain(self) -> str:
        """The text, or a placeholder that says what stood there."""
        return self.text if self.text is not None else f"({self.type} part, not shown)"


class MessageBody(Wire):
    """A chat message. System, developer and tool turns are data like all the rest."""

    role: Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,32}$")]
    content: Text | list[PartBody] | None = None
    name: Word | None = None
    tool_calls: list[ToolCallBody] | None = None
    tool_call_id: Word | None = None
    refusal: Text | None = None
    reasoning_content: Text | None = None

    def domain(self) -> Message:
        """The core's form. A model's separate reasoning is not part of what it said."""
        content = self.content
        if isinstance(content, list):
            text = "\n".join(part.domain() for part in content)
        else:
            text = content if content is not None else self.refusal or ""
        return Message(
            role=self.role,
            text=text,
            name=self.name,
            tool_calls=tuple(call.domain() for call in self.tool_calls or ()),
            tool_call_id=self.tool_call_id,
        )


class CandidateBody(Wire):
    """What is judged: exactly one of ``text`` and ``messages``."""

    id: Word | None = None
    text: Text | None = None
    messages: list[MessageBody] | None = None
    policy_model: Annotated[str, StringConstraints(min_length=1, max_length=512)] | None = None
    family: FamilyWord | Annotated[list[FamilyWord], Field(min_length=1, max_length=8)] | None = (
        None
    )
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
    prompt: Text | Annotated[list[MessageBody], Field(min_length=1)]
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
    metadata: dict[str, Any] | None = None
    audit: bool = False

    def domain_prompt(self) -> Prompt:
        """The prompt in the core's form."""
        if isinstance(self.prompt, str):
            return self.prompt
        return tuple(message.domain() for message in self.prompt)


ASSESS_EXAMPLE: dict[str, Any] = {
    "rubric": "helpfulness",
    "prompt": "How do I keep basil alive indoors?",
    "candidate": {
        "text": "Give it six hours of light, water it when the top of the soil is dry, and pinch "
        "off the tips every week so that it grows bushy instead of flowering.",
        "policy_model": "qwen3-4b",
    },
}
COMPARE_EXAMPLE: dict[str, Any] = {
    "rubric": "pairwise-helpfulness",
    "prompt": "How do I keep basil alive indoors?",
    "candidates": [
        {"text": "Water it when the top of the soil is dry and give it six hours of light."},
        {"text": "Basil is a plant. Plants are great. Good luck!"},
    ],
}


class AssessBody(RequestBody):
    """``POST /v1/assess``: one candidate on a rubric."""

    model_config = ConfigDict(json_schema_extra={"examples": [ASSESS_EXAMPLE]})

    candidate: CandidateBody


class CompareBody(RequestBody):
    """``POST /v1/compare``: two candidates, in both orders."""

    model_config = ConfigDict(json_schema_extra={"examples": [COMPARE_EXAMPLE]})

    candidates: Annotated[list[CandidateBody], Field(min_length=2, max_length=2)]
