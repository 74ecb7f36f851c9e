"""A chat message as callers write it, in requests and in gold files: its schema and its bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

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

from judge_service.candidate.role import ROLE_PATTERN
from judge_service.text.parts import said
from judge_service.types import Message, ToolCall

MAX_TEXT_BYTES = 1024 * 1024
MAX_MESSAGES = 4_096
MAX_PARTS = 1_024
MAX_TOOL_CALLS = 1_024
ONE, MANY = FORMS = ("(one)", "(many)")
"""Where a field is one text or a list: the names of the two forms, which no path shows."""


def is_long(text: str) -> bool:
    """Whether a text is longer than any that is judged. Raises UnicodeEncodeError."""
    return len(text) > MAX_TEXT_BYTES or len(text.encode()) > MAX_TEXT_BYTES


def bounded(text: str) -> str:
    """The text. Raises ValueError where it is too long, or none that UTF-8 can hold."""
    try:
        too_long = is_long(text)
    except UnicodeEncodeError:
        raise ValueError("a text holds half of a surrogate pair") from None
    if too_long:
        raise ValueError(f"a text may have at most {MAX_TEXT_BYTES:,} bytes")
    return text


Text = Annotated[str, AfterValidator(bounded)]
Word = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")
]


def one_of(what: str, form: Callable[[object], str | None]) -> Discriminator:
    """Tells the forms of a field apart, so that a fault in one is not reported for the others."""
    return Discriminator(form, custom_error_type="form", custom_error_message=f"must be {what}")


def text_or_list(value: object) -> str | None:
    """The form of a field that is one text or a list."""
    return ONE if isinstance(value, str) else MANY if isinstance(value, list) else None


class Wire(BaseModel):
    """Base of what callers write: strict types, unknown fields refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


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
        defer_build=True,
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

    role: Annotated[str, StringConstraints(pattern=rf"^{ROLE_PATTERN}$")]
    content: (
        Annotated[
            Annotated[Text, Tag(ONE)]
            | Annotated[list[PartBody], Field(max_length=MAX_PARTS, fail_fast=True), Tag(MANY)],
            one_of("a text, a list of parts or null", text_or_list),
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
            bounded(self._text())
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
