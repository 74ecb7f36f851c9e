"""Connections: one pool for each event loop, made when it is first needed and closed with the loop.

A pool must not outlive its loop, nor be used by another one: trainers run a new loop at every step,
in threads and in worker processes. A loop closes its asynchronous generators before it ends, so one
of them keeps the pool; and a timer that never rings keeps the generator, so that it lives as long
as the loop and is closed there even when its client is thrown away elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncGenerator

import httpx

from judge_client.connections import certificates
from judge_client.settings import Settings

CONNECT_S = 5.0
MAX_CONNECTIONS = 256
MAX_IDLE = 32
_NEVER_S = 10 * 365 * 86_400.0
Keeper = AsyncGenerator[None, None]


class Pools:
    """The pools of one client, each with at most ``connections`` of them."""

    def __init__(self, settings: Settings, connections: int | None = MAX_CONNECTIONS) -> None:
        self._settings = settings
        self._connections = connections
        self._pools: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[httpx.AsyncClient, Keeper]
        ] = weakref.WeakKeyDictionary()

    async def here(self) -> httpx.AsyncClient:
        """The pool of the running loop."""
        loop = asyncio.get_running_loop()
        found = self._pools.get(loop)
        if found is not None and not found[0].is_closed:
            return found[0]
        http = self._make()
        ends = contextlib.ExitStack()
        keeper = _keep(http, ends)
        # No await before this, or two tasks would make two pools.
        self._pools[loop] = (http, keeper)
        ends.callback(loop.call_later(_NEVER_S, _nothing, keeper).cancel)
        thrown_away = weakref.finalize(self, _close_there, weakref.ref(loop), keeper)
        thrown_away.atexit = False
        ends.callback(thrown_away.detach)
        await keeper.__anext__()
        return http

    async def close(self) -> None:
        """Close the pool of the running loop; the next call makes a new one."""
        found = self._pools.pop(asyncio.get_running_loop(), None)
        if found is not None:
            await found[1].aclose()

    def _make(self) -> httpx.AsyncClient:
        headers = {"Accept": "application/json", "User-Agent": "judge-service-client"}
        if self._settings.api_key is not None:
            headers["Authorization"] = f"Bearer {self._settings.api_key}"
        return httpx.AsyncClient(
            headers=headers,
            # The deadline of a call bounds all but the connecting, which is worth a second try.
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            limits=httpx.Limits(
                max_connections=self._connections, max_keepalive_connections=MAX_IDLE
            ),
            trust_env=not self._settings.is_local,
            follow_redirects=False,
            verify=certificates(self._settings.scheme),
        )


async def _keep(http: httpx.AsyncClient, ends: contextlib.ExitStack) -> Keeper:
    """Closes ``http`` when this is closed: by the loop that ends, or by the client."""
    try:
        yield
    finally:
        ends.close()
        await http.aclose()


def _nothing(keeper: Keeper) -> None:
    """What the timer would do."""


def _close_there(loop_ref: weakref.ref[asyncio.AbstractEventLoop], keeper: Keeper) -> None:
    """Close a pool in its own loop, from wherever its client was thrown away."""
    loop = loop_ref()
    if loop is not None and not loop.is_closed():
        with contextlib.suppress(RuntimeError):  # closed in the meantime
            loop.call_soon_threadsafe(lambda: _spawn(loop, keeper))


_closing: set[asyncio.Task[None]] = set()


def _spawn(loop: asyncio.AbstractEventLoop, keeper: Keeper) -> None:
    async def close() -> None:
        # The loop may be closing it as well, at its end.
        with contextlib.suppress(RuntimeError):
            await keeper.aclose()

    # A loop holds its tasks by weak references only.
    task = loop.create_task(close())
    _closing.add(task)
    task.add_done_callback(_closing.discard)
