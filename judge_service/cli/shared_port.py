"""One port for several workers, each with a socket of its own.

Workers that accept from one socket do not share its callers: whoever wakes first takes all that
wait, and a connection stays with who took it. Where each has its own socket with the port, the
system deals new connections out by their addresses, and those of a worker that has died go to the
others.

The system would let the workers of two services in on one port as well, if both bind it before
either listens. So the port is held in a way that keeps all others out.
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
    """In place of ``bound``, which is closed, one that workers can share; ``bound`` itself where
    the system does not deal connections out. Raises OSError when somebody else has the port.
    """
    if not sys.platform.startswith("linux"):
        return bound
    held = SharedPort(bound.family, bound.type, bound.proto)
    try:
        # A new socket, for one that was given any free port would lose it when it stops listening.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(bound.getsockname())
        # Of two that listen only one is let in. From then on those with the same option come in,
        # which is set by workers alone, after their service holds the port.
        held.listen(0)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        held.shutdown(socket.SHUT_RD)
    except OSError:
        held.close()
        raise
    finally:
        bound.close()
    return held


def _bound(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
    own = socket.socket(family, kind, protocol)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    own.bind(address)
    return own
