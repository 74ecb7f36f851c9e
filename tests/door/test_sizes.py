"""Floods: of headers, of bytes, of connections, of requests."""

from __future__ import annotations

import resource
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from tests.door.support import GET, POST, App, Caller, door, wait_for

MIB = 1024 * 1024
FLOODS: dict[str, tuple[Callable[[], bytes], int]] = {
    "a header of 20 MB": (
        lambda: b"GET /ok HTTP/1.1\r\nHost: a\r\nX: " + b"a" * (20 * MIB) + b"\r\n\r\n",
        431,
    ),
    "a header name of 20 MB": (
        lambda: b"GET /ok HTTP/1.1\r\nHost: a\r\n" + b"a" * (20 * MIB) + b": a\r\n\r\n",
        431,
    ),
    "a header that never ends": (
        lambda: b"GET /ok HTTP/1.1\r\nHost: a\r\nX: " + b"a" * (1 * MIB),
        431,
    ),
    "100,000 headers": (
        lambda: b"GET /ok HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 100_000 + b"\r\n",
        431,
    ),
    "101 headers": (lambda: b"GET /ok HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 100 + b"\r\n", 431),
    "a head of one byte too many": (
        lambda: (b"GET /ok HTTP/1.1\r\nHost: a\r\nX: ").ljust(16 * 1024 - 3, b"a") + b"\r\n\r\n",
        431,
    ),
    "a target of 20 MB": (
        lambda: b"GET /" + b"a" * (20 * MIB) + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        414,
    ),
    "a target that never ends": (lambda: b"GET /" + b"a" * MIB, 414),
    "a line of one byte too many": (
        lambda: b"GET /".ljust(8 * 1024 - 8, b"a") + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        414,
    ),
    "20 MB of line ends": (lambda: b"\r\n" * (10 * MIB), 400),
    "20 MB of nothing": (lambda: bytes(20 * MIB), 400),
    "20 MB of spaces in a value": (
        lambda: b"GET /ok HTTP/1.1\r\nHost:" + b" " * (20 * MIB) + b"a\r\n\r\n",
        431,
    ),
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_refused(name: str) -> None:
    """With an answer that the caller gets to see, then the connection ends."""
    make, status = FLOODS[name]
    with door(linger_bytes=64 * MIB) as small, small.caller() as caller:
        answer = caller.send(make()).answer()

        assert answer.status == status
        assert answer.code
        assert caller.closed()
        assert small.app.asked == []


def test_a_large_head_is_served() -> None:
    """What fits is served: 8 KiB of request line, 16 KiB of head."""
    line = b"GET /".ljust(8 * 1024 - 9, b"a") + b" HTTP/1.1\r\nHost: a\r\nX: "
    head = line.ljust(16 * 1024 - 4, b"a") + b"\r\n\r\n"
    with door() as small, small.caller() as caller:
        assert caller.send(head).answer().status == 200


def test_what_a_refused_caller_still_sends_is_not_read_for_ever() -> None:
    """The connection breaks after some megabytes."""
    with door(linger_bytes=MIB, linger_s=60) as small, small.caller() as caller:
        caller.send(b"nonsense\r\n\r\n")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            caller.socket.sendall(bytes(1000 * MIB))


def test_an_unread_body_ends_the_connection() -> None:
    """An answer that does not wait for the body says so, and the rest is not read as a request."""
    with door() as small, small.caller() as caller:
        caller.send(b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n")
        answer = caller.answer()
        caller.send(GET * 100)

        assert (answer.status, answer.fields["connection"]) == (200, "close")
        assert caller.closed()
        assert small.app.asked == ["/unread"]


def test_a_chunked_body_may_not_be_all_wrapping() -> None:
    """Trailers and extensions without an end are cut."""
    chunked = POST + b"Transfer-Encoding: chunked\r\n\r\n5"
    for wrapping in (b";a=" + b"a" * MIB, b"\r\nhello\r\n0\r\nX: " + b"a" * MIB):
        with door() as small, small.caller() as caller:
            assert caller.send(chunked + wrapping).answer().status == 400
            wait_for(lambda: small.app.gone == ["/echo"])


def test_a_full_house_is_told_cheaply() -> None:
    """Beyond the number of connections: 503 with Retry-After at once, without asking anything."""
    with door(connections=2) as small, ExitStack() as stack:
        held = [stack.enter_context(small.caller()) for _ in range(2)]
        for caller in held:
            caller.send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_for(lambda: len(small.app.asked) == 2)

        with small.caller() as late:
            answer = late.answer()
            assert (answer.status, answer.code) == (503, "overloaded")
            assert int(answer.fields["retry-after"]) >= 1
            assert late.closed()
        small.app.release.set()

        assert [caller.answer().status for caller in held] == [200, 200]


def test_idle_connections_give_way() -> None:
    """Pools that keep connections open do not lock others out."""
    with door(connections=2) as small, small.caller() as first, small.caller() as second:
        assert first.send(GET).answer().status == 200
        assert second.send(GET).answer().status == 200

        for _ in range(5):
            with small.caller() as other:
                assert other.send(GET).answer().status == 200


def test_too_many_requests_are_shed() -> None:
    """503 with Retry-After; questions after the service's health still have room."""
    hold = b"POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1"
    with door(requests=2, spare=1) as small, ExitStack() as stack:
        held = [stack.enter_context(small.caller()).send(hold) for _ in range(2)]
        wait_for(lambda: len(small.app.asked) == 2)

        with small.caller() as late, small.caller() as health:
            answer = late.send(hold).answer()
            assert (answer.status, answer.code) == (503, "overloaded")
            assert answer.fields["retry-after"]
            assert health.send(GET).answer().status == 200
        small.app.release.set()

        assert [caller.answer().status for caller in held] == [200, 200]


@pytest.mark.parametrize("close", [b"", b"Connection: close\r\n"])
def test_a_caller_that_does_not_read_is_hung_up_on(close: bytes) -> None:
    """So that its answer is not held for ever."""
    app = App(big=32 * MIB)
    ask = b"GET /big HTTP/1.1\r\nHost: a\r\n" + close + b"\r\n"
    with door(app, unread_s=0.1) as small, Caller(small.port, receive_buffer=4096) as caller:
        caller.send(ask)
        wait_for(lambda: small.app.asked == ["/big"])
        wait_for(lambda: not small.server.server_state.connections)


def test_a_slow_reader_gets_all_of_its_answer() -> None:
    """As long as it reads."""
    app = App(big=2 * MIB)
    ask = b"GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with door(app, unread_s=5.0, linger_s=0.1) as small:
        with Caller(small.port, receive_buffer=16 * 1024) as caller:
            caller.send(ask)
            got = 0
            while data := caller.socket.recv(8 * 1024):
                got += len(data)
        assert got > 2 * MIB


def test_answers_that_nobody_reads_are_not_piled_up() -> None:
    """A caller that sends requests and reads nothing is not answered further than a buffer."""
    app = App(big=MIB)
    with door(app, unread_s=0.3) as small, Caller(small.port, receive_buffer=4096) as caller:
        caller.send(b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n" * 500)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        wait_for(lambda: not small.server.server_state.connections)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        assert len(small.app.asked) < 20
        assert after - before < 50 * 1024
