"""What one upstream request brought back, and a reply's body read no further than its bound."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

MAX_REPLY_BYTES = 64 * 1024


@dataclass(slots=True)
class Exchange:
    """What one upstream request brought: ``status`` is None until a reply was read."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    too_large: bool = False


class BoundedBody:
    """Gathers at most ``MAX_REPLY_BYTES`` of a body, uncompressed where it came compressed."""

    def __init__(self, encoding: str | None) -> None:
        """``encoding`` is the value of the header Content-Encoding."""
        packed = (encoding or "identity").strip().lower() in ("gzip", "deflate")
        # 32 + MAX_WBITS: gzip and zlib headers are both recognised.
        self._inflate = zlib.decompressobj(32 + zlib.MAX_WBITS) if packed else None
        self._body = bytearray()
        self.too_large = False

    def add(self, chunk: bytes) -> bool:
        """Take a piece as it came; False when the body is too large to go on with.

        Raises zlib.error for a piece that is not what the encoding says.
        """
        room = MAX_REPLY_BYTES + 1 - len(self._body)
        plain = chunk[:room] if self._inflate is None else self._inflate.decompress(chunk, room)
        self._body += plain
        self.too_large = len(self._body) > MAX_REPLY_BYTES
        return not self.too_large

    def read(self) -> bytes:
        """What was gathered."""
        return bytes(self._body[:MAX_REPLY_BYTES])
