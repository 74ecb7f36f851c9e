"""What was read from the embedded store a moment ago, so that it need not be read again at once.

A read of the file also tells whether another connection has changed it since the last one. If it
has, nothing of this counts any more; if not, all of it counts for another moment. So a change that
another process makes is seen at most that moment late, one of this process at once.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

TRUSTED_S = 0.05
"""How long a look at the file is believed, in seconds: as long as a store may take to answer."""
MAX_BYTES = 8 * 1024 * 1024
OWN_BYTES = 300
"""What an entry takes beside its value, about."""


class Entry(NamedTuple):
    """A value and until when it counts, in seconds since the epoch."""

    value: bytes
    until: float


class Near:
    """Entries by key, the latest ones. ``clock`` gives seconds since the epoch, ``tick`` monotonic
    seconds.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        tick: Callable[[], float] = time.monotonic,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._clock = clock
        self._tick = tick
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._bytes = 0
        self._looked_at = float("-inf")
        self._version: Hashable = None
        self.changes = 0
        """How often this process has changed the file; a read that began before a change says
        nothing.
        """

    def get(self, key: str) -> bytes | None:
        """The value, where it is here and still counts."""
        entry = self._entries.get(key)
        if entry is None or self._tick() - self._looked_at > TRUSTED_S:
            return None
        return entry.value if entry.until > self._clock() else None

    def has(self, key: str) -> bool:
        """Whether it is here and would count, had the file just been looked at."""
        entry = self._entries.get(key)
        return entry is not None and entry.until > self._clock()

    @property
    def ageing(self) -> bool:
        """Whether it is time to look at the file again, so that nobody has to wait for that."""
        return self._tick() - self._looked_at > TRUSTED_S / 2

    def read(
        self, found: Mapping[str, Entry], *, version: Hashable, began: float, changes: int
    ) -> None:
        """Take what a read of the file found, which began at ``began`` by ``tick`` after so many
        ``changes``. ``version`` is another one when another connection has changed the file.
        """
        if version != self._version:
            self._entries.clear()
            self._bytes = 0
            self._version = version
        if changes != self.changes:
            return
        self._looked_at = max(self._looked_at, began)
        for key, entry in found.items():
            self._forget(key)
            self._entries[key] = entry
            self._bytes += OWN_BYTES + len(entry.value)
        while self._bytes > self._max_bytes:
            self._forget(next(iter(self._entries)))

    def changed(self, *keys: str) -> None:
        """This process changes these, or has changed them just now."""
        self.changes += 1
        for key in keys:
            self._forget(key)

    def _forget(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= OWN_BYTES + len(entry.value)
