"""What is judged, in the form the service reads, and how long it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge_client.errors import ConfigError, InvalidRequest
from judge_client.settings import Settings, families

MAX_TEXT_BYTES = 1024 * 1024
"""What the service takes as one text."""
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One candidate: exactly one of ``text`` and ``messages`` (a chat whose last assistant turn is
    judged). ``family`` or ``policy_model`` say who wrote it, so that no relative judges it; where
    neither is given, the client's settings count.
    """

    text: str | None = None
    messages: Sequence[Mapping[str, Any]] | None = None
    id: str | None = None
    policy_model: str | None = None
    family: str | Sequence[str] | None = None
    finish_reason: str | None = None


CandidateLike = str | Sequence[Mapping[str, Any]] | Mapping[str, Any] | Candidate
"""A text, a list of chat messages, the service's own form, or a Candidate."""


def candidate_body(given: CandidateLike, settings: Settings, field: str) -> dict[str, Any]:
    """The service's form. Raises InvalidRequest."""
    body = _form(given, field)
    if body.get("family") is None and body.get("policy_model") is None:
        if settings.family:
            body["family"] = list(settings.family)
        elif settings.policy_model is not None:
            body["policy_model"] = settings.policy_model
    return {name: value for name, value in body.items() if value is not None}


def _form(given: object, field: str) -> dict[str, Any]:
    if isinstance(given, str):
        return {"text": given}
    if isinstance(given, Candidate):
        return {
            "text": given.text,
            "messages": None if given.messages is None else list(given.messages),
            "id": given.id,
            "policy_model": given.policy_model,
            "family": _families(given.family, field),
            "finish_reason": given.finish_reason,
        }
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, Sequence) and all(isinstance(turn, Mapping) for turn in given):
        return {"messages": list(given)}
    raise InvalidRequest(f"{field}: neither a text nor messages nor a candidate", field=field)


def _families(family: str | Sequence[str] | None, field: str) -> list[str] | None:
    if family is None:
        return None
    try:
        return list(families(f"{field}.family", family))
    except ConfigError as wrong:
        raise InvalidRequest(str(wrong), field=f"{field}.family") from None


def prompt_body(prompt: object) -> Any:
    """A prompt in the service's form: a text or a list of messages. Raises InvalidRequest."""
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, Sequence) and all(isinstance(turn, Mapping) for turn in prompt):
        return list(prompt)
    raise InvalidRequest("prompt: neither a text nor a list of messages", field="prompt")


def written_bytes(candidate: Mapping[str, Any]) -> tuple[int, int]:
    """How much the policy wrote, in bytes: the longest single text, and all of it."""
    if isinstance(candidate.get("text"), str):
        length = size(candidate["text"])
        return length, length
    turns = candidate.get("messages")
    found = [
        size(turn.get(part))
        for turn in (turns if isinstance(turns, list) else [])
        if isinstance(turn, Mapping) and turn.get("role") == "assistant"
        for part in ("content", "tool_calls", "refusal", "reasoning_content")
    ]
    return max(found, default=0), sum(found)


def size(value: object) -> int:
    """The bytes of all texts in ``value``."""
    return sum(_lengths(value))


def longest_text(value: object) -> int:
    """The bytes of the longest single text in ``value``."""
    return max(_lengths(value), default=0)


def _lengths(value: object) -> Iterator[int]:
    """The lengths of the texts in ``value``; no deeper than the service takes it."""
    stack: list[tuple[object, int]] = [(value, 0)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, str):
            yield len(item) if item.isascii() else len(item.encode("utf-8", "surrogatepass"))
        elif depth < _MAX_DEPTH and isinstance(item, Mapping):
            stack += [(part, depth + 1) for part in item.values()]
        elif depth < _MAX_DEPTH and isinstance(item, (list, tuple)):
            stack += [(part, depth + 1) for part in item]
