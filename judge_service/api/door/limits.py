"""How much and how long the door waits for a caller."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorLimits:
    """Limits of one connection and of all connections of one process.

    Sizes are in bytes, times in seconds. A request whose head or body is late gets 408, so does one
    whose body comes too slowly: it may take ``body_s``, a second more for every
    ``body_bytes_per_s`` that arrived, and ``body_max_s`` at most.
    """

    request_line_bytes: int = 8 * 1024
    head_bytes: int = 16 * 1024
    fields: int = 100
    head_s: float = 8.0
    """From the connection's start, or a later request's first byte, to the end of the head."""
    body_s: float = 8.0
    body_max_s: float = 30.0
    body_bytes_per_s: int = 64 * 1024
    bodiless_bytes: int = 64 * 1024
    """How much of a chunked body may be no body: extensions, trailers."""
    idle_s: float = 75.0
    """Between two requests. Longer than the pools of common clients and balancers keep a
    connection, so that it is they who close it, never the door under a request just sent."""
    ahead_bytes: int = 64 * 1024
    """How much is kept of requests sent before the answer to the one before."""
    linger_s: float = 1.0
    linger_bytes: int = 32 * 1024 * 1024
    """How long and how much is read and thrown away after a refusal, for the caller to see it."""
    unread_s: float = 20.0
    unread_bytes: int = 16 * 1024
    """Who reads less of an answer than these bytes within these seconds is hung up on."""
    connections: int = 4096
    requests: int = 4096
    """In flight, per process."""
    spare: int = 64
    """Requests without a body (health, metrics) above ``requests``; refusals above
    ``connections`` are told to four times as many."""
    retry_after_s: int = 1


@cache
def most_connections() -> int:
    """Half of the file descriptors this process may have; the rest is for judges and files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 30 if soft == resource.RLIM_INFINITY else max(16, soft // 2)


def allow_many_files(wanted: int = 65_536) -> None:
    """Raise the soft limit of open files, often 1,024, as far as the hard one lets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
