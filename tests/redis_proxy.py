"""A TCP proxy in front of Redis that holds back what the server says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

CHUNK = 65536


@asynccontextmanager
async def delaying_proxy(port: int, delay_s: Callable[[], float]) -> AsyncIterator[int]:
    """Proxy to a port of this machine; gives the proxy's own port. ``delay_s`` is asked for every
    piece the server sends.
    """
    connections: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        task.add_done_callback(connections.discard)
        with suppress(OSError, asyncio.CancelledError):
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", port)
            back = asyncio.create_task(_copy(up_reader, writer, delay_s))
            try:
                await _copy(reader, up_writer, lambda: 0.0)
            finally:
                back.cancel()
                up_writer.close()
                writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        own: int = server.sockets[0].getsockname()[1]
        yield own
    finally:
        server.close()
        for connection in list(connections):
            connection.cancel()
        if connections:
            await asyncio.wait(set(connections), timeout=2.0)
        await server.wait_closed()


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: Callable[[], float]
) -> None:
    with suppress(OSError):
        while data := await reader.read(CHUNK):
            if (delay := delay_s()) > 0:
                await asyncio.sleep(delay)
            writer.write(data)
            await writer.drain()
