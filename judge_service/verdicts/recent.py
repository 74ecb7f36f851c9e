"""The verdicts this process was told lately: for a store that has lost them.

A store that answers is believed: what it does not have was removed, and the judge is asked anew.
Only what was put there before the store was lost, or cannot be looked up just now, is taken from
here.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator

MAX_ENTRIES = 5_000
MAX_BYTES = 8 * 1024 * 1024


class RecentVerdicts:
    """Signed records by key, the latest ones. ``clock`` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: OrderedDict[str, tuple[bytes, float]] = OrderedDict()
        self._bytes = 0

    def put(self, key: str, value: bytes) -> None:
        """Remember a record."""
        self.forget(key)
        self._entries[key] = (value, self._clock())
        self._bytes += len(value)
        while len(self._entries) > MAX_ENTRIES or self._bytes > MAX_BYTES:
            self.forget(next(iter(self._entries)))

    def get(self, key: str, *, before: float) -> bytes | None:
        """The record if it was put here before that moment."""
        value, at = self._entries.get(key, (None, 0.0))
        return value if at < before else None

    def forget(self, key: str) -> None:
        """Remove a record."""
        value, _ = self._entries.pop(key, (b"", 0.0))
        self._bytes -= len(value)

    def put_before(self, moment: float) -> Iterator[tuple[str, bytes]]:
        """The records that were put before a moment, the latest first."""
        for key, (value, at) in reversed(list(self._entries.items())):
            if at < moment:
                yield key, value
