"""Messages as a trainer hands them over, checked: each says who speaks, and what is said.

Lists, tuples and arrays of mappings, or of models such as pydantic's, are messages. Nothing else
is, for what is taken for an empty conversation gets an empty answer's reward.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from judge_client.errors import InvalidRequest
from judge_client.parts import said
from judge_client.turns import as_text
from judge_client.values import listed, mapping, plain

Message = dict[str, Any]
_ROLE = re.compile(r"[a-z_]{1,32}")
_TOOLS = ("tool", "function", "observation", "ipython")
"""Who may say what is no text: a tool's result is data."""


def messages_of(value: Any, field: str) -> list[Message]:
    """The messages of a list. Raises InvalidRequest, which names the place in ``field``."""
    given = listed(value)
    if not isinstance(given, list):
        refuse(field, "neither a text nor a list of messages")
    return [_message(one, f"{field}[{at}]") for at, one in enumerate(given)]


def _message(value: Any, field: str) -> Message:
    turn = mapping(value)
    if turn is None:
        refuse(field, "no message")
    role = turn.get("role")
    if not isinstance(role, str) or not _ROLE.fullmatch(role.strip().lower()):
        refuse(f"{field}.role", "no word for who speaks")
    turn["content"] = _content(turn.get("content"), role.strip().lower(), f"{field}.content")
    calls = listed(turn.get("tool_calls"))
    if isinstance(calls, list):
        places = (f"{field}.tool_calls[{number}]" for number in range(len(calls)))
        turn["tool_calls"] = [_call(*one) for one in zip(calls, places, strict=True)]
    return turn


def _content(value: Any, role: str, field: str) -> Any:
    if value is None or isinstance(value, str):
        return value
    parts = listed(value)
    if isinstance(parts, (str, list)):
        return parts if isinstance(parts, str) else _parts(parts, field)
    if role in _TOOLS:
        return as_text(plain(value, field=field), field)
    refuse(field, "neither a text nor a list of parts")


def _parts(parts: list[Any], field: str) -> list[Any]:
    found: list[Any] = []
    for at, one in enumerate(parts):
        part = one if isinstance(one, str) else mapping(one)
        if part is None:
            refuse(f"{field}[{at}]", "neither a text nor an object")
        if not isinstance(part, str):
            said(part, f"{field}[{at}]")
        found.append(part)
    return found


def _call(value: Any, field: str) -> Any:
    """A tool call, and the function in it, as dicts where they are models or JSON texts."""
    call = mapping(_read(value) if isinstance(value, str) else value)
    if call is None:
        refuse(field, "no tool call")
    function = mapping(call.get("function"))
    return plain(call if function is None else {**call, "function": function}, field=field)


def _read(text: str) -> Any:
    """The value of a JSON text; None for what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def refuse(field: str, why: str) -> NoReturn:
    """Raises InvalidRequest for what stands at ``field``."""
    raise InvalidRequest(f"{field}: {why}", field=field)
