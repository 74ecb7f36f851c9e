"""What the embedded store's file surely does not hold, so that the file need not be asked.

Most keys that are looked up are new, and a trip to the store's thread and back costs more than all
the rest of a look-up. A Bloom filter (Bloom 1970) over the file's keys knows nearly all of them: it
takes a few keys for held that are not, and never one for absent that is held.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from judge_service.adapters.sqlite_near import TRUSTED_S

_BITS = 1 << 25
"""Four megabytes, taken from the system when keys come. Of a key that is not held 5 in 100 are
taken for held among four million, 40 in 100 among 16 million.
"""
_MASK = _BITS - 1
_HALF = 32  # of a hash, in bits
AGAIN_S = 30.0
"""How long after one reading of all keys began the next one may, in seconds."""


class Absent:
    """The keys of the file, as they are read page by page and as this process adds to them.

    They are ``known`` once all pages were read, until another connection changes the file: its
    version is then another one. Keys that are removed go on counting as held.
    """

    def __init__(self, tick: Callable[[], float] = time.monotonic) -> None:
        self.known = False
        self._tick = tick
        self._bits = bytearray(_BITS // 8)
        self._version: Hashable = None
        self._looked_at = float("-inf")
        self._began_at = float("-inf")

    @property
    def due(self) -> bool:
        """Whether all keys should be read, again perhaps."""
        return not self.known and self._tick() - self._began_at >= AGAIN_S

    @property
    def ageing(self) -> bool:
        """Whether it is time to look at the file again, so that nobody has to wait for that."""
        return self._tick() - self._looked_at > TRUSTED_S / 2

    def begin(self, version: Hashable) -> None:
        """All keys of a file of this version are read from now on."""
        self._began_at = self._tick()
        self._version = version

    def all_read(self, version: Hashable) -> None:
        """They were, and it is still the file of this version."""
        self.known = version == self._version

    def add(self, *keys: str) -> None:
        """These were read, or are written by this process."""
        bits = self._bits
        for key in keys:
            number = hash(key)
            for place in (number & _MASK, number >> _HALF & _MASK):
                bits[place >> 3] |= 1 << (place & 7)

    def looked(self, version: Hashable, began: float) -> None:
        """A look at the file, which began at ``began`` by ``tick``, found this version."""
        if version == self._version:
            self._looked_at = max(self._looked_at, began)
        else:
            self.known, self._version = False, None

    def lacks(self, key: str) -> bool:
        """Whether the file surely does not hold the key, as it was a moment ago."""
        if not self.known or self._tick() - self._looked_at > TRUSTED_S:
            return False
        bits, number = self._bits, hash(key)
        first, second = number & _MASK, number >> _HALF & _MASK
        return not (bits[first >> 3] >> (first & 7) & bits[second >> 3] >> (second & 7) & 1)
