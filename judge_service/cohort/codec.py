"""Members of a cohort as JSON, for the store: what one replica writes another one judges."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from judge_service.cohort.request import JoinRequest
from judge_service.types import Candidate, Message, Prompt, ToolCall

_SHARED = (
    "rubric", "reference", "panel_size", "tenant", "size", "at_least", "audit", "held", "alike",
)  # fmt: skip


def common_hash(request: JoinRequest) -> str:
    """SHA-256 (hex) of what all members of a group have in common: what is asked, and of whom."""
    shared: dict[str, Any] = {name: getattr(request, name) for name in _SHARED}
    shared["prompt"] = _prompt(request.prompt)
    shared["judges"] = request.judges
    if request.purpose is not None:
        shared["purpose"] = request.purpose  # without one, groups keep the hashes they had
    return _hash(shared)


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    """A candidate as plain JSON values."""
    data = asdict(candidate)
    data["families"] = sorted(candidate.families)
    return data


def candidate_hash(candidate: Candidate) -> str:
    """SHA-256 (hex) of a candidate, to tell whether a member came back with the same one."""
    return _hash(candidate_json(candidate))


def candidate_of(data: Mapping[str, Any]) -> Candidate:
    """A candidate from its JSON values, as this module wrote them."""
    messages = data["messages"]
    return Candidate(
        id=data["id"],
        text=data["text"],
        messages=None if messages is None else tuple(_message(m) for m in messages),
        policy_model=data["policy_model"],
        families=frozenset(data["families"]),
        finish_reason=data["finish_reason"],
    )


def _message(data: Mapping[str, Any]) -> Message:
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    return Message(**{**data, "tool_calls": calls})


def _prompt(prompt: Prompt) -> Any:
    return prompt if isinstance(prompt, str) else [asdict(message) for message in prompt]


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
