"""Callers that take their time: every wait for them ends."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from judge_service.api.door import DoorLimits
from tests.door.support import GET, POST, Caller, door, wait_for

SHORT_S = 0.2


def drip(caller: Caller, data: bytes, every_s: float) -> threading.Thread:
    """Send byte after byte, from a thread, until all is sent or nobody takes it."""

    def run() -> None:
        pause = threading.Event()
        for at in range(len(data)):
            try:
                caller.socket.sendall(data[at : at + 1])
            except OSError:
                return
            pause.wait(every_s)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_nobody_waits_longer_than_ten_seconds_for_a_request() -> None:
    """The limits in use."""
    limits = DoorLimits()

    assert max(limits.head_s, limits.body_s) < 10
    assert limits.body_max_s <= 30


@pytest.mark.parametrize("sent", [b"G", b"GET /ok HTTP/1.1", GET[:-2], GET[:-1]])
def test_half_a_head(sent: bytes) -> None:
    """408, then the end."""
    with door(head_s=SHORT_S) as small, small.said(sent) as caller:
        answer = caller.answer()

        assert (answer.status, answer.code) == (408, "head_too_slow")
        assert caller.closed()
        assert small.app.asked == []


def test_a_dripping_head() -> None:
    """Every byte is progress and does not help."""
    head = GET[:-2] + b"X: " + b"a" * 1000 + b"\r\n\r\n"
    with door(head_s=SHORT_S) as small, small.said(head[:1]) as caller:
        dripping = drip(caller, head[1:], 0.01)
        assert caller.answer().status == 408
        dripping.join()


@pytest.mark.parametrize("sent", [b"", b"\r", b"\r\n"])
def test_a_connection_on_which_nothing_is_asked(sent: bytes) -> None:
    """It is closed; there is nobody to tell."""
    with door(head_s=SHORT_S) as small, small.caller() as caller:
        caller.send(sent)
        if sent != b"\r":
            assert caller.closed()
        wait_for(lambda: not small.server.server_state.connections)


def test_a_second_head_has_its_time_too() -> None:
    """Counted from its first byte."""
    with door(head_s=SHORT_S, idle_s=60) as small, small.said(GET) as caller:
        assert caller.answer().status == 200
        assert caller.send(GET[:10]).answer().status == 408
        assert caller.closed()


def test_a_connection_is_kept_for_a_while() -> None:
    """Longer than a head may take, and not for ever."""
    started = time.monotonic()  # before the answer: a busy machine may deliver it late
    with door(head_s=SHORT_S, idle_s=2 * SHORT_S) as small, small.said(GET) as caller:
        assert caller.answer().status == 200
        assert caller.closed()
        assert time.monotonic() - started >= 2 * SHORT_S


@pytest.mark.parametrize(
    "sent",
    [
        b"Content-Length: 5\r\n\r\n",
        b"Content-Length: 5\r\n\r\nhell",
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhell",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: a",
    ],
)
def test_half_a_body(sent: bytes) -> None:
    """408, and the app hears that its caller is gone."""
    with door(body_s=SHORT_S) as small, small.caller() as caller:
        answer = caller.send(POST + sent).answer()

        assert (answer.status, answer.code) == (408, "body_too_slow")
        assert caller.closed()
        wait_for(lambda: small.app.gone == ["/echo"])


def test_a_dripping_body() -> None:
    """A body must come faster than a trickle."""
    with door(body_s=SHORT_S, body_max_s=60) as small, small.caller() as caller:
        caller.send(POST + b"Content-Length: 100000\r\n\r\n")
        dripping = drip(caller, b"a" * 1000, 0.01)
        assert caller.answer().status == 408
        dripping.join()


def test_a_large_body_has_more_time() -> None:
    """As long as it comes at a fair rate."""
    size, pause = 40_000, threading.Event()
    first = POST + b"Content-Length: %d\r\n\r\n" % size + b"a" * (size // 8)
    with (
        door(body_s=0.4, body_bytes_per_s=100, body_max_s=60) as small,
        small.said(first) as caller,
    ):
        for _ in range(7):
            pause.wait(0.1)
            caller.send(b"a" * (size // 8))
        assert len(caller.answer().body) == size


def test_a_large_body_has_not_all_time() -> None:
    """In the end it must be there."""
    with door(body_s=0.1, body_bytes_per_s=10, body_max_s=0.3) as small, small.caller() as caller:
        caller.send(POST + b"Content-Length: 100000\r\n\r\n")
        dripping = drip(caller, b"a" * 1000, 0.01)
        assert caller.answer().status == 408
        dripping.join()


def test_a_held_request_is_nobodys_slowness() -> None:
    """The limits are for the caller; an answer may take its time."""
    names = ("head_s", "body_s", "idle_s", "unread_s")
    short: dict[str, Any] = dict.fromkeys(names, SHORT_S)
    hold = b"POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1"
    with door(**short) as small, small.said(hold) as caller:
        wait_for(lambda: small.app.asked == ["/hold"])
        threading.Timer(3 * SHORT_S, small.app.release.set).start()
        assert caller.answer().status == 200
