"""The bytes of a provider's replies: good ones, and those of every fault.

A faulty reply that holds a verdict holds a wrong one: whoever believes it is found out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from benchmarks.faults.truth import draw, wrong_point

STRANGER = "claude-3-5-haiku-20241022"
"""A model that no judge of the suite is."""
NEVER = "0" * 16
"""Stands where a token should."""


class Question(Protocol):
    """What of a request the replies need."""

    @property
    def model(self) -> str:
        """The model asked for."""

    @property
    def right(self) -> int | str:
        """The right point or slot."""

    @property
    def v(self) -> str:
        """The first token."""

    @property
    def end(self) -> str:
        """The last token."""

    @property
    def question(self) -> str:
        """All that makes the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Bytes for the wire, and what becomes of the connection."""

    data: bytes
    then: Literal["keep", "close", "reset"] = "keep"

    @staticmethod
    def json(status: int, body: object, **headers: object) -> Sent:
        """A JSON reply."""
        return Sent(data=_http(status, json.dumps(body).encode(), **headers))


def reply(asked: Question, fault: str | None, *, number: int = 1, retry_after_s: int = 1) -> Sent:
    """The reply to a question under a fault. ``number`` varies the fault between attempts."""
    if fault is None:
        return Sent.json(200, _completion(asked, _verdict(asked, asked.right)))
    if fault == "error":
        return Sent.json(500, {"error": {"message": "internal error", "type": "server_error"}})
    if fault == "rate_limited":
        body = {"error": {"message": "slow down", "type": "rate_limit_exceeded"}}
        return Sent.json(429, body, retry_after=retry_after_s)
    wrong = _completion(asked, _verdict(asked, _wrong(asked)))
    if fault == "wrong_model":
        return Sent.json(200, {**wrong, "model": STRANGER})
    which = draw(asked.question, number, fault)
    if fault == "reset":
        return Sent(data=_half(wrong), then="reset")
    if fault == "truncated":
        return _truncated(wrong, which)
    return _malformed(asked, which)


def _truncated(wrong: dict[str, Any], which: float) -> Sent:
    if which < 0.4:
        return Sent(data=_half(wrong), then="close")
    if which < 0.6:
        whole = json.dumps(wrong).encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
        return Sent(data=head + whole[: len(whole) // 2], then="close")
    wrong["choices"][0]["finish_reason"] = "length"
    return Sent.json(200, wrong)


def _malformed(asked: Question, which: float) -> Sent:
    wrong = _wrong(asked)
    contents = [
        "",
        "I would say it is quite good.",
        json.dumps({"score": wrong, "choice": wrong}),
        _verdict(asked, wrong).replace(asked.v, NEVER).replace(asked.end, NEVER),
        _verdict(asked, wrong).replace(asked.end, NEVER),
        _verdict(asked, wrong) + "\n" + _verdict(asked, asked.right),
        _verdict(asked, 9),
        _verdict(asked, 4.5),
        _verdict(asked, float("nan")),
        _verdict(asked, True),
        _verdict(asked, wrong)[:-30],
        "\0html",
        "\0null",
    ]
    content = contents[int(which * len(contents))]
    if content == "\0html":
        return Sent(data=_http(200, b"<html>It works!</html>", content_type="text/html"))
    body = _completion(asked, content)
    if content == "\0null":
        body["choices"] = []
    return Sent.json(200, body)


def _wrong(asked: Question) -> int | str:
    if isinstance(asked.right, int):
        return wrong_point(asked.right)
    return "candidate_1" if asked.right != "candidate_1" else "candidate_2"


def _verdict(asked: Question, value: object) -> str:
    key = "choice" if isinstance(asked.right, str) else "score"
    return json.dumps({"v": asked.v, "reason": "As it is.", key: value, "end": asked.end})


def _completion(asked: Question, content: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {
        "id": "chatcmpl-fault-suite",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 30, "total_tokens": 330},
    }


def _half(body: object) -> bytes:
    whole = _http(200, json.dumps(body).encode())
    return whole[: len(whole) // 2 + 60]


def _http(status: int, body: bytes, **headers: object) -> bytes:
    given = {"content_type": "application/json", **headers, "content_length": len(body)}
    lines = [f"HTTP/1.1 {status} -", *(f"{k.replace('_', '-')}: {v}" for k, v in given.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body
