"""A Redis of one's own: started, killed, frozen and started again."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

START_S = 10.0
ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / ".venv/redis/bin/redis-server"


class RedisMissing(RuntimeError):
    """There is no redis-server on this machine."""


def redis_binary() -> str:
    """The redis-server to run. Raises RedisMissing, which says how to get one."""
    found = shutil.which("redis-server")
    if found is not None:
        return found
    if OWN.is_file():
        return str(OWN)
    raise RedisMissing("there is no redis-server here; `make install` gets one")


class RedisServer:
    """One server on a free port of loopback, without persistence.

    ``password`` and ``more`` (further arguments) hold for every start.
    """

    def __init__(self, *more: str) -> None:
        self._binary = redis_binary()
        self._more = more
        self._folder = tempfile.TemporaryDirectory(prefix="fault-suite-redis-")
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def client(self) -> redis.Redis:
        """A client for looking inside. It waits half a second at most."""
        return redis.Redis(
            port=self.port,
            socket_timeout=0.5,
            socket_connect_timeout=0.5,
            retry=Retry(NoBackoff(), 0),
        )

    def start(self, *more: str) -> Self:
        """Start, and wait until it answers."""
        arguments = ("--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                     "--appendonly", "no", "--dir", self._folder.name)  # fmt: skip
        self._process = subprocess.Popen(
            [self._binary, *arguments, *self._more, *more],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + START_S
        while time.monotonic() < until and self._process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 0.2) as connection:
                    connection.sendall(b"PING\r\n")
                    if connection.recv(64):
                        return self
            except OSError:
                time.sleep(0.01)
        raise RuntimeError(f"redis-server did not start on port {self.port}")

    def kill(self) -> None:
        """End it at once (SIGKILL)."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def freeze(self) -> None:
        """Let it stand still (SIGSTOP)."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it and remove its folder."""
        self.kill()
        self._folder.cleanup()


class Killer:
    """Kills a server every ``every_s`` seconds; it is back ``down_s`` later."""

    def __init__(self, server: RedisServer, *, every_s: float = 2.0, down_s: float = 0.5) -> None:
        self._server = server
        self._every_s, self._down_s = every_s, down_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.kills = 0
        self.failure: BaseException | None = None

    def _run(self) -> None:
        try:
            while not self._stop.wait(self._every_s):
                self._server.kill()
                self.kills += 1
                self._stop.wait(self._down_s)
                self._server.start()
        except (OSError, RuntimeError) as failure:
            self.failure = failure

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop; the server runs afterwards."""
        self._stop.set()
        self._thread.join(20)
        if self.failure is not None and kind is None:
            raise self.failure


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
