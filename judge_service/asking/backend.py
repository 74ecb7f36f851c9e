"""The seam to the models: what is asked of a judge's provider, and what comes back.

Adapters implement ``Backend``; everything above it knows no provider, no HTTP and no LiteLLM.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from judge_service.judges.judge import JudgeSpec
from judge_service.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCall:
    """One upstream request. ``timeout_s`` is the attempt's time in seconds.

    ``parameters`` are the sampling and reply-form parameters in OpenAI's names; those the provider
    refused before are already left out.
    """

    judge: JudgeSpec
    system: str
    user: str
    parameters: dict[str, Any] = field(default_factory=dict)
    timeout_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What came back. ``content`` is the text as the provider sent it, at most 64 KiB.

    ``model`` is the name the provider says it served, ``system_fingerprint`` what it says of the
    configuration that did, at most 256 characters; ``usage`` counts this one request.
    ``logprobs`` has an entry for each token of the reply where they were asked for, in the form of
    OpenAI's ``logprobs.content`` and as the provider sent them: nobody has checked them.
    """

    content: str | None
    refusal: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    usage: Usage
    reasoning_tokens: int = 0
    logprobs: tuple[object, ...] = ()


class Backend(Protocol):
    """One way of reaching models."""

    async def complete(self, call: ChatCall) -> ChatReply:
        """Send one request, once. Raises a JudgingError, or ParameterRefused."""

    async def context_window(self, judge: JudgeSpec) -> int | None:
        """Input tokens the judge's model takes, or None when that is not known."""

    async def aclose(self) -> None:
        """Release connections."""
