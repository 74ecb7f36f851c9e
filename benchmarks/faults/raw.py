"""Raw bytes to the service, and what comes back: for what no well-behaved client sends."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass

CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What came of some bytes. ``statuses`` are those of every response on the connection."""

    statuses: tuple[int, ...]
    closed: bool
    seconds: float
    data: bytes

    @property
    def said(self) -> str:
        """In short."""
        return ("/".join(map(str, self.statuses)) or "nothing") + (
            ", closed" if self.closed else ""
        )


def exchange(host: str, port: int, parts: list[bytes], *, wait_s: float) -> Exchange:
    """Send the parts and read until a response is there, the peer closes or ``wait_s`` passed.

    Reads on a little after a response, for one more that should not come.
    """
    started = time.monotonic()
    with socket.create_connection((host, port), timeout=wait_s) as connection:
        data, closed = b"", False
        try:
            for part in parts:
                for at in range(0, len(part), CHUNK):
                    connection.sendall(part[at : at + CHUNK])
        except OSError:
            closed = True  # refused in the middle of it: what was said before can still be read
        answered = 0.0
        until = started + wait_s
        while (left := until - time.monotonic()) > 0:
            connection.settimeout(left)
            try:
                piece = connection.recv(CHUNK)
            except TimeoutError:
                break
            except OSError:
                closed = True
                break
            if not piece:
                closed = True
                break
            data += piece
            if not answered and whole(data):
                answered = time.monotonic() - started
                until = min(until, time.monotonic() + 0.15)
        seconds = answered or time.monotonic() - started
    return Exchange(statuses=statuses(data), closed=closed, seconds=seconds, data=data)


def whole(data: bytes) -> bool:
    """Whether at least one response has arrived with all of its body."""
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return False
    _, named, rest = head.lower().partition(b"content-length:")
    return not named or len(body) >= int(rest.split(b"\r\n", 1)[0])


def statuses(data: bytes) -> tuple[int, ...]:
    """The status of every response in ``data``. Bodies of the service are JSON without CR LF."""
    found = []
    for piece in data.split(b"HTTP/1.")[1:]:
        words = piece[:8].split(b" ")
        if len(words) > 1 and words[0].isdigit() and words[1][:3].isdigit():
            found.append(int(words[1][:3]))
    return tuple(found)
