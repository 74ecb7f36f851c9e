"""Reading a request body: bounded, strict JSON, nothing that later code could trip over."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from judge_service.api.body_room import LONG_BYTES, BodyRoom
from judge_service.api.door.line import line_of
from judge_service.api.json_outline import Outline, outline
from judge_service.api.problems import Problem
from judge_service.strict_json import Refused, no_constant, unique

T = TypeVar("T")
MAX_ITEM_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 64
MAX_VALUES = 250_000
"""How many values (of objects and lists) one body may hold: each costs far more than its bytes."""
RECEIVE_S = 30.0
"""How long a body may take to arrive, in seconds."""
_JSON = b"application/json"
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
"""Only an escape can name half of a surrogate pair; most of these name a whole one."""
LONG_BODY_BYTES = 64 * 1024
"""From here on a body is read in a thread, so that it does not hold up the others."""


async def read_json(request: Request, limit: int = MAX_ITEM_BYTES) -> Any:
    """The decoded body. Raises Problem: 408, 413, 415, 422 or 503."""
    return await decoded(await read_bytes(request, limit))


async def decoded(body: bytes) -> Any:
    """A body that was read before, decoded. Raises Problem 422."""
    if len(body) > LONG_BODY_BYTES:
        return await asyncio.to_thread(decode_json, body)
    return decode_json(body)


async def done_with(body: bytes, work: Callable[[], T]) -> T:
    """What ``work`` on a body comes to; on a long one it is done in a thread."""
    return await asyncio.to_thread(work) if len(body) > LONG_BODY_BYTES else work()


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
        if len(body) > LONG_BYTES:
            room: BodyRoom = request.scope["app"].state.room
            room.hold(len(body))
        more = message.get("more_body", False)
    return bytes(body)


def decode_json(body: bytes, *, values: int = MAX_VALUES) -> Any:
    """Strict JSON: UTF-8, no duplicate keys, finite numbers, bounded depth and number of values.

    Raises Problem 422.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(f"the body is not UTF-8 (byte {error.start})") from None
    if text.startswith("\ufeff"):
        raise _invalid("the body begins with a byte order mark; JSON has none")
    # Every value takes a byte, every level a bracket.
    if len(body) > values or body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        _check_outline(outline(body, values), values)
    try:
        value = _DECODER.decode(text)
    except Refused as error:
        raise _invalid(str(error)) from None
    except RecursionError:
        raise _invalid(f"the body is nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise _invalid(f"the body is not JSON: {str(error)[:120]}") from None
    if _HALF_PAIR.search(body):
        _check_texts(value)
    return value


def _check_outline(found: Outline, most: int) -> None:
    if found.values > most:
        raise _invalid(f"the body holds more than {most:,} values")
    if found.depth > MAX_DEPTH:
        raise _invalid(f"the body is nested deeper than {MAX_DEPTH} levels")


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


def _check_texts(value: Any) -> None:
    """No lone surrogates in a value of bounded depth and size."""
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


def _decimal(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Refused("a number is too large")
    return value


def _integer(digits: str) -> int:
    if len(digits) > 400:
        raise Refused("a number has too many digits")
    return int(digits)


_DECODER = json.JSONDecoder(
    object_pairs_hook=unique, parse_constant=no_constant, parse_float=_decimal, parse_int=_integer
)


def _invalid(message: str) -> Problem:
    return Problem(422, "invalid_request", message)


def _too_large(limit: int) -> Problem:
    return Problem(413, "body_too_large", f"a body may have at most {limit:,} bytes")
