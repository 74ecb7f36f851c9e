"""How much there is to read, and from where on that is a long text."""

from __future__ import annotations

from collections.abc import Sequence

from judge_service.types import Message

LONG = 20_000
"""From so many characters on, work on a text is done in a thread: it would hold up others."""
_BESIDE = 16
"""What a message or a call takes beside its text, about."""


def size_of(*values: str | Sequence[Message] | None) -> int:
    """The length of texts and messages together, calls included: in characters, about."""
    size = 0
    for value in values:
        if isinstance(value, str):
            size += len(value)
        elif value:
            for message in value:
                size += _BESIDE + len(message.text)
                for call in message.tool_calls:
                    size += _BESIDE + len(call.arguments)
    return size
