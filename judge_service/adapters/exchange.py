"""What one upstream request brought back, and a reply's body read no further than its bound."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_REPLY_BYTES = 64 * 1024
BYTES_BESIDE = 2 * MAX_REPLY_BYTES
"""So much more is read for each token that is told beside every token of a reply: some 1,500 tokens
of a reply, at 80 bytes for each of the others.
"""


def room_for(parameters: Mapping[str, object]) -> int:
    """How long the body of a reply may be that was asked for with these parameters."""
    beside = parameters.get("top_logprobs")
    if not isinstance(beside, int) or not 0 < beside <= 20:
        return MAX_REPLY_BYTES
    return MAX_REPLY_BYTES + BYTES_BESIDE * beside


class NoConnection(Exception):
    """The address could not be reached: nothing was sent."""


class ConnectionBroken(Exception):
    """There was a connection, and it ended before a whole reply had come."""


@dataclass(slots=True)
class Exchange:
    """What one upstream request brought: ``status`` is None until a reply was read, ``begun`` says
    that one of a status of success began. At most ``room`` bytes of its body are kept.
    """

    status: int | None = None
    begun: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    too_large: bool = False
    room: int = MAX_REPLY_BYTES


class BoundedBody:
    """Gathers at most ``room`` bytes of a body, uncompressed where it came compressed."""

    def __init__(self, encoding: str | None, room: int = MAX_REPLY_BYTES) -> None:
        """``encoding`` is the value of the header Content-Encoding."""
        self._room = room
        packed = (encoding or "identity").strip().lower() in ("gzip", "deflate")
        # 32 + MAX_WBITS: gzip and zlib headers are both recognised.
        self._inflate = zlib.decompressobj(32 + zlib.MAX_WBITS) if packed else None
        self._body = bytearray()
        self.too_large = False

    def add(self, chunk: bytes) -> bool:
        """Take a piece as it came; False when the body is too large to go on with.

        Raises zlib.error for a piece that is not what the encoding says.
        """
        room = self._room + 1 - len(self._body)
        plain = chunk[:room] if self._inflate is None else self._inflate.decompress(chunk, room)
        self._body += plain
        self.too_large = len(self._body) > self._room
        return not self.too_large

    def read(self) -> bytes:
        """What was gathered."""
        return bytes(self._body[: self._room])
