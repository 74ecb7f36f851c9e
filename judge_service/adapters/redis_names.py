"""Looks the names of Redis's hosts up, at most one at a time."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor


class Names:
    """A name server that does not answer keeps a thread for many seconds. Asked in a thread of its
    own, and not again before it has answered, it cannot take those that the service works with.
    """

    def __init__(self, hosts: Iterable[tuple[str, int]]) -> None:
        self._hosts = [host for host in hosts if not _is_address(host[0])]
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judge-service-names")
        self._asked: asyncio.Future[None] | None = None

    async def known(self) -> None:
        """Raises OSError when no host has an address; waits as long as the name server does."""
        if not self._hosts:
            return
        if self._asked is None or self._asked.done():
            loop = asyncio.get_running_loop()
            self._asked = loop.run_in_executor(self._thread, self._look_up)
        await asyncio.wait({self._asked})
        self._asked.result()

    def close(self) -> None:
        """Ask no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _look_up(self) -> None:
        for host, port in self._hosts:
            with contextlib.suppress(OSError, UnicodeError):  # the next one may have an address
                socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                return
        raise OSError("no host has an address")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
