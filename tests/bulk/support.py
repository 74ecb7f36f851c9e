"""What the tests of bulks share: items, posting them, and reading one that is sent bit by bit."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from judge_service.api.answers import BulkAnswer
from tests.harness import RunningService, new_prompt

Item = dict[str, Any]


def assess(text: str = "An answer.", **more: Any) -> Item:
    """An assessment that nobody has asked for before."""
    item: Item = {"kind": "assess", "rubric": "quality", "prompt": new_prompt()}
    return {**item, "candidate": {"text": text, "family": "own"}, **more}


def compare(first: str, second: str, **more: Any) -> Item:
    """A comparison that nobody has asked for before."""
    pair = [{"text": text, "family": "own"} for text in (first, second)]
    item: Item = {"kind": "compare", "rubric": "pair", "prompt": new_prompt()}
    return {**item, "candidates": pair, **more}


def rank(*texts: str, **more: Any) -> Item:
    """A ranking that nobody has asked for before."""
    item: Item = {"kind": "rank", "rubric": "quality", "prompt": new_prompt()}
    return {**item, "candidates": [{"text": text, "family": "own"} for text in texts], **more}


def posted(service: RunningService, items: list[Item], **more: Any) -> list[dict[str, Any]]:
    """The results of a bulk that must be answered."""
    answer = service.http.post("/v1/bulk", json={"items": items, **more})
    assert answer.status_code == 200, answer.text[:500]
    results: list[dict[str, Any]] = answer.json()["results"]
    assert len(results) == len(items)
    BulkAnswer.model_validate(answer.json())
    return results


def refused(
    service: RunningService, items: object, status: int = 422, **more: Any
) -> tuple[dict[str, Any], list[str]]:
    """The error of a bulk that must be refused, and the fields of its faults."""
    answer = service.http.post("/v1/bulk", json={"items": items, **more})
    assert answer.status_code == status, answer.text[:500]
    error: dict[str, Any] = answer.json()["error"]
    return error, [fault["field"] for fault in error.get("faults", [])]


def timed(service: RunningService, items: list[Item], **more: Any) -> tuple[Any, float]:
    """The results of a bulk and the seconds they took."""
    started = time.monotonic()
    results = posted(service, items, **more)
    return results, time.monotonic() - started


@contextmanager
def calling(service: RunningService, items: list[Item]) -> Iterator[socket.socket]:
    """Post a bulk, and hang up at the end of the block."""
    where = urlsplit(service.url)
    body = json.dumps({"items": items}).encode()
    head = (
        f"POST /v1/bulk HTTP/1.1\r\nhost: {where.netloc}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=60) as line:
        line.sendall(head.encode() + body)
        yield line


def half_heard(service: RunningService, items: list[Item], until: bytes) -> bytes:
    """Post a bulk, read until ``until`` has come, and hang up. Returns what was read."""
    heard = b""
    with calling(service, items) as line:
        while until not in heard:
            more = line.recv(65536)
            assert more, "the answer ended before"
            heard += more
    return heard


def is_streamed(answer: httpx.Response) -> bool:
    """Whether the answer came bit by bit."""
    return "chunked" in answer.headers.get("transfer-encoding", "")
