"""The transport as a request's answer sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_HEAD = b"HTTP/1.1 "
_JOIN_BYTES = 64 * 1024
"""A longer body is not copied behind its head."""


class Exit(asyncio.Transport):
    """Writes through, but keeps the head of an answer until its body comes in the same step of the
    loop: they leave in one packet, by one call of the system.

    Closing is left to ``leave``, which knows what else is to be done.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        leave: Callable[[], None],
        is_leaving: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._transport = transport
        self._leave = leave
        self._is_leaving = is_leaving
        self._call_soon = asyncio.get_running_loop().call_soon
        self._head: bytes | bytearray | memoryview | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send, or keep until the next step of the loop at most."""
        head = self._head
        if head is not None:
            self._head = None
            if len(data) <= _JOIN_BYTES:
                self._transport.write(b"".join((head, data)))
            else:
                self._transport.writelines((head, data))
        elif data[: len(_HEAD)] == _HEAD:
            self._head = data
            self._call_soon(self._send_head)
        else:
            self._transport.write(data)

    def _send_head(self) -> None:
        head, self._head = self._head, None
        if head is not None and not self._transport.is_closing():
            self._transport.write(head)

    def close(self) -> None:
        """Leave."""
        self._send_head()
        self._leave()

    def is_closing(self) -> bool:
        """Whether nothing can be written any more."""
        return self._is_leaving() or self._transport.is_closing()

    def forget(self) -> None:
        """Let go of what is called when leaving; the connection is gone."""
        self._head = None
        self._leave = _nothing
        self._is_leaving = _always


def _nothing() -> None:
    pass


def _always() -> bool:
    return True
