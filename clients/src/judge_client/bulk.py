"""Many requests in few POSTs: what is known is answered here, the rest is cut into bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from judge_client.pace import MAX_GRANTED_S
from judge_client.reading import protocol_failure
from judge_client.requests import Request
from judge_client.results import Failure

R = TypeVar("R")
MAX_ITEMS = 1024
MAX_BYTES = 64 * 1024 * 1024
_FRAME = 1024
"""Room for what stands around the items."""
Numbered = tuple[int, bytes]


def chunks(items: Sequence[Numbered]) -> Iterator[list[Numbered]]:
    """The items in order, in lists that one POST may hold."""
    chunk: list[Numbered] = []
    size = _FRAME
    for number, body in items:
        if chunk and (len(chunk) == MAX_ITEMS or size + len(body) + 1 > MAX_BYTES):
            yield chunk
            chunk, size = [], _FRAME
        chunk.append((number, body))
        size += len(body) + 1
    if chunk:
        yield chunk


def item(request: Request[Any], body: bytes) -> bytes:
    """A request as an item of a bulk body."""
    return b'{"kind":"%s",' % request.kind.encode() + body[1:]


def joined(chunk: Sequence[Numbered], timeout_s: float) -> bytes:
    """The body of one POST."""
    granted = min(timeout_s, MAX_GRANTED_S)
    return b'{"items":[%s],"timeout_s":%.3f}' % (b",".join(body for _, body in chunk), granted)


def results(answer: dict[str, Any] | Failure, asked: Sequence[Request[R]]) -> list[R]:
    """The results of one POST, one for each request, in order."""
    if isinstance(answer, Failure):
        return [request.failed(answer) for request in asked]
    found = answer.get("results")
    if not isinstance(found, list) or len(found) != len(asked):
        failure = protocol_failure(f"not {len(asked)} results for {len(asked)} items")
        return [request.failed(failure) for request in asked]
    return [request.read(raw) for request, raw in zip(asked, found, strict=True)]
