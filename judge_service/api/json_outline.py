"""How many values a JSON text holds and how deep they stand, found before it is decoded.

The interpreter's own decoder reads a list in one step, however long it is, and takes all the memory
that its values need. Knowing their number first costs little: most of a body is texts, and these
are passed over.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

_STEP = 1 << 20
"""So many bytes are looked at in one step."""
_FEW = 1 << 16
"""So many brackets are followed one by one, within some milliseconds."""
_WHITE_SPACE = b" \t\r\n"
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


class Outline(NamedTuple):
    """The ``values`` of all objects and lists, the whole being one more, and the ``depth`` of the
    innermost object or list. Of a text that is not JSON they say nothing.
    """

    values: int
    depth: int


def outline(body: bytes, most: int) -> Outline:
    """The outline of a body. Where there are more than ``most`` values, counting ends early and the
    depth is 0.
    """
    pieces: list[bytes] = []
    commas = quotes = at = 0
    while at < len(body):
        # No object or list holds more than two texts a value, its own and that of its key.
        if commas >= most or quotes > 4 * most:
            return Outline(most + 1, 0)
        step = _step(body, at)
        at += len(step)
        parts = step.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
        # Every second part stands in a text. A text leaves a sign behind: a list that holds nothing
        # else is not empty.
        piece = b"0".join(parts[quotes % 2 :: 2]).translate(None, _WHITE_SPACE)
        quotes += len(parts) - 1
        commas += piece.count(b",")
        pieces += (piece, b"0") if quotes % 2 else (piece,)
    frame = b"".join(pieces)
    opened = frame.count(b"[") + frame.count(b"{")
    empty = frame.count(b"[]") + frame.count(b"{}")
    return Outline(1 + commas + opened - empty, _depth(frame))


def _step(body: bytes, at: int) -> bytes:
    """The bytes from ``at`` on that are looked at next; no escape is cut in two."""
    step = body[at : at + _STEP]
    slashes = len(step) - len(step.rstrip(b"\\"))
    return step if slashes % 2 == 0 else body[at : at + _STEP + 1]


def _depth(frame: bytes) -> int:
    steps = frame.translate(_STEPS, _NO_BRACKET)
    if len(steps) <= _FEW:
        return max(accumulate(memoryview(steps).cast("b"), initial=0))
    import numpy as np  # takes its time and room, and few bodies need it

    return int(np.cumsum(np.frombuffer(steps, dtype=np.int8), dtype=np.int64).max(initial=0))
