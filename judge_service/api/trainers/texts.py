"""What trainers send, as the core's messages: read leniently, since each has fields of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from judge_service.api.problems import Problem
from judge_service.candidate.message_schema import MAX_MESSAGES, MAX_TEXT_BYTES, is_long
from judge_service.candidate.role import role_or_user
from judge_service.rubric.rubric import Rubric
from judge_service.text.parts import said
from judge_service.types import Message, ToolCall

MAX_NAME_CHARS = 128
_ROLES = {"model": "assistant", "ai": "assistant", "human": "user", "function": "tool"}


def wrong(field: str, message: str) -> Problem:
    """422 for a field of the body; values are not echoed."""
    return Problem(422, "invalid_request", f"{field}: {message}", field=field)


def object_of(value: Any, field: str) -> dict[str, Any]:
    """A JSON object. Raises Problem 422."""
    if not isinstance(value, dict):
        raise wrong(field, "must be an object")
    return value


def text_of(value: Any, field: str) -> str:
    """A text of any length. Raises Problem 422."""
    if not isinstance(value, str):
        raise wrong(field, "must be a text")
    return value


def bounded(text: str, field: str) -> str:
    """A text that may be shown to a judge. Raises Problem 422."""
    if is_long(text):
        raise wrong(field, f"a text may have at most {MAX_TEXT_BYTES:,} bytes")
    return text


def reference_of(label: Any, rubric: Rubric, field: str) -> str | None:
    """A trainer's label as the rubric's reference: None where there is none or none is taken.

    Trainers send an empty text where a data set has no label. What is no text is given as JSON.
    Raises Problem 422 where the rubric needs one.
    """
    text = label if isinstance(label, str) else None if label is None else json.dumps(
        label, ensure_ascii=False
    )  # fmt: skip
    if rubric.judging.reference == "forbidden":
        return None
    if text is None or not text.strip():
        if rubric.judging.reference == "required":
            raise wrong(field, f"rubric {rubric.id!r} needs a reference, and this is empty")
        return None
    return bounded(text, field)


def messages_of(value: Any, field: str) -> tuple[Message, ...]:
    """Chat messages. Fields that say nothing of the conversation are passed over.

    Raises Problem 422.
    """
    if not isinstance(value, list) or not value:
        raise wrong(field, "must be a list of messages")
    if len(value) > MAX_MESSAGES:
        raise wrong(field, f"may have at most {MAX_MESSAGES:,} messages")
    return tuple(message_of(one, f"{field}[{n}]") for n, one in enumerate(value))


def message_of(value: Any, field: str) -> Message:
    """One chat message. Raises Problem 422."""
    data = object_of(value, field)
    calls = data.get("tool_calls") or []
    if not isinstance(calls, list):
        raise wrong(f"{field}.tool_calls", "must be a list")
    return Message(
        role=role_of(data.get("role"), f"{field}.role"),
        text=bounded(content_of(data.get("content"), f"{field}.content"), f"{field}.content"),
        name=_name(data.get("name")),
        tool_calls=tuple(_call(call, f"{field}.tool_calls[{n}]") for n, call in enumerate(calls)),
        tool_call_id=_name(data.get("tool_call_id")),
    )


def role_of(value: Any, field: str) -> str:
    """Who speaks, in a chat's words; the user, where no request may have that word.

    Raises Problem 422 where nothing says who.
    """
    role = text_of(value, field).strip().lower()
    if not role:
        raise wrong(field, "must be a word such as user or assistant")
    return role_or_user(_ROLES.get(role, role))


def content_of(value: Any, field: str) -> str:
    """What is said: a text, parts of which only texts are shown, or nothing. Raises Problem 422."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise wrong(field, "must be a text, a list of parts or null")
    told = (_part(part, f"{field}[{n}]") for n, part in enumerate(value))
    return "\n".join(text for text in told if text is not None)


def call_of(name: Any, arguments: Any, call_id: Any) -> ToolCall:
    """A tool call; arguments that are no text are given as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(
        name=_name(name) or "tool", arguments="" if arguments is None else text, id=_name(call_id)
    )


def first_there(sources: Sequence[Any], names: Sequence[str]) -> Any:
    """The first of ``names`` that one of the objects has a value for."""
    for source in sources:
        for name in names:
            if isinstance(source, Mapping) and source.get(name) not in (None, ""):
                return source[name]
    return None


def _part(value: Any, field: str) -> str | None:
    if isinstance(value, str):
        return value
    part = object_of(value, field)
    if part.get("type") == "text" and part.get("text") is None:
        return None
    return said(part)


def _call(value: Any, field: str) -> ToolCall:
    call = object_of(value, field)
    function = call.get("function", call)
    inner = object_of(function, f"{field}.function")
    return call_of(inner.get("name"), inner.get("arguments"), call.get("id"))


def _name(value: Any) -> str | None:
    return value[:MAX_NAME_CHARS] if isinstance(value, str) and value else None
