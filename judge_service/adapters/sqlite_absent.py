"""What the embedded store's file surely does not hold, so that the file need not be asked.

Most keys that are looked up are new, and a trip to the store's thread and back costs more than all
the rest of a look-up. A Bloom filter (Bloom 1970) over the file's keys knows nearly all of them: it
takes a few keys for held that are not, and never one for absent that is held.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Collection, Hashable

from judge_service.adapters.sqlite_near import TRUSTED_S

_BITS = 1 << 25
"""Four megabytes at most; twice while the keys are read anew."""
_MASK = _BITS - 1
_HALF = 32  # of a hash, in bits
MOST_KEYS = 8_000_000
"""Of keys that are not held, 15 in 100 are then taken for held, and all are read anew: many that
were counted are long gone.
"""
AGAIN_S = 30.0
"""How long after one reading of all keys the next one may begin, in seconds."""


class Absent:
    """The keys of the file, as they are read page by page and as this process adds to them.

    They are ``known`` once all pages were read, until another connection changes the file: its
    version is then another one. Keys that are removed go on counting as held.
    """

    def __init__(self, tick: Callable[[], float] = time.monotonic) -> None:
        self.known = False
        self._tick = tick
        self._bits: mmap.mmap | None = None
        self._count = 0
        self._version: Hashable = None
        self._looked_at = float("-inf")
        # While all keys are read: what is to take the place of the above.
        self._next: mmap.mmap | None = None
        self._next_count = 0
        self._next_version: Hashable = None
        self._ended_at = float("-inf")

    @property
    def due(self) -> bool:
        """Whether all keys should be read, again perhaps."""
        if (self.known and self._count <= MOST_KEYS) or self._next is not None:
            return False
        return self._tick() - self._ended_at >= AGAIN_S

    @property
    def ageing(self) -> bool:
        """Whether it is time to look at the file again, so that nobody has to wait for that."""
        return self._tick() - self._looked_at > TRUSTED_S / 2

    def begin(self, version: Hashable, writing: Collection[str]) -> None:
        """All keys of a file of this version are read from now on. ``writing`` are those that this
        process has begun to write: a page may be read before they are in it.
        """
        self._next = _zeros()
        self._next_count = 0
        self._next_version = version
        self.read(writing)

    def read(self, keys: Collection[str]) -> None:
        """A page of keys was read."""
        if self._next is not None:
            _mark(self._next, keys)
            self._next_count += len(keys)

    def all_read(self) -> None:
        """That was the last page."""
        if self._next is not None:
            self._bits, self._count = self._next, self._next_count
            self._version, self.known = self._next_version, True
        self.break_off()

    def break_off(self) -> None:
        """No more of them are read for now."""
        self._next = None
        self._ended_at = self._tick()

    def add(self, keys: Collection[str]) -> None:
        """This process begins to write these."""
        if self._bits is not None:
            _mark(self._bits, keys)
            self._count += len(keys)
        self.read(keys)

    def looked(self, version: Hashable, began: float) -> None:
        """A look at the file, which began at ``began`` by ``tick``, found this version."""
        if version == self._version:
            self._looked_at = max(self._looked_at, began)
        else:
            self.known = False

    def lacks(self, key: str) -> bool:
        """Whether the file surely does not hold the key, as it was a moment ago."""
        bits, number = self._bits, hash(key)
        if bits is None or not self.known or self._tick() - self._looked_at > TRUSTED_S:
            return False
        first, second = number & _MASK, number >> _HALF & _MASK
        return not (bits[first >> 3] >> (first & 7) & bits[second >> 3] >> (second & 7) & 1)


def _zeros() -> mmap.mmap:
    """Bytes that the system gives only where they are written to: most services keep few keys."""
    return mmap.mmap(-1, _BITS // 8, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def _mark(bits: mmap.mmap, keys: Collection[str]) -> None:
    for key in keys:
        number = hash(key)
        for place in (number & _MASK, number >> _HALF & _MASK):
            bits[place >> 3] |= 1 << (place & 7)
