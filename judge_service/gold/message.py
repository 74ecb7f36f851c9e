"""A message of a gold line: the chat message of requests, whose calls may be written shorter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from judge_service.candidate.message_schema import (
    MAX_MESSAGES,
    MAX_TOOL_CALLS,
    FunctionBody,
    MessageBody,
    ToolCallBody,
    Word,
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


class _PlainCall(FunctionBody):
    """``{"name", "arguments", "id"}``: a call as it is written."""

    id: Word | None = None


def _chat_call(value: object) -> object:
    """A call in the form of the chat protocol, from either form."""
    if not isinstance(value, Mapping):
        raise PydanticCustomError("form", "must be an object with a function, or with a name")
    if "function" in value:
        return value
    call = _PlainCall.model_validate(value)
    return ToolCallBody(id=call.id, function=call)


AnyCall = Annotated[ToolCallBody, BeforeValidator(_chat_call)]


class GoldMessage(MessageBody):
    """One message; its calls are ``{"name", "arguments", "id"}``, or as in the chat protocol."""

    tool_calls: Annotated[list[AnyCall], counted(0, MAX_TOOL_CALLS, "calls")] | None = None


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
