"""Real Redis servers for tests, on free loopback ports, with the faults a process can have."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path
from types import TracebackType

from tests.polling import until
from tests.ports import free_port

ATTEMPTS = 5


class RedisServer:
    """One ``redis-server`` process. ``config`` are lines of its configuration file, underscores for
    dashes (``maxmemory="3mb"``); a list gives several lines. A context manager.
    """

    def __init__(self, folder: Path, *, sentinel: bool = False, **config: object) -> None:
        self.folder = folder
        self.port = free_port()
        self._sentinel = sentinel
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None
        self.password: str | None = None
        self.log = folder / f"redis-{self.port}.log"

    @property
    def url(self) -> str:
        """The server's URL, without credentials."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process is not None
        return self._process.pid

    def __enter__(self) -> RedisServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start on the same port and folder as ever, and wait until it answers."""
        lines = {
            "port": self.port,
            "bind": "127.0.0.1",
            "dir": self.folder,
            "logfile": self.log,
            "daemonize": "no",
        }
        if not self._sentinel:
            lines |= {"save": '""', "appendonly": "no", "dbfilename": f"dump-{self.port}.rdb"}
        lines |= {_dashed(name): value for name, value in self._config.items()}
        text = ""
        for name, value in lines.items():
            for one in value if isinstance(value, list) else [value]:
                text += f"{name} {one}\n"
        file = self.folder / f"redis-{self.port}.conf"
        file.write_text(text, encoding="utf-8")
        command = ["redis-server", str(file), *(["--sentinel"] if self._sentinel else [])]
        for _ in range(ATTEMPTS):
            self._process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                until(self._settled, f"redis-server does not answer; see {self.log}")
            except BaseException:
                self.kill()
                raise
            if self._process.poll() is None:
                return
        raise AssertionError(f"redis-server did not start; see {self.log}")

    def _settled(self) -> bool:
        """It answers, or has ended, as it does where the port is still in use."""
        assert self._process is not None
        return self._process.poll() is not None or self._answers()

    def _answers(self) -> bool:
        port = self._config.get("tls_port", self.port)
        try:
            with socket.create_connection(("127.0.0.1", int(str(port))), timeout=1.0):
                return port != self.port or self.command("PING").startswith(("PONG", "NOAUTH"))
        except OSError:
            return False

    def command(self, *words: str | int) -> str:
        """What the server says to a command, by redis-cli."""
        user = [] if self.password is None else ["--no-auth-warning", "-a", self.password]
        done = subprocess.run(
            ["redis-cli", "-p", str(self.port), *user, *map(str, words)],
            capture_output=True,
            check=True,
            timeout=60,
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def until(self, *words: str | int, says: str) -> None:
        """Ask until the answer holds something."""
        until(lambda: says in self.command(*words), f"{words} does not come to say {says}")

    def configure(self, name: str, value: str) -> None:
        """Change the running server's configuration."""
        assert self.command("CONFIG", "SET", name, value) == "OK"
        if name == "requirepass":
            self.password = value or None

    def kill(self) -> None:
        """SIGKILL; nothing is saved."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=10)
            self._process = None

    def freeze(self) -> None:
        """SIGSTOP: connections stay, answers do not come."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)


def _dashed(name: str) -> str:
    """A setting's name: underscores for dashes, two of them for a space."""
    return name.replace("__", " ").replace("_", "-")
