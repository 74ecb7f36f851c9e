"""One upstream for all sides: it answers every chat completion after 50 ms, as each client reads.

``python -m benchmarks.speed.peers.upstream`` listens on a free port of loopback, says where in one
line of JSON, and ends when its standard input does. The first part of a path says who asks
(``/mlflow/v1/chat/completions``). ``GET /stats`` tells calls and the most that were open at once,
by who asked; ``POST /reset`` forgets them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import uvloop

from benchmarks.speed.peers.replies import answer, http

LATENCY_S = 0.05


class Upstream:
    """What was asked since the last reset."""

    def __init__(self) -> None:
        self.reset()
        self.open: Counter[str] = Counter()

    def reset(self) -> None:
        """Forget it; calls in flight stay."""
        self.calls: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.refused: list[str] = []

    def summary(self) -> dict[str, Any]:
        """The same as JSON."""
        return {"calls": self.calls, "most_in_flight": self.most, "refused": self.refused[:5]}

    def handle(self, path: str, body: bytes, send: Callable[[bytes], None]) -> None:
        """Answer one request, a chat completion after its time."""
        if path == "/stats":
            return send(http(200, self.summary()))
        if path == "/reset":
            self.reset()
            return send(http(200, {}))
        who = path.split("/")[1]
        try:
            if not path.endswith("/chat/completions"):
                raise ValueError("no chat completion")
            sent = answer(who, body)
        except (ValueError, KeyError, TypeError) as error:
            self.refused.append(f"{path}: {error!r}"[:300])
            return send(http(404, {"error": {"message": f"{path}: {error!r}"}}))
        self.calls[who] += 1
        self.open[who] += 1
        self.most[who] = max(self.most[who], self.open[who])
        asyncio.get_running_loop().call_later(LATENCY_S, self._answer, who, sent, send)
        return None

    def _answer(self, who: str, sent: bytes, send: Callable[[bytes], None]) -> None:
        self.open[who] -= 1
        send(sent)


class Connection(asyncio.Protocol):
    """One HTTP/1.1 connection; one request at a time."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where answers go."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take a request out of what has come."""
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end]).decode("latin-1")
        length = head.lower().partition("\r\ncontent-length:")[2].partition("\r\n")[0]
        whole = end + 4 + int(length or "0")
        if len(self._buffer) < whole:
            return
        body = bytes(self._buffer[end + 4 : whole])
        del self._buffer[:whole]
        self._upstream.handle(head.split(" ", 2)[1], body, self._send)

    def _send(self, sent: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(sent)


async def serve() -> None:
    """Listen until standard input ends."""
    loop = asyncio.get_running_loop()
    upstream = Upstream()
    server = await loop.create_server(lambda: Connection(upstream), "127.0.0.1", 0, backlog=2048)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    uvloop.run(serve())
