"""Many requests in few POSTs: they are cut into bodies, and the answers put together again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from judge_client.errors import InvalidRequest
from judge_client.marks import in_place
from judge_client.pace import MAX_GRANTED_S
from judge_client.reading import protocol_failure
from judge_client.requests import Join, Request, Written
from judge_client.results import Failure
from judge_client.settings import Settings

R = TypeVar("R")
MAX_ITEMS = 1024
MAX_BYTES = 64 * 1024 * 1024
_FRAME = 1024
"""Room for what stands around the items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Generic[R]):
    """One request of a batch, as it is sent; ``number`` counts from 0."""

    number: int
    request: Request[R]
    body: bytes
    mark: str | None


def item(number: int, request: Request[R], settings: Settings) -> Item[R] | R:
    """A request as one of many, or its result where that is known without asking.

    Raises InvalidRequest, which names the item.
    """
    if isinstance(request, Join):
        raise InvalidRequest(f"items[{number}]: a group is joined by calls of its own")
    try:
        made = request.written(settings, number=number)
    except InvalidRequest as wrong:
        where = f"items[{number}]"
        raise InvalidRequest(f"{where}.{wrong}", wrong.code, f"{where}.{wrong.field}") from None
    if not isinstance(made, Written):
        return made
    body = b'{"kind":"%s",' % request.kind.encode() + made.body[1:]
    return Item(number=number, request=request, body=body, mark=made.mark)


def chunks(items: Sequence[Item[R]]) -> Iterator[list[Item[R]]]:
    """The items in order, in lists that one POST may hold."""
    chunk: list[Item[R]] = []
    size = _FRAME
    for one in items:
        if chunk and (len(chunk) == MAX_ITEMS or size + len(one.body) + 1 > MAX_BYTES):
            yield chunk
            chunk, size = [], _FRAME
        chunk.append(one)
        size += len(one.body) + 1
    if chunk:
        yield chunk


def joined(chunk: Sequence[Item[Any]], timeout_s: float) -> bytes:
    """The body of one POST."""
    granted = min(timeout_s, MAX_GRANTED_S)
    return b'{"items":[%s],"timeout_s":%.3f}' % (b",".join(one.body for one in chunk), granted)


def results(answer: dict[str, Any] | Failure, chunk: Sequence[Item[R]]) -> dict[int, R]:
    """The results of one POST by number, one for each of its items."""
    if isinstance(answer, Failure):
        return {one.number: one.request.failed(answer) for one in chunk}
    found = answer.get("results")
    if not isinstance(found, list) or len(found) != len(chunk):
        failure = protocol_failure(f"not {len(chunk)} results for {len(chunk)} items")
        return {one.number: one.request.failed(failure) for one in chunk}
    answers = in_place(found, [one.mark for one in chunk])
    return {
        one.number: one.request.failed(told)
        if isinstance(told, Failure)
        else one.request.read(told)
        for one, told in zip(chunk, answers, strict=True)
    }
