"""Requests on one connection: one after the other, and none after a refusal."""

from __future__ import annotations

import socket

import pytest

from tests.door.support import GET, POST, door, wait_for

CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
HOLD = b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"


def test_requests_sent_ahead_are_answered_in_order() -> None:
    """Each after the one before, with bodies where they belong."""
    posts = [POST + b"Content-Length: %d\r\n\r\n%s" % (n, b"x" * n) for n in (1, 0, 30)]
    with door() as small, small.caller() as caller:
        caller.send(GET + posts[0] + GET + posts[1] + posts[2] + HIDDEN)
        bodies = [caller.answer().body for _ in range(6)]

    assert bodies == [b"/ok", b"x", b"/ok", b"", b"x" * 30, b"/hidden"]


def test_requests_sent_ahead_wait() -> None:
    """The next one does not run beside the first."""
    with door() as small, small.caller() as caller:
        caller.send(HOLD + GET)
        wait_for(lambda: small.app.asked == ["/hold"])
        small.app.release.set()

        assert [caller.answer().body for _ in range(2)] == [b"/hold", b"/ok"]


@pytest.mark.parametrize("ahead", [b"", GET, GET * 10_000, b"a" * 1_000_000], ids=len)
def test_a_caller_that_hangs_up_is_noticed(ahead: bytes) -> None:
    """Whatever it had sent ahead; none of that is run."""
    with door() as small, small.caller() as caller:
        caller.send(HOLD + ahead)
        wait_for(lambda: small.app.asked == ["/hold"])
        caller.end()

        wait_for(lambda: small.app.gone == ["/hold"])
        wait_for(lambda: not small.server.server_state.connections)
        assert small.app.asked == ["/hold"]


def test_a_later_request_that_hangs_up_is_noticed() -> None:
    """On a connection that had been in use before."""
    with door() as small, small.caller() as caller:
        assert caller.send(GET).answer().status == 200
        caller.send(HOLD)
        wait_for(lambda: len(small.app.asked) == 2)
        caller.end()

        wait_for(lambda: small.app.gone == ["/hold"])


def test_closing_the_sending_half_is_hanging_up() -> None:
    """A caller that wants its answer keeps both halves open."""
    with door() as small, small.caller() as caller:
        caller.send(HOLD)
        wait_for(lambda: small.app.asked == ["/hold"])
        caller.socket.shutdown(1)

        wait_for(lambda: small.app.gone == ["/hold"])


def test_too_much_sent_ahead_is_not_answered() -> None:
    """The first one is; then the connection ends, and the caller knows which were not."""
    with door(ahead_bytes=1000) as small, small.caller() as caller:
        caller.send(HOLD + GET * 100)
        wait_for(lambda: small.app.asked == ["/hold"])
        small.app.release.set()

        answer = caller.answer()
        assert answer.body == b"/hold"
        assert caller.closed()
        assert small.app.asked == ["/hold"]


def test_nothing_follows_a_refusal() -> None:
    """What stands behind a malformed request is not a request."""
    with door() as small, small.caller() as caller:
        caller.send(GET + b"GET /ok HTTP/1.1\r\n\r\n" + HIDDEN)

        assert [caller.answer().status for _ in range(2)] == [200, 400]
        assert caller.closed()
        assert small.app.asked == ["/ok"]


def test_nothing_follows_a_close() -> None:
    """Nor what stands behind the last request."""
    with door() as small, small.caller() as caller:
        caller.send(GET[:-2] + b"Connection: close\r\n\r\n" + HIDDEN)

        assert caller.answer().fields["connection"] == "close"
        assert caller.closed()
        assert small.app.asked == ["/ok"]


def test_what_stands_behind_a_chunked_body_is_not_run() -> None:
    """The answer comes, then the connection ends; a caller that is alone with it loses nothing."""
    with door() as small, small.caller() as caller:
        caller.send(CHUNKED + b"5\r\nhello\r\n0\r\n\r\n" + HIDDEN)

        assert caller.answer().body == b"hello"
        assert caller.closed()
        assert small.app.asked == ["/echo"]


