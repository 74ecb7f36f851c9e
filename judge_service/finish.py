"""How a generation ended, in the words of many providers: one normal form, one table."""

from __future__ import annotations

import re

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
CUT_OFF = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_new_tokens", "max_completion_tokens"}
    | {"max_length", "model_length", "context_length", "context_length_exceeded", "incomplete"}
    | {"model_context_window_exceeded", "token_limit", "finish_reason_length", "truncated"}
    | {"finish_reason_max_tokens"}
)
"""The reply stopped before its end, for it ran into a limit of tokens."""
FILTERED = frozenset(
    {"content_filter", "content_filtered", "safety", "sensitive", "recitation", "blocklist"}
    | {"prohibited_content", "spii", "guardrail_intervened", "finish_reason_safety"}
)
"""A provider's filter stopped it."""


def ending(reason: str | None) -> str:
    """A finish reason in lower case with underscores: ``FinishReason.MAX_TOKENS``, ``max-tokens``
    and ``maxTokens`` are ``max_tokens``. "" for None.
    """
    word = (reason or "").strip().rpartition(".")[2]
    return "_".join(_HUMP.sub("_", word).casefold().replace("-", " ").split())
