"""A message of a gold line, in the forms of the chat protocol that requests have, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from judge_service.text.parts import said
from judge_service.types import Message, ToolCall

MAX_TEXT_BYTES = 1024 * 1024
MAX_PARTS = 1_024
MAX_TOOL_CALLS = 1_024
MAX_MESSAGES = 4_096


def _bounded(text: str) -> str:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError("a text holds half of a surrogate pair") from None
    if size > MAX_TEXT_BYTES:
        raise ValueError(f"a text may have at most {MAX_TEXT_BYTES:,} bytes")
    return text


Text = Annotated[str, AfterValidator(_bounded)]


def one_of(what: str, forms: Callable[[object], str | None]) -> Discriminator:
    """Tells the forms of a field apart, so that faults of the others are not reported."""
    return Discriminator(forms, custom_error_type="form", custom_error_message=f"must be {what}")


def counted(fewest: int, most: int, what: str = "entries") -> BeforeValidator:
    """Bounds how many entries are given. A bound of the tuple itself would count those without a
    fault, and report that there are too few beside each fault.
    """
    bounds = str(fewest) if fewest == most else f"{fewest} to {most:,}"

    def check(values: object) -> object:
        if isinstance(values, (list, tuple, dict)) and not fewest <= len(values) <= most:
            raise PydanticCustomError("count", f"must have {bounds} {what}")
        return values

    return BeforeValidator(check)


class Line(BaseModel):
    """Base of all objects of a gold line: unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Function(Line):
    name: str = Field(min_length=1, max_length=128)
    arguments: Text = ""


class _Call(_Function):
    """``{"name", "arguments", "id"}``: a call as it is written."""

    id: str | None = None

    def domain(self) -> ToolCall:
        return ToolCall(name=self.name, arguments=self.arguments, id=self.id)


class _ChatCall(Line):
    """``{"id", "type", "function": {"name", "arguments"}}``: a call of the chat protocol."""

    id: str | None = None
    type: Annotated[str, StringConstraints(pattern=r"^function$")] = "function"
    function: _Function

    def domain(self) -> ToolCall:
        return ToolCall(name=self.function.name, arguments=self.function.arguments, id=self.id)


class _Part(BaseModel):
    """A part of a message's content; what it says is what it says in a request."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: Annotated[str, StringConstraints(min_length=1, max_length=128)] = "text"
    text: Text | None = None

    @model_validator(mode="after")
    def _says_something(self) -> _Part:
        if self.type == "text" and self.text is None:
            raise ValueError("a text part needs a text")
        return self

    def told(self) -> str | None:
        return said({**(self.model_extra or {}), "type": self.type, "text": self.text})


def _text_or_list(value: object) -> str | None:
    if isinstance(value, str):
        return "(text)"
    return "(list)" if isinstance(value, (list, tuple)) else None


def _call_form(value: object) -> str | None:
    if isinstance(value, _ChatCall) or (isinstance(value, Mapping) and "function" in value):
        return "(chat)"
    return "(plain)" if isinstance(value, (Mapping, _Call)) else None


Parts = Annotated[tuple[_Part, ...], counted(0, MAX_PARTS, "parts")]
AnyCall = Annotated[
    Annotated[_Call, Tag("(plain)")] | Annotated[_ChatCall, Tag("(chat)")],
    one_of("an object with a function, or with a name", _call_form),
]


class GoldMessage(Line):
    """One message; its parts are one text, and a model's separate reasoning is no part of it."""

    role: Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,32}$")]
    content: (
        Annotated[
            Annotated[Text, Tag("(text)")] | Annotated[Parts, Tag("(list)")],
            one_of("a text, a list of parts or null", _text_or_list),
        ]
        | None
    ) = None
    name: str | None = None
    tool_calls: Annotated[tuple[AnyCall, ...], counted(0, MAX_TOOL_CALLS, "calls")] | None = None
    tool_call_id: str | None = None
    refusal: Text | None = None
    reasoning_content: Text | None = None

    @model_validator(mode="after")
    def _one_text(self) -> GoldMessage:
        _bounded(self._text())
        return self

    def _text(self) -> str:
        if isinstance(self.content, tuple):
            told = (part.told() for part in self.content)
            return "\n".join(text for text in told if text is not None)
        return self.content if self.content is not None else self.refusal or ""

    def domain(self) -> Message:
        """The core's form."""
        return Message(
            role=self.role,
            text=self._text(),
            name=self.name,
            tool_calls=tuple(call.domain() for call in self.tool_calls or ()),
            tool_call_id=self.tool_call_id,
        )


Messages = Annotated[tuple[GoldMessage, ...], counted(1, MAX_MESSAGES, "messages")]


def message_line(message: Message) -> dict[str, Any]:
    """A message as JSON-ready values; ``GoldMessage`` reads it back to the same."""
    line: dict[str, Any] = {"role": message.role, "content": message.text}
    for name in ("name", "tool_call_id"):
        value = getattr(message, name)
        line |= {} if value is None else {name: value}
    if message.tool_calls:
        line["tool_calls"] = [
            {"name": call.name, "arguments": call.arguments, **({"id": call.id} if call.id else {})}
            for call in message.tool_calls
        ]
    return line
