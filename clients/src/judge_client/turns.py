"""From an agent's messages, of any shape, to a prompt and the turns that are judged."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_client import parts
from judge_client.errors import InvalidRequest

Turn = dict[str, Any]
_ROLE = re.compile(r"[a-z_]{1,32}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ROLES = {"model": "assistant", "ai": "assistant", "human": "user"}
"""What some call a role, and what it is."""
_SYSTEM_ERROR = "Error:"
MAX_WORD = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What one rollout left: the ``prompt`` before the agent's first turn, the ``turns`` from there
    on, and how it went wrong (``error``), where it says so.
    """

    prompt: list[Turn] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    error: str | None = None
    finish_reason: str | None = None


def conversation(messages: object, marker: str | None) -> Conversation:
    """Read messages: None, an empty list, and turns without role or content are no errors.

    ``marker`` opens the last agent turn of a rollout that failed; so does a lone system message
    that opens with "Error:".
    """
    given = messages if isinstance(messages, (list, tuple)) else []
    turns = [_turn(message) for message in given]
    first = next((at for at, turn in enumerate(turns) if turn["role"] == "assistant"), len(turns))
    return Conversation(
        prompt=turns[:first],
        turns=turns[first:],
        error=_rollout_error(turns, marker),
        finish_reason=_finish_reason(given),
    )


def _rollout_error(turns: Sequence[Turn], marker: str | None) -> str | None:
    said = [turn for turn in turns if turn["role"] == "assistant"]
    if marker is None:
        return None
    if said:
        text = plain(said[-1].get("content")).lstrip()
        return text[:200] if text.startswith(marker) else None
    if len(turns) == 1 and turns[0]["role"] == "system":
        text = plain(turns[0].get("content")).lstrip()
        return text[:200] if text.startswith(_SYSTEM_ERROR) else None
    return None


def _finish_reason(messages: Sequence[object]) -> str | None:
    """How the agent's last turn ended, where the rollout kept it."""
    for message in reversed(messages):
        if isinstance(message, Mapping) and _role(message.get("role")) == "assistant":
            reason = message.get("finish_reason")
            return reason[:64] if isinstance(reason, str) and reason else None
    return None


def _turn(message: object) -> Turn:
    if not isinstance(message, Mapping):
        return {"role": "unknown", "content": as_text(message)}
    found: Turn = {"role": _role(message.get("role")), "content": _content(message.get("content"))}
    calls = _tool_calls(message)
    if calls:
        found["tool_calls"] = calls
    for name in ("name", "tool_call_id"):
        value = message.get(name)
        if isinstance(value, str) and value:
            found[name] = _word(value)
    if isinstance(message.get("refusal"), str):
        found["refusal"] = message["refusal"]
    return found


def _role(value: object) -> str:
    role = value.strip().lower() if isinstance(value, str) else ""
    role = _ROLES.get(role, role)
    return role if _ROLE.fullmatch(role) else "unknown"


def _content(value: object) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        told = [_part(part) for part in value]
        # A content of which nothing is left is none: a refusal beside it counts.
        return [part for part in told if part is not None] or None
    return as_text(value)


def _part(part: object) -> dict[str, Any] | None:
    """A part as the service takes it; None for one that is not part of what was said."""
    if part is None:
        return None
    if not isinstance(part, Mapping):
        return {"type": "text", "text": as_text(part)}
    text = parts.said(part)
    if text is not None:
        return {"type": "text", "text": text}
    kind = parts.shown(part)
    return None if kind is None else {"type": kind}


def _tool_calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    given = list(calls) if isinstance(calls, (list, tuple)) else []
    if not given and isinstance(message.get("function_call"), Mapping):
        given = [{"function": message["function_call"]}]
    return [_tool_call(call) for call in given]


def _tool_call(call: object) -> dict[str, Any]:
    found = call if isinstance(call, Mapping) else {}
    function = found.get("function")
    told = function if isinstance(function, Mapping) else found
    name, arguments = told.get("name"), told.get("arguments")
    made: dict[str, Any] = {
        "type": "function",
        "function": {
            "name": _word(name) if isinstance(name, str) and name else "unknown",
            "arguments": "" if arguments is None else as_text(arguments),
        },
    }
    if isinstance(found.get("id"), str) and found["id"]:
        made["id"] = _word(found["id"])
    return made


def _word(value: str) -> str:
    return _CONTROL.sub("?", value)[:MAX_WORD]


def plain(content: object) -> str:
    """The text of a content: itself, or that of its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def as_text(value: object, field: str = "messages") -> str:
    """A text as it is, anything else as JSON, which has no NaN. Raises InvalidRequest."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise InvalidRequest(f"{field}: what is neither text nor JSON", field=field) from None
