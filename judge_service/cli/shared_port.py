"""One port for several workers, each with a socket of its own.

Workers that accept from one socket do not share its callers: whoever wakes first takes all that
wait, and a connection stays with who took it. Where each has its own socket with the port, the
system deals new connections out by their addresses, and those of a worker that has died go to the
others.
"""

from __future__ import annotations

import socket
import sys
from typing import Any


class SharedPort(socket.socket):
    """A bound socket that keeps the port and is never listened on: sent to another process it
    becomes one of that process's own, bound to the same address.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is sent."""
        return _bound, (self.family, self.type, self.proto, self.getsockname())


def shared_port(bound: socket.socket) -> socket.socket:
    """``bound`` as workers can share it; itself where the system does not deal connections out."""
    if not sys.platform.startswith("linux"):
        return bound
    return SharedPort(bound.family, bound.type, bound.proto, fileno=bound.detach())


def _bound(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
    own = socket.socket(family, kind, protocol)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    own.bind(address)
    return own
