"""A part of a message's content, as it is judged: one reading for all protocols.

Chat messages may hold lists of parts. What a model thought is not part of what it said, whichever
field or type a protocol has for it; a refusal is said; what is no text is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MAX_KIND_CHARS = 32
# thinking, redacted_thinking (Anthropic, Mistral), reasoning, reasoning_text (OpenAI),
# reasoningContent (Bedrock), thought.
_REASONING = re.compile(r"(?:redacted[_-]?)?(?:thinking|reasoning|thought)", re.IGNORECASE)


def is_reasoning(part: Mapping[str, Any]) -> bool:
    """Whether a part is what the model thought: by its type, or by Gemini's mark."""
    kind = part.get("type")
    named = isinstance(kind, str) and _REASONING.match(kind) is not None
    return named or part.get("thought") is True


def said(part: Mapping[str, Any]) -> str | None:
    """The text of a part, or a placeholder that says what stood there; None for reasoning."""
    if is_reasoning(part):
        return None
    kind = part.get("type")
    for name in ("text", "refusal"):
        if isinstance(part.get(name), str):
            return str(part[name])
    shown = kind[:MAX_KIND_CHARS] if isinstance(kind, str) else "unknown"
    return f"({shown} part, not shown)"
