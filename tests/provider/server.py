"""A provider of judge models at the network's edge: OpenAI's chat completions, scripted.

It runs in a thread with a loop of its own, so that plain tests, async tests and services in other
processes can all talk to it. Everything about it is bounded.
"""

from __future__ import annotations

import asyncio
import dataclasses
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from tests.polling import WITHIN_S, comes

from .behaviours import Behaviour
from .desk import Desk, Recorded
from .replies import Reply, json_reply
from .seen import Oracle
from .wire import HttpRequest, Wire, WireError

_MAX_RECORDS = 50_000
_MAX_CONNECTIONS = 2_000


class FakeProvider:
    """The server; use it as a context manager, or call ``start`` and ``stop``.

    At the end of the ``with`` block it raises when it had ``problems``, requests it could not play
    its part for (``tolerant`` turns that off). ``plain`` is what it answers to a request without an
    envelope, which is a problem otherwise.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        hold_s: float = 60.0,
        plain: str | None = None,
        tolerant: bool = False,
    ) -> None:
        """``port`` 0 takes a free one; ``hold_s`` bounds every wait inside a reply."""
        self.in_flight = 0
        self.max_in_flight = 0
        self._port = port
        self._elsewhere_port = 0
        self._hold_s = hold_s
        self._tolerant = tolerant
        self._desk = Desk(plain)
        self._elsewhere_desk = Desk(plain)  # honest, so that following a redirect would pay
        self._records: deque[Recorded] = deque(maxlen=_MAX_RECORDS)
        self._elsewhere: deque[Recorded] = deque(maxlen=_MAX_RECORDS)
        self._broken: list[str] = []
        self._connections: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None
        self._halt: Callable[[], object] = bool
        self._failure: OSError | None = None

    # What a test says.

    def behave(self, model: str, script: Behaviour | Sequence[Behaviour]) -> None:
        """Let ``model`` (the name in the request) behave so from its next request on."""
        self._desk.behave(model, script)

    def behave_by_default(self, script: Behaviour | Sequence[Behaviour]) -> None:
        """Let every model without a script behave so; they are honest until told otherwise."""
        self._desk.behave(None, script)

    def oracle(self, scores: Mapping[str, int] | Oracle, *, default: int | None = None) -> None:
        """Tell the honest scores: a table by ``text_hash``, or a function of the decoded text.

        A text that the table lacks has the score ``default``; without one it is a problem.
        """
        self._desk.oracle(scores, default)
        self._elsewhere_desk.oracle(scores, default)

    def reset(self) -> None:
        """Forget requests, counts, problems and scripts; the oracle stays."""
        self._desk.reset()
        self._records.clear()
        self._elsewhere.clear()
        self._broken.clear()
        self.max_in_flight = self.in_flight

    # What a test reads.

    @property
    def base_url(self) -> str:
        """The ``api_base`` of every judge served here."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def elsewhere_url(self) -> str:
        """Another origin, where redirects point to and nobody should ever arrive."""
        return f"http://127.0.0.1:{self._elsewhere_port}/v1"

    @property
    def requests(self) -> list[Recorded]:
        """The chat requests so far, in the order of arrival."""
        return list(self._records)

    def requests_of(self, model: str) -> list[Recorded]:
        """The chat requests that named ``model``."""
        return [record for record in self.requests if record.model == model]

    @property
    def elsewhere(self) -> list[Recorded]:
        """What arrived at the other origin."""
        return list(self._elsewhere)

    @property
    def problems(self) -> list[str]:
        """What the fake could not do: unreadable envelopes, oracle misses, bugs of a behaviour."""
        return self._broken + [record.problem for record in self.requests if record.problem]

    def wait_until(self, condition: Callable[[], bool], timeout_s: float = WITHIN_S) -> bool:
        """Wait for what happens in the server's thread; False when it did not in time."""
        return comes(condition, timeout_s)

    # Running.

    def start(self) -> Self:
        """Listen; returns when the ports are open, raises RuntimeError when they cannot be."""
        ready = threading.Event()
        self._failure = None
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._main(ready)), name="fake-provider", daemon=True
        )
        self._thread.start()
        if not ready.wait(60) or self._failure is not None:
            raise RuntimeError("the fake provider did not start") from self._failure
        return self

    def stop(self) -> None:
        """Close the ports and every connection; another start uses the same ports."""
        if self._thread is not None:
            self._halt()
            self._thread.join(10)
            self._thread = None

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and complain about what the fake could not do."""
        self.stop()
        if kind is None and self.problems and not self._tolerant:
            raise AssertionError("fake provider: " + "; ".join(self.problems[:5]))

    async def _main(self, ready: threading.Event) -> None:
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        self._halt = lambda: loop.call_soon_threadsafe(stopped.set)
        try:
            here = await self._listen(self._port, self._records)
            there = await self._listen(self._elsewhere_port, self._elsewhere)
        except OSError as failure:
            self._failure = failure
            ready.set()
            return
        self._port = here.sockets[0].getsockname()[1]
        self._elsewhere_port = there.sockets[0].getsockname()[1]
        ready.set()
        await stopped.wait()
        here.close()
        there.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _listen(self, port: int, records: deque[Recorded]) -> asyncio.Server:
        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(self._connections) >= _MAX_CONNECTIONS:
                writer.close()
                return
            task = asyncio.create_task(self._serve(reader, writer, records))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

        return await asyncio.start_server(accept, "127.0.0.1", port, backlog=1024)

    async def _serve(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        records: deque[Recorded],
    ) -> None:
        wire = Wire(reader, writer, hold_s=self._hold_s)
        try:
            while (request := await wire.read_request()) is not None:
                if not await self._exchange(wire, request, records):
                    break
        except (WireError, ValueError) as broken:
            self._broken.append(f"unreadable request: {broken}")
        finally:
            await wire.close()

    async def _exchange(self, wire: Wire, request: HttpRequest, records: deque[Recorded]) -> bool:
        if request.method == "GET" and request.path.endswith("/models"):
            models = [{"id": name, "object": "model"} for name in self._desk.models]
            reply = json_reply(200, {"object": "list", "data": models})
            return (await wire.send(reply, reply.payload("")))[1]
        desk = self._desk if records is self._records else self._elsewhere_desk
        record = desk.record(request, time.monotonic())
        records.append(record)
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            reply = self._addressed(desk.reply(record))
            record.status = reply.status
            record.complete, usable = await wire.send(reply, reply.payload(record.model))
            if not record.complete:
                record.hung_up_at = wire.gone_at
            return usable
        finally:
            record.finished_at = time.monotonic()
            self.in_flight -= 1

    def _addressed(self, reply: Reply) -> Reply:
        """A redirect that names no target leads to the other origin."""
        if reply.mode != "redirect" or "location" in reply.headers:
            return reply
        location = f"{self.elsewhere_url}/chat/completions"
        return dataclasses.replace(reply, headers={**reply.headers, "location": location})
