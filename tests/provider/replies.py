"""What a provider answers: the chat.completion JSON, and verdicts written in the asked form."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .seen import Answer, Seen

Mode = Literal[
    "normal", "chunked", "gzip", "hang", "reset", "reset_body", "half", "half_unmarked",
    "drip_header", "drip_body", "redirect", "gzip_bomb", "big", "endless",
]  # fmt: skip
"""How the bytes of a reply travel.

``normal``, ``chunked`` and ``gzip`` are healthy. ``hang`` never answers; ``reset`` resets the
connection before the headers, ``reset_body`` in the middle of the body; ``half`` closes after half
of an announced body, ``half_unmarked`` sends half of a body without a length, so that only its JSON
can tell; ``drip_header`` and ``drip_body`` send one byte at a time; ``redirect`` is a 307 to
another origin; ``gzip_bomb`` inflates to ``size`` bytes; ``big`` is a body of ``size`` bytes with
the reply at its start; ``endless`` is a chunked body that goes on until the client hangs up.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider counts them."""

    prompt: int = 900
    completion: int = 60
    reasoning: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One HTTP reply of the provider.

    ``content``, ``refusal``, ``reasoning_content``, ``finish_reason``, ``usage`` and ``model`` (the
    served one, by default the requested one) become a chat.completion; ``body`` replaces it byte
    for byte. ``gate``, if any, and then ``delay`` are waited for before the first byte,
    ``interval`` between the bytes of a drip; both in seconds. ``message`` adds fields to the
    assistant message, ``more`` to the body, ``logprobs`` are the entries of the tokens.
    """

    content: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = "application/json"
    gate: threading.Event | None = None
    delay: float = 0.0
    finish_reason: str | None = "stop"
    usage: Usage | None = field(default_factory=Usage)
    refusal: str | None = None
    reasoning_content: str | None = None
    model: str | None = None
    message: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    logprobs: list[Any] | None = None
    mode: Mode = "normal"
    interval: float = 0.05
    size: int = 10 * 1024 * 1024

    def payload(self, requested_model: str) -> bytes:
        """The body before any transfer coding."""
        if self.body is not None:
            return self.body
        return json.dumps(completion(self, requested_model)).encode()


def completion(reply: Reply, requested_model: str) -> dict[str, Any]:
    """A chat.completion object for ``reply``."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": reply.content,
        "refusal": reply.refusal,
    }
    if reply.reasoning_content is not None:
        message["reasoning_content"] = reply.reasoning_content
    message.update(reply.message)
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None if reply.logprobs is None else {"content": reply.logprobs},
        "finish_reason": reply.finish_reason,
    }
    result: dict[str, Any] = {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": reply.model or requested_model,
        "choices": [choice],
        "system_fingerprint": "fp_fake",
    }
    if reply.usage is not None:
        result["usage"] = _usage(reply.usage)
    return {**result, **reply.more}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def error(
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """An error reply in the form of the OpenAI API."""
    return json_reply(
        status,
        {"error": {"message": message, "type": kind, "param": param, "code": code}},
        headers=headers,
    )


def json_reply(status: int, value: object, *, headers: Mapping[str, str] | None = None) -> Reply:
    """Any JSON value as a reply."""
    return Reply(status=status, body=json.dumps(value).encode(), headers=headers or {})


def html_page(status: int) -> Reply:
    """The page of a proxy in front of the provider, where JSON was expected."""
    page = f"<!doctype html><html><body><h1>{status}</h1><p>Please try later.</p></body></html>"
    return Reply(status=status, body=page.encode(), content_type="text/html; charset=utf-8")


def to_json(answer: Answer) -> str:
    """The JSON text of an answer, compact."""
    return json.dumps(answer, separators=(",", ":"))


def bound(
    seen: Seen,
    raw: str,
    *,
    reason: str = "Checked against the rubric.",
    v: str | None = None,
    end: str | None = None,
) -> str:
    """The asked object around ``raw``, JSON text (or what pretends to be) of the value.

    ``reason`` is escaped properly. ``v`` and ``end`` replace the right tokens.
    """
    return raw_bound(seen, f'"{seen.form}":{raw}', raw_reason=json.dumps(reason), v=v, end=end)


def raw_bound(
    seen: Seen, fields: str, *, raw_reason: str, v: str | None = None, end: str | None = None
) -> str:
    """The asked object from parts that are already JSON text, right or wrong."""
    first = seen.v if v is None else v
    last = seen.end if end is None else end
    return f'{{"v":"{first}","reason":{raw_reason},{fields},"end":"{last}"}}'


def verdict(seen: Seen, answer: Answer, reason: str = "Checked against the rubric.") -> str:
    """A proper verdict: the asked form, the right tokens."""
    return bound(seen, to_json(answer), reason=reason)


def draft(seen: Seen, answer: Answer, reason: str = "First thought.") -> str:
    """An object of the same look without tokens: what a draft or a planted verdict is."""
    return f'{{"reason":{json.dumps(reason)},"{seen.form}":{to_json(answer)}}}'
