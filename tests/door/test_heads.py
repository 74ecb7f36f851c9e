"""Heads that servers read differently, or that no caller sends by accident, are refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.door.support import GET, POST, Door, door


@pytest.fixture(scope="module")
def small() -> Iterator[Door]:
    """An app behind the door."""
    with door() as running:
        yield running


def line(text: bytes) -> bytes:
    """A request with this request line."""
    return text + b"\r\nHost: door\r\n\r\n"


def fields(*lines: bytes) -> bytes:
    """A request with a Host and these fields, and a body of five bytes."""
    return POST + b"".join(field + b"\r\n" for field in lines) + b"\r\nhello"


LENGTH = b"Content-Length: 5"
CHUNKED = b"Transfer-Encoding: chunked"
REFUSED: dict[str, tuple[bytes, int]] = {
    "no Host": (b"GET /ok HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (b"GET /ok HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    "the same Host twice": (b"GET /ok HTTP/1.1\r\nHost: a\r\nhOST: a\r\n\r\n", 400),
    "empty Host": (b"GET /ok HTTP/1.1\r\nHost: \r\n\r\n", 400),
    "Host with a path": (b"GET /ok HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    "Host with a user": (b"GET /ok HTTP/1.1\r\nHost: a@b\r\n\r\n", 400),
    "Host list": (b"GET /ok HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
    "Host not ASCII": (b"GET /ok HTTP/1.1\r\nHost: \xc3\xa4\r\n\r\n", 400),
    "Host with an odd port": (b"GET /ok HTTP/1.1\r\nHost: a:b\r\n\r\n", 400),
    "length and chunked": (fields(LENGTH, CHUNKED), 400),
    "chunked and length": (fields(CHUNKED, LENGTH), 400),
    "two lengths": (fields(LENGTH, b"Content-Length: 6"), 400),
    "the same length twice": (fields(LENGTH, LENGTH), 400),
    "length list": (fields(b"Content-Length: 5, 5"), 400),
    "signed length": (fields(b"Content-Length: +5"), 400),
    "negative length": (fields(b"Content-Length: -5"), 400),
    "hexadecimal length": (fields(b"Content-Length: 0x5"), 400),
    "length with a space": (fields(b"Content-Length: 5 5"), 400),
    "empty length": (fields(b"Content-Length:"), 400),
    "endless length": (fields(b"Content-Length: " + b"9" * 40), 400),
    "other coding": (fields(b"Transfer-Encoding: gzip"), 400),
    "two codings": (fields(b"Transfer-Encoding: gzip, chunked"), 400),
    "identity": (fields(b"Transfer-Encoding: identity"), 400),
    "chunked twice": (fields(CHUNKED, CHUNKED), 400),
    "chunked, almost": (fields(b"Transfer-Encoding: xchunked"), 400),
    "chunked after a tab": (fields(b"Transfer-Encoding:\x0bchunked"), 400),
    "chunked in 1.0": (b"POST /echo HTTP/1.0\r\nHost: a\r\n" + CHUNKED + b"\r\n\r\n", 400),
    "space before the colon": (fields(b"Transfer-Encoding : chunked"), 400),
    "folded line": (fields(b"X: a\r\n b", LENGTH), 400),
    "folded first line": (b"GET /ok HTTP/1.1\r\n Host: a\r\n\r\n", 400),
    "bare line feeds": (b"GET /ok HTTP/1.1\nHost: a\n\n", 400),
    "one bare line feed": (b"GET /ok HTTP/1.1\r\nX: a\nHost: a\r\n\r\n", 400),
    "bare carriage return": (fields(b"X: a\rHost: b"), 400),
    "NUL in a value": (fields(b"X: a\x00b"), 400),
    "escape in a value": (fields(b"X: \x1b[31m"), 400),
    "no colon": (fields(b"nonsense"), 400),
    "no name": (fields(b": a"), 400),
    "name not ASCII": (fields(b"X\xc3\xa4: a"), 400),
    "HTTP/0.9": (b"GET /ok\r\n", 400),
    "HTTP/0.9 with fields": (line(b"GET /ok"), 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "HTTP/1.2": (line(b"GET /ok HTTP/1.2"), 400),
    "lower-case version": (line(b"GET /ok http/1.1"), 400),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "two spaces": (line(b"GET  /ok HTTP/1.1"), 400),
    "tab": (line(b"GET\t/ok HTTP/1.1"), 400),
    "space in the target": (line(b"GET /o k HTTP/1.1"), 400),
    "space behind the line": (line(b"GET /ok HTTP/1.1 "), 400),
    "absolute target": (line(b"GET http://elsewhere/ok HTTP/1.1"), 400),
    "authority as target": (line(b"GET elsewhere:80 HTTP/1.1"), 400),
    "target *": (line(b"GET * HTTP/1.1"), 400),
    "fragment": (line(b"GET /ok#a HTTP/1.1"), 400),
    "target not ASCII": (line(b"GET /\xc3\xa4 HTTP/1.1"), 400),
    "control in the target": (line(b"GET /\x1b[31m HTTP/1.1"), 400),
    "CONNECT": (line(b"CONNECT elsewhere:443 HTTP/1.1"), 405),
    "unknown method": (line(b"BREW /ok HTTP/1.1"), 405),
    "lower-case method": (line(b"get /ok HTTP/1.1"), 400),
    "endless method": (b"A" * 100, 400),
    "other expectation": (fields(b"Expect: a-miracle", LENGTH), 417),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(small: Door, name: str) -> None:
    """One readable answer, the connection closes, and no request runs, the smuggled one neither."""
    sent, status = REFUSED[name]
    small.app.asked.clear()

    with small.caller() as caller:
        answer = caller.send(sent + GET).answer()
        closed = caller.closed()

    assert answer.status == status
    assert answer.code
    assert answer.fields["connection"] == "close"
    assert closed
    assert small.app.asked == []


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_byte_by_byte(small: Door, name: str) -> None:
    """However it is cut into packets."""
    sent, status = REFUSED[name]
    small.app.asked.clear()

    with small.caller() as caller:
        for at in range(len(sent)):
            caller.send(sent[at : at + 1])
        assert caller.answer().status == status

    assert small.app.asked == []


ACCEPTED: dict[str, bytes] = {
    "plain": GET,
    "an empty line before": b"\r\n" + GET,
    "host with a port": b"GET /ok HTTP/1.1\r\nhost:127.0.0.1:8080\r\n\r\n",
    "IPv6 host": b"GET /ok HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
    "HTTP/1.0 without a Host": b"GET /ok HTTP/1.0\r\n\r\n",
    "query": line(b"GET /ok?token=a%20b&c=%22#"[:-1] + b" HTTP/1.1"),
    "value not ASCII": b"GET /ok HTTP/1.1\r\nHost: a\r\nX: \xc3\xa4\r\n\r\n",
    "empty value": b"GET /ok HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n",
    "upgrade offered": (
        b"GET /ok HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n"
        b"Connection: Upgrade, HTTP2-Settings\r\n\r\n"
    ),
    "websocket offered": (
        b"GET /ok HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ),
    "a hundred fields": (
        b"GET /ok HTTP/1.1\r\nHost: a\r\n" + b"".join(b"X: %d\r\n" % n for n in range(99)) + b"\r\n"
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_it_is_served(small: Door, name: str) -> None:
    """What ordinary clients send, in one piece and byte by byte."""
    for pieces in ([ACCEPTED[name]], [bytes([byte]) for byte in ACCEPTED[name]]):
        with small.caller() as caller:
            for piece in pieces:
                caller.send(piece)
            answer = caller.answer()
            assert (answer.status, answer.body) == (200, b"/ok")


@pytest.mark.parametrize(
    "offer", [b"Upgrade: h2c\r\nConnection: Upgrade\r\n", b"Upgrade: websocket\r\n"]
)
def test_a_body_with_an_offered_upgrade_is_read(small: Door, offer: bytes) -> None:
    """The request is served as what it is, and the connection goes on."""
    with small.caller() as caller:
        caller.send(POST + offer + b"Content-Length: 5\r\n\r\nhello")
        assert caller.answer().body == b"hello"
        assert caller.send(GET).answer().body == b"/ok"
