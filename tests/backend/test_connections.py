"""Connections to judges: kept, given up at once, never used twice for one request."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable

import pytest

from judge_service.adapters.backend_router import BackendRouter
from judge_service.asking.backend import ChatCall
from judge_service.errors import JudgeTimeout, UpstreamError
from judge_service.judges.judge import JudgeSpec
from tests.backend.support import ask
from tests.provider import FakeProvider, behaviours, by_hand, faults

CANCELLED_S = 0.5
REPLY = b'{"model": "m", "choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def _one(base: str, timeout_s: float = 5.0) -> ChatCall:
    judge = JudgeSpec(id="judge-a", model="openai/judge-a", family="alpha", api_base=base)
    return ChatCall(judge=judge, system="You judge.", user=by_hand.ONE, timeout_s=timeout_s)


async def _request(reader: asyncio.StreamReader) -> bytes:
    """The head of the next request; its body is read, too."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    (length,) = (int(line[15:]) for line in lines if line.startswith(b"content-length:"))
    await reader.readexactly(length)
    return head


def test_a_cancelled_call_closes_its_connection(direct: bool, provider: FakeProvider) -> None:
    """Within half a second the provider sees that nobody waits."""
    provider.behave("judge-a", faults.hang())

    async def main() -> float:
        backend = BackendRouter(direct=lambda _: direct)
        await backend.check([_one(provider.base_url).judge])
        task = asyncio.create_task(backend.complete(_one(provider.base_url)))
        assert await asyncio.to_thread(provider.wait_until, lambda: bool(provider.requests))
        task.cancel()
        cancelled = time.monotonic()
        await asyncio.gather(task, return_exceptions=True)
        seen = await asyncio.to_thread(
            provider.wait_until, lambda: provider.requests[0].hung_up_at is not None
        )
        assert seen
        await backend.aclose()
        return cancelled

    cancelled = asyncio.run(main())
    assert (provider.requests[0].hung_up_at or 0.0) <= cancelled + CANCELLED_S


@pytest.mark.parametrize("mode", ["hang", "drip_header", "drip_body"])
def test_a_slow_provider_is_given_up_in_time(mode: str, provider: FakeProvider) -> None:
    """Also one that keeps sending a byte now and then, and without a layer above that watches."""
    script = faults.hang() if mode == "hang" else faults.network(mode, interval=0.2)  # type: ignore[arg-type]
    provider.behave("judge-a", script)
    started = time.monotonic()
    with pytest.raises(JudgeTimeout):
        ask(_one(provider.base_url, timeout_s=0.2), direct=True)
    assert time.monotonic() - started < 5.0


def _served(handler: Handler, use: Callable[[str], Awaitable[None]]) -> None:
    """Run ``use`` beside a server that treats each connection with ``handler``."""

    async def main() -> None:
        server = await asyncio.start_server(handler, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            await use(f"http://127.0.0.1:{port}/v1")
        finally:
            server.close()

    asyncio.run(main())


def test_a_connection_is_used_again(direct: bool) -> None:
    """One call after the other, over one connection."""
    connections = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        for _ in range(3):
            await _request(reader)
            writer.write(HEAD % len(REPLY) + b"set-cookie: a=b\r\n\r\n" + REPLY)
        writer.close()

    async def use(base: str) -> None:
        backend = BackendRouter(direct=lambda _: direct)
        for _ in range(3):
            assert (await backend.complete(_one(base))).content == "hello"
        await backend.aclose()

    _served(handler, use)
    assert connections == 1


def test_a_long_question_arrives_whole(direct: bool, plain: FakeProvider) -> None:
    """Megabytes, as a judge with a large window may be asked."""
    text = "A long story. \u00e9" * 100_000
    judge = _one(plain.base_url).judge
    plain.reset()
    call = ChatCall(judge=judge, system="S", user=text, timeout_s=20.0)
    assert ask(call, direct=direct).content == "plain"
    (request,) = plain.requests
    assert request.body["messages"][1]["content"] == text


def test_a_connection_closed_while_idle_is_not_used_again(direct: bool) -> None:
    """The next call opens a new one and is one request."""
    heads: list[bytes] = []
    closed = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await _request(reader))
        writer.write(HEAD % len(REPLY) + b"\r\n" + REPLY)
        writer.close()
        await writer.wait_closed()
        closed.set()

    async def use(base: str) -> None:
        backend = BackendRouter(direct=lambda _: direct)
        for _ in range(2):
            assert (await backend.complete(_one(base))).content == "hello"
            await asyncio.wait_for(closed.wait(), 5.0)
        await backend.aclose()

    _served(handler, use)
    assert len(heads) == 2
    assert all(b"cookie" not in head.lower() for head in heads)


@pytest.mark.parametrize("mode", ["reset", "reset_body", "half"])
def test_a_request_on_a_kept_connection_is_never_sent_twice(
    mode: str, direct: bool, provider: FakeProvider
) -> None:
    """A provider that breaks off may have judged already: what follows is another request."""
    provider.behave("judge-a", [behaviours.honest(), faults.network(mode)])  # type: ignore[arg-type]

    async def main() -> None:
        backend = BackendRouter(direct=lambda _: direct)
        try:
            await backend.complete(_one(provider.base_url))
            with pytest.raises(UpstreamError) as raised:
                await backend.complete(_one(provider.base_url))
            assert not raised.value.permanent
        finally:
            await backend.aclose()

    asyncio.run(main())
    assert len(provider.requests) == 2


@pytest.mark.parametrize("login", ["", "me:w%40rd@"])
def test_a_proxy_of_the_environment_is_used(
    login: str, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its login; NO_PROXY and loopback addresses go around it."""
    heads: list[bytes] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await _request(reader))
        writer.write(HEAD % len(REPLY) + b"\r\n" + REPLY)
        writer.close()

    async def use(base: str) -> None:
        monkeypatch.setenv("HTTP_PROXY", base.replace("://", f"://{login}").removesuffix("/v1"))
        monkeypatch.setenv("http_proxy", base.replace("://", f"://{login}").removesuffix("/v1"))
        monkeypatch.setenv("NO_PROXY", "around.invalid")
        monkeypatch.setenv("no_proxy", "around.invalid")
        backend = BackendRouter(direct=lambda _: direct)
        for address in ("http://judge.invalid/v1", base):
            assert (await backend.complete(_one(address))).content == "hello"
        with pytest.raises(UpstreamError):
            await backend.complete(_one("http://around.invalid/v1"))
        await backend.aclose()

    _served(handler, use)
    through, around = heads
    assert through.startswith(b"POST http://judge.invalid/v1/chat/completions ")
    assert around.startswith(b"POST /v1/chat/completions ")
    assert b"proxy-authorization" not in around.lower()
    if login:
        assert base64.b64encode(b"me:w@rd") in through
