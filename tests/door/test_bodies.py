"""Bodies over raw sockets: too large, packed, or bombs; each is refused quickly and for good."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from tests.door.process import HEAD, assess
from tests.door.support import Caller
from tests.harness import RunningService
from tests.http_bodies import GOOD, MIB, small_service

QUICK_S = 2.0
TOO_LARGE = 4 * MIB + 1
TEXT = json.dumps(GOOD)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A small service."""
    with small_service(tmp_path_factory.mktemp("service")) as (running, _):
        yield running


@pytest.fixture
def caller(service: RunningService) -> Iterator[Caller]:
    """A connection to it."""
    with Caller(int(service.url.rsplit(":", 1)[1])) as made:
        yield made


def chunk(data: bytes) -> bytes:
    """One chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def spliced(member: str) -> bytes:
    """A good body with one more member."""
    return (TEXT[:-1] + f', "metadata": {{"a": {member}}}}}').encode()


@pytest.mark.parametrize("length", [TOO_LARGE, 1 << 30, 10**17])
def test_a_declared_size_is_refused_before_the_body(caller: Caller, length: int) -> None:
    """413 without having read any of it, and no invitation to send it."""
    caller.send(HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % length)
    answer = caller.answer()

    assert (answer.status, answer.code) == (413, "body_too_large")
    assert answer.fields["connection"] == "close"
    assert caller.closed()


def test_a_growing_body_is_refused_when_it_is_too_large(caller: Caller) -> None:
    """413 while it is still coming; a caller that does not look first gets to see it too."""
    caller.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(20):
        caller.send(chunk(b" " * MIB))
    answer = caller.answer()

    assert (answer.status, answer.code) == (413, "body_too_large")
    assert answer.fields["connection"] == "close"
    assert caller.closed()


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Encoding: gzip\r\n",
        b"Content-Encoding: br\r\n",
        b"Content-Encoding: identity\r\nContent-Encoding: gzip\r\n",
        b"Content-Encoding: identity, deflate\r\n",
        b"Content-Type: text/plain\r\n",
    ],
)
def test_what_is_not_plain_json_is_not_read(caller: Caller, fields: bytes) -> None:
    """415, whatever the body would have been."""
    caller.send(HEAD + fields + b"Content-Length: 1000\r\n\r\n")
    answer = caller.answer()

    assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert caller.closed()


BOMBS: dict[str, bytes] = {
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a thousand levels": spliced("[" * 1_000 + "]" * 1_000),
    "open lists": b"[" * 1_000_000,
    "digits": spliced("1" * 5_000),
    "negative digits": spliced("-" + "1" * 5_000),
    "large exponent": spliced("1e999999"),
    "NaN": spliced("NaN"),
    "infinity": spliced("-Infinity"),
    "duplicate key": (TEXT[:-1] + ', "rubric": "pair"}').encode(),
    "byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-32": TEXT.encode("utf-32-le"),
    "Latin-1": TEXT.replace("An answer", "\xe9").encode("latin-1"),
    "overlong UTF-8": TEXT.encode().replace(b"An answer", b"\xc0\xaf"),
    "surrogate bytes": TEXT.encode().replace(b"An answer", b"\xed\xa0\x80"),
    "half a surrogate pair": TEXT.encode().replace(b"An answer", b"\\ud800"),
    "many values": spliced("[" + "0," * 500_000 + "0]"),
    "many keys": spliced("{" + ",".join(f'"{n}":0' for n in range(300_000)) + "}"),
    "two values": TEXT.encode() * 2,
    "nothing": b"",
    "NUL": b"\x00" * 1_000,
    "a word": b"nonsense",
    "gzip without saying so": b"\x1f\x8b\x08\x00" + bytes(100),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_quickly(caller: Caller, name: str) -> None:
    """422 in the form of all refusals, and the connection can be used again."""
    body = BOMBS[name]
    started = time.process_time()  # the service is in this process; others may be busy
    answer = caller.send(HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)).answer()
    took = time.process_time() - started

    assert answer.status == 422
    assert answer.fields["content-type"] == "application/json"
    assert json.loads(answer.body)["error"]["code"] == "invalid_request"
    assert took < QUICK_S
    assert json.loads(caller.send(assess()).answer().body)["status"] == "success"


def test_the_body_is_asked_for_where_it_is_wanted(caller: Caller) -> None:
    """A caller that waits for leave to send gets it once its head is right."""
    head, _, body = assess().partition(b"\r\n\r\n")
    caller.send(head + b"\r\nExpect: 100-continue\r\n\r\n")

    assert caller.answer().status == 100
    assert json.loads(caller.send(body).answer().body)["status"] == "success"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"POST /nowhere HTTP/1.1", 404),
        (b"GET /v1/assess HTTP/1.1", 405),
        (b"TRACE /v1/assess HTTP/1.1", 405),
    ],
)
def test_nobody_waits_for_a_body_in_vain(caller: Caller, line: bytes, status: int) -> None:
    """Where there is nothing to send it to, the answer comes before it."""
    caller.send(line + b"\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
    answer = caller.answer()

    assert (answer.status, answer.fields["connection"]) == (status, "close")
    assert caller.closed()
