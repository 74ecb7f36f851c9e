"""Reading a request body: bounded, strict JSON, nothing that later code could trip over."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from typing import Any

from starlette.requests import ClientDisconnect, Request

from judge_service.api.body_room import ROOM
from judge_service.api.door.line import line_of
from judge_service.api.problems import Problem
from judge_service.api.stepwise_json import StepwiseDecoder

MAX_ITEM_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 64
MAX_VALUES = 250_000
"""How many values (of objects and lists) one body may hold: each costs far more than its bytes."""
RECEIVE_S = 30.0
"""How long a body may take to arrive, in seconds."""
_JSON = b"application/json"
LONG_BODY_BYTES = 64 * 1024
"""From here on a body is decoded in a thread, so that it does not hold up the others."""


async def read_json(request: Request, limit: int = MAX_ITEM_BYTES) -> Any:
    """The decoded body. Raises Problem: 408, 413, 415, 422 or 503."""
    return await decoded(await read_bytes(request, limit))


async def decoded(body: bytes) -> Any:
    """A body that was read before, decoded. Raises Problem 422."""
    if len(body) > LONG_BODY_BYTES:
        return await asyncio.to_thread(decode_json, body)
    return decode_json(body)


async def read_bytes(request: Request, limit: int) -> bytes:
    """The body as it came. Raises Problem: 408, 413, 415, or 503 when many long ones are held."""
    _check_headers(request, limit)
    if line_of(request.scope) is not None:
        return await _received(request, limit)  # the door has an eye on the time
    try:
        async with asyncio.timeout(RECEIVE_S):
            return await _received(request, limit)
    except TimeoutError:
        raise Problem(
            408, "body_too_slow", f"the body was not there within {RECEIVE_S:g} s",
            headers={"Connection": "close"},
        ) from None  # fmt: skip


async def _received(request: Request, limit: int) -> bytes:
    body = bytearray()
    more = True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > limit:
            raise _too_large(limit)
        ROOM.hold(len(body))
        more = message.get("more_body", False)
    return bytes(body)


def decode_json(body: bytes, *, values: int = MAX_VALUES, stepwise: bool = False) -> Any:
    """Strict JSON: UTF-8, no duplicate keys, finite numbers, bounded depth and number of values.

    ``stepwise`` takes longer and lets other threads have their turn in between.
    Raises Problem 422.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(f"the body is not UTF-8 (byte {error.start})") from None
    if text.startswith("\ufeff"):
        raise _invalid("the body begins with a byte order mark; JSON has none")
    # Every value takes a byte, every level a bracket.
    bounded = len(body) <= values and body.count(b"[") + body.count(b"{") <= MAX_DEPTH
    decoder = _PLAIN if bounded and not stepwise else _counting(values, stepwise=stepwise)
    try:
        value = decoder.decode(text)
    except Problem:
        raise
    except RecursionError:
        raise _invalid(f"the body is nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise _invalid(f"the body is not JSON: {str(error)[:120]}") from None
    if not bounded:
        _check_tree(value, values)
    if b"\\u" in body:  # only an escape can name half of a surrogate pair
        _check_texts(value)
    return value


def _counting(values: int, *, stepwise: bool) -> json.JSONDecoder:
    """A decoder that ends early what is hostile."""
    hooks = _Hooks(values)
    given: dict[str, Any] = {
        "object_pairs_hook": hooks.pairs,
        "parse_constant": _constant,
        "parse_float": hooks.decimal,
        "parse_int": hooks.integer,
    }
    if stepwise:
        return StepwiseDecoder(count=_Hooks(values).count, **given)
    return json.JSONDecoder(**given)


def _check_headers(request: Request, limit: int) -> None:
    kinds = 0
    for name, value in request.scope["headers"]:
        if name == b"content-type":
            kinds += 1
            if (
                value != b"application/json"
                and _plain(value.split(b";", 1)[0]) != b"application/json"
            ):
                raise Problem(415, "unsupported_media_type", "send application/json")
        elif name == b"content-encoding":
            if _plain(value) not in (b"", b"identity"):
                raise Problem(
                    415, "unsupported_media_type", "send the body without Content-Encoding"
                )
        elif name == b"content-length" and value.isdigit() and int(value[:20]) > limit:
            raise _too_large(limit)
    if kinds != 1:
        raise Problem(415, "unsupported_media_type", "send application/json")


def _plain(value: bytes) -> bytes:
    return value.strip().lower()


def _check_tree(value: Any, limit: int) -> None:
    """Bounded depth and bounded number of values, without recursion."""
    stack: list[tuple[Any, int]] = [([value], 0)]
    values = 0
    while stack:
        item, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise _invalid(f"the body is nested deeper than {MAX_DEPTH} levels")
        values += len(item)
        if values > limit:
            raise _too_many(limit)
        children = item.values() if isinstance(item, dict) else item
        stack += [(child, depth + 1) for child in children if isinstance(child, (list, dict))]


def _check_texts(value: Any) -> None:
    """No lone surrogates in a value that ``_check_tree`` has passed."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            _check_text(item)
        elif isinstance(item, dict):
            stack += (*item, *item.values())
        elif isinstance(item, list):
            stack += item


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _invalid("a text holds half of a surrogate pair") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(k for k, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise _invalid(f"the key {twice[:80]!r} stands twice in one object")
    return found


def _constant(word: str) -> Any:
    raise _invalid(f"{word} is not a JSON number")


def _decimal(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _invalid("a number is too large")
    return value


def _integer(digits: str) -> int:
    if len(digits) > 400:
        raise _invalid("a number has too many digits")
    return int(digits)


_PLAIN = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_decimal, parse_int=_integer
)


class _Hooks:
    """Called with every object and number while a body is decoded, to end a hostile one early."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values = 0

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        self.count()
        return _object(pairs)

    def decimal(self, digits: str) -> float:
        self.count()
        return _decimal(digits)

    def integer(self, digits: str) -> int:
        self.count()
        return _integer(digits)

    def count(self) -> None:
        """One more value. Raises Problem when they are too many."""
        self._values += 1
        if self._values > self._limit:
            raise _too_many(self._limit)


def _invalid(message: str) -> Problem:
    return Problem(422, "invalid_request", message)


def _too_many(limit: int) -> Problem:
    return _invalid(f"the body holds more than {limit:,} values")


def _too_large(limit: int) -> Problem:
    return Problem(413, "body_too_large", f"a body may have at most {limit:,} bytes")
