"""The transport as a request's answer sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Exit(asyncio.Transport):
    """Writes through; closing is left to ``leave``, which knows what else is to be done."""

    def __init__(
        self,
        transport: asyncio.Transport,
        leave: Callable[[], None],
        is_leaving: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._transport = transport
        # Not a method of its own: every answer passes here.
        self.write = transport.write  # type: ignore[method-assign]
        self._leave = leave
        self._is_leaving = is_leaving

    def close(self) -> None:
        """Leave."""
        self._leave()

    def is_closing(self) -> bool:
        """Whether nothing can be written any more."""
        return self._is_leaving() or self._transport.is_closing()

    def forget(self) -> None:
        """Let go of what is called when leaving; the connection is gone."""
        self._leave = _nothing
        self._is_leaving = _always


def _nothing() -> None:
    pass


def _always() -> bool:
    return True
