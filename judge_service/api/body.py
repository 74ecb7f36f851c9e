"""Reading a request body: bounded, strict JSON, nothing that later code could trip over."""

from __future__ import annotations

import json
import math
from typing import Any

from starlette.requests import Request

from judge_service.api.problems import Problem

MAX_ITEM_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 64


async def read_json(request: Request, limit: int = MAX_ITEM_BYTES) -> Any:
    """The decoded body. Raises Problem: 415, 413 or 422."""
    _check_headers(request, limit)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise _too_large(limit)
    return decode_json(bytes(body))


def decode_json(body: bytes) -> Any:
    """Strict JSON: UTF-8, no duplicate keys, finite numbers, bounded depth. Raises Problem 422."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(f"the body is not UTF-8 (byte {error.start})") from None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_no_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_bounded_int,
        )
    except Problem:
        raise
    except RecursionError:
        raise _invalid(f"the body is nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise _invalid(f"the body is not JSON: {str(error)[:120]}") from None
    _check_tree(value)
    return value


def _check_headers(request: Request, limit: int) -> None:
    kind = request.headers.get("content-type", "").split(";", 1)[0].strip().lower()
    if kind != "application/json":
        raise Problem(415, "unsupported_media_type", "send application/json")
    if request.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Problem(415, "unsupported_media_type", "send the body without Content-Encoding")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limit:
        raise _too_large(limit)


def _check_tree(value: Any) -> None:
    """Bounded depth and no lone surrogates, without recursion."""
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        item, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise _invalid(f"the body is nested deeper than {MAX_DEPTH} levels")
        if isinstance(item, str):
            _check_text(item)
        elif isinstance(item, list):
            stack += [(child, depth + 1) for child in item]
        elif isinstance(item, dict):
            for key, child in item.items():
                _check_text(key)
                stack.append((child, depth + 1))


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _invalid("a text holds half of a surrogate pair") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _invalid(f"the key {twice[:80]!r} stands twice in one object")
    return found


def _no_constant(word: str) -> Any:
    raise _invalid(f"{word} is not a JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _invalid("a number is too large")
    return value


def _bounded_int(digits: str) -> int:
    if len(digits) > 400:
        raise _invalid("a number has too many digits")
    return int(digits)


def _invalid(message: str) -> Problem:
    return Problem(422, "invalid_request", message)


def _too_large(limit: int) -> Problem:
    return Problem(413, "body_too_large", f"a body may have at most {limit:,} bytes")
