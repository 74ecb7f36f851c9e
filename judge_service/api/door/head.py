"""Reading the head of a request: only what every server on the way reads in the same way.

The rules are those of RFC 9112, without what it allows for the sake of old or lenient peers:
targets in absolute form, repeated lengths, codings other than chunked. What a field may consist of,
how a line must end and that none is folded is left to the parser behind, which knows no leniency
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from judge_service.api.door.limits import DoorLimits
from judge_service.api.door.refusal import Refusal, bad_request

END = b"\r\n\r\n"
WATCHED = frozenset({b"host", b"content-length", b"transfer-encoding", b"expect"})
"""The fields that ``body_length`` is told of."""
_START = re.compile(rb"[A-Z]{1,20}(?: |\Z)")
_REQUEST_LINE = re.compile(
    rb"(?:(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) /[!\"$-~]*|OPTIONS \*) HTTP/1\.[01]"
)
_OTHER_METHOD = re.compile(rb"(?:CONNECT [!-~]+|[A-Z]{1,20} /[!\"$-~]*) HTTP/1\.[01]")
_UPGRADE = re.compile(rb"\r\n(?:upgrade|http2-settings):[^\r]*", re.IGNORECASE)
_HOST = re.compile(rb"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


def check_beginning(begun: bytes, limits: DoorLimits) -> None:
    """Refuse a head that is not complete yet and never can be right. Raises Refusal."""
    if begun.count(b"\n") != begun.count(b"\r\n"):
        raise bad_request("a line does not end with carriage return and line feed")
    line, newline, _ = begun.partition(b"\r\n")
    if newline:
        _check_line(line, limits)
    else:
        if _START.match(line) is None and line != b"\r":
            raise bad_request("not an HTTP/1.1 request")
        if len(line) > limits.request_line_bytes:
            raise _long_line(limits)
    if len(begun) > limits.head_bytes:
        raise _long_head(limits)


def check_head(block: bytes, limits: DoorLimits) -> bytes:
    """Check a complete head, its empty line included, as far as the parser does not.

    Returns the head to hand on. Raises Refusal.
    """
    _check_line(block[: block.index(b"\r\n")], limits)
    if len(block) > limits.head_bytes:
        raise _long_head(limits)
    if b"\r\nupgrade:" in block.lower():
        # An offer, which a server may leave; the parser would stop for it.
        return _UPGRADE.sub(b"", block)
    return block


def body_length(watched: Iterable[tuple[bytes, bytes]], version: str) -> int | None:
    """The length of the body, None when it is chunked. Raises Refusal.

    ``watched`` are the watched fields, names in small letters; ``version`` is 1.0 or 1.1.
    """
    found: dict[bytes, bytes] = {}
    for name, value in watched:
        if name in found:
            # All of them may stand once.
            raise bad_request(f"{name.decode().title()} stands twice")
        found[name] = value
    if b"host" in found:
        if not _is_host(found[b"host"]):
            raise bad_request("the Host is malformed")
    elif version != "1.0":
        raise bad_request("a Host is needed")
    if b"expect" in found and found[b"expect"].lower() != b"100-continue":
        raise Refusal(417, "expectation_failed", "nothing but 100-continue can be expected")
    return _length(found, version)


def _length(found: dict[bytes, bytes], version: str) -> int | None:
    length = found.get(b"content-length")
    if b"transfer-encoding" in found:
        if length is not None:
            raise bad_request("Content-Length and Transfer-Encoding exclude each other")
        if version == "1.0" or found[b"transfer-encoding"].lower() != b"chunked":
            raise bad_request("the only Transfer-Encoding is chunked, in HTTP/1.1")
        return None
    if length is None:
        return 0
    # ``isdigit`` of bytes knows ASCII digits only.
    if not length.isdigit() or len(length) > 18:
        raise bad_request("Content-Length must be one number")
    return int(length)


def _check_line(line: bytes, limits: DoorLimits) -> None:
    if len(line) > limits.request_line_bytes:
        raise _long_line(limits)
    if _REQUEST_LINE.fullmatch(line) is None:
        if _OTHER_METHOD.fullmatch(line):
            allowed = (b"allow", b"GET, HEAD, POST, PUT")
            raise Refusal(405, "method_not_allowed", "no such method here", allowed)
        raise bad_request("the request line is not: METHOD /path HTTP/1.1")


@lru_cache(maxsize=64)
def _is_host(value: bytes) -> bool:
    return _HOST.fullmatch(value) is not None


def _long_line(limits: DoorLimits) -> Refusal:
    most = f"{limits.request_line_bytes:,}"
    return Refusal(414, "target_too_long", f"a request line may have {most} bytes")


def _long_head(limits: DoorLimits) -> Refusal:
    most = f"{limits.head_bytes:,}"
    return Refusal(431, "headers_too_large", f"a request's head may have {most} bytes")


def too_many_fields(limits: DoorLimits) -> Refusal:
    """431 for their number."""
    return Refusal(431, "headers_too_large", f"a request may have {limits.fields} header fields")
