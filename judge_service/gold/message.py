"""A message of a gold line: the chat message of requests, whose calls may be written shorter.

Recorded conversations are taken as they are: ids of any length, names with any characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, StringConstraints, Tag
from pydantic_core import PydanticCustomError

from judge_service.candidate.message_schema import (
    MANY,
    MAX_MESSAGES,
    MAX_PARTS,
    MAX_TOOL_CALLS,
    ONE,
    FunctionBody,
    MessageBody,
    PartBody,
    Text,
    ToolCallBody,
    one_of,
    text_or_list,
)
from judge_service.types import Message


def counted(fewest: int, most: int, what: str = "entries") -> BeforeValidator:
    """Bounds how many entries are given. A bound of the list itself would count those without a
    fault, and report that there are too few beside each fault.
    """
    bounds = str(fewest) if fewest == most else f"{fewest} to {most:,}"

    def check(values: object) -> object:
        if isinstance(values, (list, dict)) and not fewest <= len(values) <= most:
            raise PydanticCustomError("count", f"must have {bounds} {what}")
        return values

    return BeforeValidator(check)


Short = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class _Function(FunctionBody):
    name: Short


class _PlainCall(_Function):
    """``{"name", "arguments", "id"}``: a call as it is written."""

    id: str | None = None


class _ChatCall(ToolCallBody):
    """A call of the chat protocol, whose id may be any: some providers' hold a thought."""

    id: str | None = None
    function: _Function


class _Part(PartBody):
    type: Short = "text"


def _chat_call(value: object) -> _ChatCall:
    """A call in the form of the chat protocol, from either form."""
    if not isinstance(value, Mapping):
        raise PydanticCustomError("form", "must be an object with a function, or with a name")
    if "function" in value:
        return _ChatCall.model_validate(value)
    call = _PlainCall.model_validate(value)
    return _ChatCall(id=call.id, function=call)


AnyCall = Annotated[ToolCallBody, BeforeValidator(_chat_call)]
AnyPart = Annotated[PartBody, BeforeValidator(_Part.model_validate)]


class GoldMessage(MessageBody):
    """One message; its calls are ``{"name", "arguments", "id"}``, or as in the chat protocol."""

    content: (
        Annotated[
            Annotated[Text, Tag(ONE)]
            | Annotated[list[AnyPart], counted(0, MAX_PARTS, "parts"), Tag(MANY)],
            one_of("a text, a list of parts or null", text_or_list),
        ]
        | None
    ) = None
    name: str | None = None
    tool_calls: Annotated[list[AnyCall], counted(0, MAX_TOOL_CALLS, "calls")] | None = None
    tool_call_id: str | None = None


Messages = Annotated[tuple[GoldMessage, ...], counted(1, MAX_MESSAGES, "messages")]


def message_line(message: Message) -> dict[str, Any]:
    """A message as JSON-ready values; ``GoldMessage`` reads it back to the same where its role,
    its texts and its calls' names are within their bounds.
    """
    line: dict[str, Any] = {"role": message.role, "content": message.text}
    for name in ("name", "tool_call_id"):
        value = getattr(message, name)
        line |= {} if value is None else {name: value}
    if message.tool_calls:
        line["tool_calls"] = [
            {"name": call.name, "arguments": call.arguments}
            | ({} if call.id is None else {"id": call.id})
            for call in message.tool_calls
        ]
    return line
