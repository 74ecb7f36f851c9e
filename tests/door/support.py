"""What the tests of the door share: a small app behind it, and a caller that writes raw bytes."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

import uvicorn

from judge_service.api.door import DoorLimits, door_options
from tests.polling import until

BOUND_S = 60.0
"""No wait of a test is longer, in seconds."""
GET = b"GET /ok HTTP/1.1\r\nHost: door\r\n\r\n"
POST = b"POST /echo HTTP/1.1\r\nHost: door\r\n"


@dataclass(slots=True)
class App:
    """An app that notes what it is asked.

    ``/echo`` answers with the body, ``/unread`` without reading it, ``/hold`` when ``release`` is
    set or the caller is gone, ``/head`` with its head at once and its body when ``release`` is set,
    ``/big`` with ``big`` bytes; anything else with its own path.
    """

    big: int = 0
    asked: list[str] = field(default_factory=list)
    scopes: list[dict[str, Any]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """ASGI entry."""
        assert scope["type"] == "http"
        path = scope["path"]
        self.asked.append(path)
        self.scopes.append(scope)
        body = path.encode()
        if path == "/echo":
            read = await self._read(receive)
            if read is None:
                self.gone.append(path)
                return
            body = read
        elif path == "/hold":
            if await self._hold(receive):
                self.gone.append(path)
                return
        elif path == "/big":
            body = bytes(self.big)
        length = str(len(body)).encode()
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]}
        )
        if path == "/head" and await self._hold(receive):
            self.gone.append(path)
            return
        await send({"type": "http.response.body", "body": body})

    async def _read(self, receive: Any) -> bytes | None:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message["body"]
            if not message["more_body"]:
                return bytes(body)

    async def _hold(self, receive: Any) -> bool:
        """Whether the caller was gone before the release."""

        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        watch = asyncio.ensure_future(gone())
        for _ in range(int(BOUND_S / 0.005)):
            done, _ = await asyncio.wait({watch}, timeout=0.005)
            if done or self.release.is_set():
                break
        watch.cancel()
        return not self.release.is_set()


@dataclass(frozen=True, slots=True)
class Door:
    """The app behind the door, on ``port``."""

    app: App
    port: int
    server: uvicorn.Server

    def caller(self) -> Caller:
        """A new connection."""
        return Caller(self.port)

    @contextmanager
    def said(self, data: bytes) -> Iterator[Caller]:
        """A new connection on which this stands when the door first looks: what it measures from
        then on has nothing to do with how fast the test is.
        """
        looks_away, done = threading.Event(), threading.Event()

        def look_away() -> None:
            looks_away.set()
            done.wait(BOUND_S)

        self.server.servers[0].get_loop().call_soon_threadsafe(look_away)
        try:
            assert looks_away.wait(BOUND_S)
            caller = self.caller().send(data)
        finally:
            done.set()
        with caller:
            yield caller

    def stop(self) -> None:
        """What a signal does."""
        self.server.should_exit = True


@contextmanager
def door(app: App | None = None, **limits: Any) -> Iterator[Door]:
    """Run an app behind the door, in a thread, until the block ends."""
    app = app or App()
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_level="error", lifespan="off",
        timeout_graceful_shutdown=60, **door_options(DoorLimits(**limits)),
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    try:
        yield Door(app, server.servers[0].sockets[0].getsockname()[1], server)
    finally:
        app.release.set()
        server.should_exit = True
        thread.join(timeout=BOUND_S)
        assert not thread.is_alive()


def wait_for(condition: Any, timeout_s: float = BOUND_S) -> None:
    """Return when it holds; fail when it does not in time."""
    until(condition, "it did not happen in time", timeout_s)


@dataclass(frozen=True, slots=True)
class Answer:
    """One response."""

    status: int
    fields: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The word for machines of a refusal, which must be in the form of all refusals."""
        assert self.fields["content-type"] == "application/json"
        assert self.fields["x-request-id"]
        error = json.loads(self.body)["error"]
        assert set(error) == {"code", "message"}
        return str(error["code"])


class Caller:
    """A connection on which a test writes bytes. Every wait is bounded."""

    def __init__(self, port: int, *, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(BOUND_S)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> Self:
        """Write everything, or as much as the other side lets."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)
        return self

    def answer(self) -> Answer:
        """The next response, interim ones included."""
        head, self._buffer = self._until(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines if line)
        length = int(fields.get("content-length", "0"))
        while len(self._buffer) < length:
            self._more()
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return Answer(int(first.split()[1]), fields, body)

    def closed(self) -> bool:
        """Whether the other side closes, having said nothing more."""
        try:
            return not self._buffer and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def end(self) -> None:
        """Close at once, as a caller that has lost its patience."""
        self.socket.close()

    def _until(self, mark: bytes) -> tuple[bytes, bytes]:
        while mark not in self._buffer:
            self._more()
        found, _, rest = self._buffer.partition(mark)
        return found, rest

    def _more(self) -> None:
        data = self.socket.recv(65536)
        assert data, "closed without an answer"
        self._buffer += data
