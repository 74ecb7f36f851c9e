"""One HTTP/1.1 connection, written by hand so that a reply can break in every way."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from .replies import Reply

MAX_HEAD = 64 * 1024
MAX_BODY = 64 * 1024 * 1024
_CHUNK = 64 * 1024
_LOOK_S = 0.005


class WireError(Exception):
    """The client sent what this small server does not read; the connection is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """Reads requests from a connection, notices at once when the client leaves, sends replies.

    Nothing is held longer than ``hold_s`` seconds.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, hold_s: float
    ) -> None:
        """Start reading ahead; must be called inside the loop."""
        self._reader = reader
        self._writer = writer
        self._hold_s = hold_s
        self._buffer = bytearray()
        self._changed = asyncio.Event()
        self._gone = asyncio.Event()
        self.gone_at: float | None = None
        self._pump = asyncio.create_task(self._read_ahead())

    async def _read_ahead(self) -> None:
        try:
            while chunk := await self._reader.read(_CHUNK):
                self._buffer += chunk
                self._changed.set()
                if len(self._buffer) > MAX_BODY + MAX_HEAD:
                    break
        except OSError:
            pass  # a reset is a client that left
        finally:
            self.gone_at = time.monotonic()
            self._gone.set()
            self._changed.set()

    async def read_request(self) -> HttpRequest | None:
        """The next request, or None when the client has left.

        Raises:
            WireError: the head or the body is too long, or the framing is not supported.
        """
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if len(self._buffer) > MAX_HEAD:
                raise WireError("head too long")
            if not await self._more():
                return None
        first, *lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        method, path, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        if "transfer-encoding" in headers or not 0 <= length <= MAX_BODY:
            raise WireError("framing not supported")
        while len(self._buffer) < length:
            if not await self._more():
                return None
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return HttpRequest(method=method, path=path, headers=headers, body=body)

    async def _more(self) -> bool:
        if self._gone.is_set():
            return False
        self._changed.clear()
        await self._changed.wait()
        return True

    async def pause(self, seconds: float) -> bool:
        """Wait; False when the client left meanwhile."""
        if seconds > 0:
            try:
                await asyncio.wait_for(self._gone.wait(), min(seconds, self._hold_s))
            except TimeoutError:
                return True
        return not self._gone.is_set()

    async def opened(self, gate: threading.Event) -> bool:
        """Wait until the gate is set; False when the client left meanwhile."""
        until = time.monotonic() + self._hold_s
        while not gate.is_set() and time.monotonic() < until:
            if not await self.pause(_LOOK_S):
                return False
        return not self._gone.is_set()

    async def send(self, reply: Reply, payload: bytes) -> tuple[bool, bool]:
        """Send a reply in its mode.

        Returns:
            Whether all of it was sent, and whether the connection can serve another request.
        """
        if reply.gate is not None and not await self.opened(reply.gate):
            return False, False
        if not await self.pause(reply.delay):
            return False, False
        try:
            return await self._send(reply, payload)
        except OSError:
            self.gone_at = self.gone_at or time.monotonic()
            return False, False

    async def _send(self, reply: Reply, payload: bytes) -> tuple[bool, bool]:
        match reply.mode:
            case "normal" | "redirect":
                await self._write(head(reply, len(payload)) + payload)
                return True, True
            case "chunked":
                await self._write(head(reply, "chunked") + chunk(payload[:9]) + chunk(payload[9:]))
                await self._write(b"0\r\n\r\n")
                return True, True
            case "gzip" | "gzip_bomb":
                packed = deflate(payload, 0 if reply.mode == "gzip" else reply.size)
                await self._write(head(reply, len(packed), "gzip") + packed)
                return True, True
            case "big":
                await self._write(head(reply, len(payload) + reply.size) + payload)
                return await self._stream(b" " * _CHUNK, reply.size), False
            case "endless":
                start = payload.rstrip()[:-1] + b',"pad":"'
                await self._write(head(reply, "chunked") + chunk(start))
                return await self._stream(chunk(b"0" * _CHUNK), reply.size), False
            case "drip_header" | "drip_body":
                return await self._drip(reply, payload), False
            case _:
                return await self._break(reply, payload), False

    async def _break(self, reply: Reply, payload: bytes) -> bool:
        half = payload[: len(payload) // 2]
        match reply.mode:
            case "hang":
                await self.pause(self._hold_s)
            case "reset":
                self._reset()
            case "reset_body":
                await self._write(head(reply, len(payload)) + half)
                self._reset()
            case "half":
                await self._write(head(reply, len(payload)) + half)
            case _:  # half_unmarked
                await self._write(head(reply, None) + half)
        return False

    async def _stream(self, part: bytes, size: int) -> bool:
        for at in range(0, size, len(part)):
            if self._gone.is_set():
                return False
            await self._write(part[: size - at])
        return True

    async def _drip(self, reply: Reply, payload: bytes) -> bool:
        start = head(reply, len(payload))
        if reply.mode == "drip_body":
            await self._write(start)
            start = b""
        *most, last = start + payload
        until = time.monotonic() + self._hold_s
        for byte in most:
            await self._write(bytes((byte,)))
            if time.monotonic() > until or not await self.pause(reply.interval):
                return False
        await self._write(bytes((last,)))
        return True

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def _reset(self) -> None:
        raw = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def close(self) -> None:
        """End the connection; safe to call twice."""
        self._pump.cancel()
        self._writer.close()
        try:
            await asyncio.wait_for(self._writer.wait_closed(), 1.0)
        except OSError:
            self._writer.transport.abort()  # it was reset, or it does not read what is left


def head(reply: Reply, length: int | str | None, coding: str | None = None) -> bytes:
    """The status line and headers; a ``length`` that is a string is a transfer coding."""
    known = {status.value: status.phrase for status in HTTPStatus}
    headers = {"content-type": reply.content_type, "x-request-id": "req_fake", **reply.headers}
    if coding is not None:
        headers["content-encoding"] = coding
    if length is None:
        headers["connection"] = "close"
    elif isinstance(length, int):
        headers["content-length"] = str(length)
    else:
        headers["transfer-encoding"] = length
    lines = [f"HTTP/1.1 {reply.status} {known.get(reply.status, 'Unknown')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(data: bytes) -> bytes:
    """One piece of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


def deflate(payload: bytes, extra: int) -> bytes:
    """Gzip a JSON object, with a field of ``extra`` zeros put in front of its first one."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    if not extra:
        return packer.compress(payload) + packer.flush()
    parts = [packer.compress(b'{"pad":"')]
    for at in range(0, extra, _CHUNK):
        parts.append(packer.compress(b"0" * min(_CHUNK, extra - at)))
    parts.append(packer.compress(b'",' + payload.lstrip()[1:]))
    return b"".join(parts) + packer.flush()
