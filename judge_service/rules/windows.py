"""Equal stretches inside a long sequence, by hashing every window of a fixed width.

A window is ``width`` consecutive units (characters as numbers). Everything is vectorised
and takes O(n log n) for n units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Units = NDArray[np.uint64]
Hashes = NDArray[np.uint64]
Mask = NDArray[np.bool_]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_BASE = np.uint64(0xD6E8FEB86659FD93)


def char_units(text: str) -> Units:
    """One unit per character."""
    raw = text.encode("utf-32-le", "surrogatepass")
    return np.frombuffer(raw, dtype="<u4").astype(np.uint64)


def hashes(units: Units, width: int) -> Hashes:
    """One polynomial hash per window; empty when there are fewer than ``width`` units."""
    count = len(units) - width + 1
    if count < 1:
        return np.empty(0, dtype=np.uint64)
    mixed = (units + np.uint64(1)) * _MIX
    mixed ^= mixed >> np.uint64(29)
    total = np.zeros(count, dtype=np.uint64)
    for start in range(width):
        total *= _BASE
        total += mixed[start : start + count]
    return total


def distance_back(windows: Hashes) -> NDArray[np.int64]:
    """For every window, how far back the same one was last seen; 0 when it is new."""
    back = np.zeros(len(windows), dtype=np.int64)
    order = np.argsort(windows, kind="stable")
    same = windows[order[1:]] == windows[order[:-1]]
    back[order[1:][same]] = (order[1:] - order[:-1])[same]
    return back


def covered(starts: Mask, width: int, total: int) -> Mask:
    """Which of ``total`` units lie in a window that begins where ``starts`` is true."""
    edges = np.zeros(total + 1, dtype=np.int64)
    edges[: len(starts)] += starts
    edges[width : width + len(starts)] -= starts
    return np.cumsum(edges)[:total] > 0
