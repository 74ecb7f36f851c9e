"""How a connection ends: everything is sent, no more is heard, and that takes a bounded time."""

from __future__ import annotations

import asyncio
import logging
from asyncio.events import TimerHandle
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, ClassVar

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from judge_service.api.door.exit import Exit
from judge_service.api.door.limits import DoorLimits
from judge_service.api.door.line import Line
from judge_service.api.door.reader_watch import ReaderWatch
from judge_service.api.door.refusal import Refusal

log = logging.getLogger("judge_service.door")


class Phase(Enum):
    """Where a connection is."""

    HEAD = auto()
    BODY = auto()
    ANSWER = auto()
    """The request is here, its answer is not."""
    LEAVING = auto()
    """Nothing is heard any more."""


# As names of the module: looking a member up in its Enum costs a call, and this is done per packet.
HEAD, BODY, ANSWER, LEAVING = Phase


class LeavingProtocol(HttpToolsProtocol):
    """Uvicorn's protocol with an orderly end. ``limits`` are the class's: uvicorn makes objects."""

    limits: ClassVar[DoorLimits] = DoorLimits()

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.timeout_keep_alive = self.limits.idle_s  # type: ignore[assignment]  # given to call_later alone
        self._phase = HEAD
        self._begun = b""  # of a head
        self._ahead = bytearray()  # of the requests after this one
        self._thrown_away = 0
        self._timer: TimerHandle | None = None
        self._line: Line | None = None  # of the request at hand

    # Narrower than asyncio's, as uvicorn's own.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take note of the transport."""
        super().connection_made(transport)
        self._exit = Exit(transport, self.leave, self._is_leaving)
        self._reader = ReaderWatch(transport, self.loop, self.limits)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything."""
        self._let_go()
        self._reader.stop()
        super().connection_lost(exc)
        self._exit.forget()
        self._cut_line()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing was asked for long."""
        self.leave()

    def pause_writing(self) -> None:
        """The caller does not read."""
        super().pause_writing()
        self._reader.start()

    def resume_writing(self) -> None:
        """The caller has read."""
        super().resume_writing()
        self._reader.stop()

    def _refuse(self, refusal: Refusal) -> None:
        """Answer in the app's stead, unless it has begun to; nothing more is heard."""
        peer = self.client[0] if self.client else "-"
        log.info("%d %s: %s (%s)", refusal.status, refusal.code, refusal, peer)
        cycle: Any = self.cycle
        running = cycle is not None and not cycle.response_complete
        if not (running and cycle.response_started) and not self.transport.is_closing():
            self.transport.write(refusal.answer(self.server_state.default_headers))
        if running:
            cycle.disconnected = True
            cycle.message_event.set()
            self._cut_line()
        self.leave(unread=True)

    def leave(self, *, unread: bool = False) -> None:
        """Close when everything is sent.

        Where the caller may still be sending, that is read and thrown away for a moment: a socket
        closed on unread bytes resets the connection, and the answer with it.
        """
        if self._phase is LEAVING:
            return
        unread = unread or self._phase is BODY or self._thrown_away > 0
        self._let_go()
        if self.transport.is_closing():
            return
        if unread and self.transport.can_write_eof():
            self.flow.resume_reading()
            self.transport.write_eof()
            self._wait(self.limits.linger_s, self._lingered)
        else:
            self.transport.close()
        if self.transport.get_write_buffer_size():
            self._reader.start()

    def _cut_line(self) -> None:
        if self._line is not None:
            self._line.cut()

    def _is_leaving(self) -> bool:
        return self._phase is LEAVING

    def _let_go(self) -> None:
        self._phase = LEAVING
        self._begun = b""
        self._ahead.clear()
        self._unset_keepalive_if_required()
        self._stop_waiting()

    def _lingered(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.close()  # the reader is being watched
        else:
            self.transport.abort()

    def _throw_away(self, size: int) -> None:
        self._thrown_away += size
        if self._thrown_away > self.limits.linger_bytes:
            self.transport.abort()

    def _wait(self, seconds: float, late: Callable[[], None]) -> None:
        self._timer = self.loop.call_later(seconds, late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
