"""Several worker processes: how they end together, and that none outlives its parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from judge_service.cli.hurry import Hurry

STOP = frozenset({signal.SIGINT, signal.SIGTERM})
HURRY = signal.SIGUSR1
"""What tells a worker to hurry. SIGTERM does not: sent to a group of processes it comes twice."""
KILL_AFTER_S = 5.0
"""How long after the grace period a worker may still be there, in seconds."""


class Workers(Multiprocess):
    """The parent. It calls ``listening`` once every worker listens."""

    def __init__(
        self, config: uvicorn.Config, bound: socket.socket, listening: Callable[[], None]
    ) -> None:
        super().__init__(config, [bound])
        self._listening: Callable[[], None] | None = listening

    def keep_subprocess_alive(self) -> None:
        """Look after the workers."""
        super().keep_subprocess_alive()
        if self._listening is not None and all(p.is_ready() for p in self.processes):
            self._listening()
            self._listening = None

    def terminate_all(self) -> None:
        """Ask every worker to end."""
        # Where workers share one socket, callers queue on it while any process holds it.
        for bound in self.sockets:
            bound.close()
        super().terminate_all()

    def join_all(self) -> None:
        """Wait for the workers; another signal hurries them, and so does time."""
        until = time.monotonic() + (self.config.timeout_graceful_shutdown or 0) + KILL_AFTER_S
        while running := [p.process for p in self.processes if p.process.is_alive()]:
            wait([process.sentinel for process in running], timeout=0.1)
            if STOP.intersection(self.signal_queue):
                self.signal_queue.clear()
                for process in running:
                    _tell(process.pid, HURRY)
            if time.monotonic() > until:
                for process in running:
                    process.kill()
        super().join_all()


def heed_parent() -> None:
    """In a worker: end when the parent does, and by its word, not by the terminal's Ctrl-C.

    Does nothing in a process that is not a worker. To be called in the main thread, when uvicorn
    has set its signal handlers.
    """
    parent: Any = multiprocessing.parent_process()
    if parent is None:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if isinstance(server, uvicorn.Server):
        hurry = Hurry(server)
        signal.signal(HURRY, lambda *_: hurry.begin())

    def orphaned() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=orphaned, name="parent-watch", daemon=True).start()


def _tell(pid: int | None, what: signal.Signals) -> None:
    if pid is not None:
        with suppress(ProcessLookupError):  # it has ended
            os.kill(pid, what)
