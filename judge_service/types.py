"""What callers hand in: messages, tool calls and candidates, as the core sees them.

Plain frozen dataclasses of the standard library; the wire schemas in ``api`` turn JSON into these.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call of an assistant turn. ``arguments`` is the JSON text as the caller sent it."""

    name: str
    arguments: str = ""
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message. ``text`` is the content with its parts joined; "" when there was none."""

    role: str
    text: str = ""
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What is being judged: exactly one of ``text`` and ``messages`` is set.

    ``families`` are the lineages the caller named; they win over ``policy_model``.
    """

    id: str | None = None
    text: str | None = None
    messages: tuple[Message, ...] | None = None
    policy_model: str | None = None
    families: frozenset[str] = frozenset()
    finish_reason: str | None = None


Prompt = str | tuple[Message, ...]
"""A prompt is one text or a list of chat messages."""