def test_chunked_bodies_on_one_connection() -> None:
    """One after the other they are served, cut into whatever packets."""
    whole = CHUNKED + b"5;a=b\r\nhello\r\n3\r\nyou\r\n0\r\nX: a\r\n\r\n"
    with door() as small, small.caller() as caller:
        assert caller.send(whole).answer().body == b"helloyou"
        for at in range(len(whole)):
            caller.send(whole[at : at + 1])
        assert caller.answer().body == b"helloyou"
        assert caller.send(GET).answer().body == b"/ok"


def test_trailers_are_not_headers() -> None:
    """Nothing can be added to a request that has been let in."""
    with door() as small, small.caller() as caller:
        caller.send(CHUNKED + b"5\r\nhello\r\n0\r\nAuthorization: Bearer x\r\n\r\n")
        assert caller.answer().body == b"hello"

        names = [name for name, _ in small.app.scopes[0]["headers"]]
        assert names == [b"host", b"transfer-encoding"]


@pytest.mark.parametrize(
    "body",
    [
        b"5\nhello\r\n0\r\n\r\n",
        b"5\r\nhello\n0\r\n\r\n",
        b"5;a\nhello\r\n0\r\n\r\n",
        b"5;a\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"-5\r\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"\r\n5\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhello0\r\n\r\n",
        b"5\r\nhellohello\r\n0\r\n\r\n",
        b"ffffffffffffffffff\r\nhello",
        b"5\r\nhello\r\n0\n\n",
        b"hello",
    ],
)
def test_a_malformed_chunked_body(body: bytes) -> None:
    """400, the app gets no body, and what follows is not run."""
    with door() as small, small.caller() as caller:
        assert caller.send(CHUNKED + body + HIDDEN).answer().status == 400
        assert caller.closed()
        wait_for(lambda: small.app.gone == small.app.asked)
        assert "/hidden" not in small.app.asked


@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
def test_expecting_to_be_asked_for_the_body(version: bytes) -> None:
    """Only HTTP/1.1 knows the interim answer; a body that nobody wants is not asked for."""
    fields = (
        b" HTTP/" + version + b"\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    )
    with door() as small, small.caller() as caller, small.caller() as unwanted:
        caller.send(b"POST /echo" + fields)
        if version == b"1.1":
            assert caller.answer().status == 100
        assert caller.send(b"hello").answer().body == b"hello"

        answer = unwanted.send(b"POST /unread" + fields).answer()
        assert (answer.status, answer.fields["connection"]) == (200, "close")


def test_the_service_stops() -> None:
    """Complete requests are answered; half-sent and idle ones end at once."""
    with (
        door() as small, small.caller() as held, small.caller() as idle, small.caller() as fresh,
        small.caller() as head, small.caller() as body,
    ):  # fmt: skip
        assert idle.send(GET).answer().status == 200
        head.send(GET[:-2])
        body.send(POST + b"Content-Length: 5\r\n\r\nhell")
        held.send(HOLD + GET)
        wait_for(lambda: len(small.app.asked) == 3)
        wait_for(lambda: len(small.server.server_state.connections) == 5)
        small.stop()

        for half in (head, body):
            answer = half.answer()
            assert (answer.status, answer.code) == (503, "overloaded")
            assert answer.fields["retry-after"]
            assert half.closed()
        assert idle.closed()
        assert fresh.closed()
        small.app.release.set()
        answer = held.answer()
        assert (answer.body, answer.fields["connection"]) == (b"/hold", "close")
        assert held.closed()
        assert small.app.asked.count("/ok") == 1


def test_a_head_does_not_wait_for_its_body() -> None:
    """A caller sees that its answer has begun; the body follows when it is there."""
    with door() as small, small.caller() as caller:
        caller.send(b"GET /head HTTP/1.1\r\nHost: a\r\n\r\n")
        begun = caller.socket.recv(12, socket.MSG_PEEK)
        small.app.release.set()

        assert begun == b"HTTP/1.1 200"
        assert caller.answer().body == b"/head"
