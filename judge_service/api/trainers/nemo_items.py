"""Items of the Responses protocol, as NeMo Gym sends them, as chat messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from judge_service.api.trainers.texts import call_of, content_of, object_of, role_of, wrong
from judge_service.candidate.message_schema import MAX_MESSAGES
from judge_service.types import Message, ToolCall


def messages_of_items(value: Any, field: str) -> tuple[Message, ...]:
    """The turns of a list of items: messages, calls and what came of them.

    A call belongs to the assistant's turn before it. Reasoning is not part of what was said.
    Raises Problem 422.
    """
    if not isinstance(value, list):
        raise wrong(field, "must be a list of items")
    if len(value) > MAX_MESSAGES:
        raise wrong(field, f"may have at most {MAX_MESSAGES:,} items")
    found: list[Message] = []
    for number, one in enumerate(value):
        where = f"{field}[{number}]"
        _add(found, object_of(one, where), where)
    return tuple(found)


def _add(found: list[Message], item: dict[str, Any], where: str) -> None:
    kind = item.get("type", "message")
    if not isinstance(kind, str):
        raise wrong(f"{where}.type", "must be a word")
    if kind == "reasoning":
        return
    if kind == "message":
        found.append(_message(item, where))
    elif kind.endswith("_output"):
        found.append(_output(item, where))
    elif kind == "function_call":
        _called(found, call_of(item.get("name"), item.get("arguments"), item.get("call_id")))
    else:
        # A call of a tool that the model's server runs by itself.
        rest = {key: told for key, told in item.items() if key not in ("type", "id", "status")}
        _called(found, call_of(kind, rest, item.get("id")))


def _called(found: list[Message], call: ToolCall) -> None:
    if found and found[-1].role == "assistant":
        found[-1] = replace(found[-1], tool_calls=(*found[-1].tool_calls, call))
    else:
        found.append(Message(role="assistant", tool_calls=(call,)))


def _message(item: dict[str, Any], where: str) -> Message:
    role = role_of(item.get("role", "assistant"), f"{where}.role")
    text = content_of(item.get("content"), f"{where}.content")
    calls = [one for one in _list(item.get("tool_calls")) if isinstance(one, dict)]
    functions = [(one, one["function"]) for one in calls if isinstance(one.get("function"), dict)]
    return Message(
        role=role,
        text=text,
        tool_calls=tuple(
            call_of(function.get("name"), function.get("arguments"), one.get("id"))
            for one, function in functions
        ),
    )


def _output(item: dict[str, Any], where: str) -> Message:
    output = item.get("output")
    if isinstance(output, (str, list)) or output is None:
        text = content_of(output, f"{where}.output")
    else:
        text = json.dumps(output, ensure_ascii=False)
    call_id = item.get("call_id")
    return Message(
        role="tool", text=text, tool_call_id=call_id[:128] if isinstance(call_id, str) else None
    )


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
