"""Ports for servers of tests, also of test runs that go on at the same time."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

FIRST, LAST = 12_000, 32_000
"""Below those that the system gives to connections: a port is still free when a server is started,
or started again, on it.
"""


def free_port() -> int:
    """One that nobody listens on just now."""
    return free_ports(1)


def free_ports(number: int) -> int:
    """The first of so many that follow each other."""
    draw = random.SystemRandom()  # no seed: test runs must not draw the same
    for _ in range(1_000):
        first = draw.randrange(FIRST, LAST - number)
        with ExitStack() as held:
            try:
                for port in range(first, first + number):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise AssertionError("no ports are free")
