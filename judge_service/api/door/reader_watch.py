"""Watching that a caller reads its answer."""

from __future__ import annotations

import asyncio
import logging
from asyncio.events import TimerHandle

from judge_service.api.door.limits import DoorLimits

log = logging.getLogger("judge_service.door")


class ReaderWatch:
    """Hangs up on a caller that leaves an answer where it is, for it takes memory there."""

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, limits: DoorLimits
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._limits = limits
        self._unsent = 0
        self._timer: TimerHandle | None = None

    def start(self) -> None:
        """Watch from now on."""
        self.stop()
        self._unsent = self._transport.get_write_buffer_size()
        self._timer = self._loop.call_later(self._limits.unread_s, self._look)

    def stop(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        unsent = self._transport.get_write_buffer_size()
        if unsent > max(0, self._unsent - self._limits.unread_bytes):
            log.info("hung up on a caller that does not read its answer")
            self._transport.abort()
        elif unsent:
            self.start()
