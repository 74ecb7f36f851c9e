"""A part of a message's content, as it is judged: one reading for all protocols.

What a model thought is not part of what it said, whichever field or type a protocol has for it; a
refusal is said; what is no text is named to the judge, and not shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judge_client.errors import InvalidRequest

MAX_KIND = 32
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# thinking, redacted_thinking (Anthropic, Mistral), reasoning, reasoning_text (OpenAI),
# reasoningContent (Bedrock), thought.
_REASONING = re.compile(r"(?:redacted[_-]?)?(?:thinking|reasoning|thought)", re.IGNORECASE)


def said(part: Mapping[str, Any], field: str = "messages") -> str | None:
    """The text of a part; None for one that says nothing: reasoning, a text that is not there, and
    what is no text. Raises InvalidRequest for a text that is none, in the part at ``field``.
    """
    if is_reasoning(part):
        return None
    for name in ("text", "refusal"):
        value = part.get(name)
        if isinstance(value, str):
            return value
        if value is not None:
            where = f"{field}.{name}"
            raise InvalidRequest(f"{where}: not a text", field=where)
    return None


def shown(part: Mapping[str, Any]) -> str | None:
    """What a part that says nothing is called, where the judge is told that it was there."""
    kind = kind_of(part)
    says_nothing = is_reasoning(part) or kind.endswith("text") or kind == "refusal"
    return None if says_nothing else _CONTROL.sub("?", kind)[:MAX_KIND]


def is_reasoning(part: Mapping[str, Any]) -> bool:
    """Whether a part is what the model thought: by its type, or by Gemini's mark."""
    return _REASONING.match(kind_of(part)) is not None or part.get("thought") is True


def kind_of(part: Mapping[str, Any]) -> str:
    """The type of a part; of one without, the name of what it holds."""
    kind = part.get("type")
    if isinstance(kind, str) and kind:
        return kind
    held = (str(name) for name, value in part.items() if value is not None and name != "type")
    return next(held, "text")
