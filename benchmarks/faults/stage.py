"""What every scenario needs: the provider, the service and perhaps Redis, each a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from benchmarks.faults.redis_server import RedisServer
from benchmarks.faults.rubrics import judges_toml, write_rubrics

ROOT = Path(__file__).resolve().parents[2]
SECRET = "a secret of the fault suite"  # noqa: S105 - guards nothing
START_S = 90.0
STOP_S = 45.0
WORKER_RSS = 60 * 1024 * 1024
"""A process of the service that is smaller does no judging."""


class Provider:
    """The upstream process, seen from outside."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._process = process
        said = json.loads(process.stdout.readline())
        self.url = f"http://127.0.0.1:{said['port']}"
        self._http = httpx.Client(base_url=self.url, timeout=30.0, trust_env=False)

    def stats(self) -> dict[str, Any]:
        """What happened since the last reset."""
        found: dict[str, Any] = self._http.get("/stats").json()
        return found

    def control(self, **conduct: object) -> None:
        """Change how it behaves; ``reset=True`` forgets what happened."""
        self._http.post("/control", json=conduct).raise_for_status()

    def cpu_s(self) -> float:
        """Processor seconds so far."""
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    def kill(self) -> None:
        """End it: nobody listens on its port from now on."""
        self._process.kill()
        self._process.wait(10)

    def close(self) -> None:
        """Close the control connection."""
        self._http.close()


class Service:
    """A running ``judge-service serve``, seen from outside."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("the service did not start:\n" + self.log()[-2000:])
        self.url: str = json.loads(line)["url"]

    @property
    def pid(self) -> int:
        """The main process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def log(self) -> str:
        """All it has logged."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def log_lines(self, *, besides: str = "judge_service.access") -> int:
        """How many lines it has logged, without the one for each request."""
        return sum(besides not in line for line in self.log().splitlines())

    def _processes(self) -> list[psutil.Process]:
        main = psutil.Process(self._process.pid)
        return [main, *main.children(recursive=True)]

    def rss(self) -> dict[int, int]:
        """Resident bytes of every process that judges, by process id."""
        found = {p.pid: p.memory_info().rss for p in self._processes()}
        return {pid: size for pid, size in found.items() if size >= WORKER_RSS}

    def descriptors(self) -> int:
        """Open files and sockets of all processes together."""
        return sum(process.num_fds() for process in self._processes())

    def cpu_s(self) -> float:
        """Processor seconds of all processes together."""
        times = [process.cpu_times() for process in self._processes()]
        return float(sum(t.user + t.system for t in times))

    def stop(self) -> int:
        """SIGTERM; returns the exit code, kills it when it does not end."""
        if self.alive:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            for process in reversed(self._processes()):
                process.kill()
            self._process.wait(10)
            return -9


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Everything a scenario plays on."""

    provider: Provider
    service: Service
    redis: RedisServer | None
    workers: int
    folder: Path


@contextmanager
def upstream() -> Iterator[Provider]:
    """Run the provider."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.faults.upstream"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        provider = Provider(process)
        try:
            yield provider
        finally:
            provider.close()
    finally:
        process.kill()
        process.communicate()


@contextmanager
def service(
    folder: Path,
    *,
    workers: int = 1,
    redis_url: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Service]:
    """Run the service over ``folder`` (judges.toml, rubrics, anchors)."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("JUDGE_SERVICE_")}
    given = {
        "JUDGES": str(folder / "judges.toml"),
        "RUBRICS_DIR": str(folder / "rubrics"),
        "ANCHORS_DIR": str(folder / "anchors"),
        "STORE": str(folder / "store" / "store.sqlite3"),
        "SECRET": SECRET,
        "WORKERS": str(workers),
        "PORT": "0",
        "LOG_LEVEL": "warning",
        **({"REDIS_URL": redis_url} if redis_url else {}),
        **(settings or {}),
    }
    environ |= {f"JUDGE_SERVICE_{name}": value for name, value in given.items()}
    log = folder / "service.log"
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "judge_service.cli", "serve", "--json"],
            cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=out, text=True,
        )  # fmt: skip
    running: Service | None = None
    try:
        running = Service(process, log)
        yield running
    finally:
        if running is not None:
            running.stop()
        process.kill()
        process.communicate()


@contextmanager
def stage(
    *,
    workers: int = 1,
    with_redis: bool = False,
    attempt_timeout_s: float | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Stage]:
    """Set everything up; takes it down at the end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fault-suite-")))
        provider = stack.enter_context(upstream())
        redis = stack.enter_context(RedisServer()) if with_redis else None
        write_rubrics(folder)
        judges = judges_toml(provider.url + "/v1", attempt_timeout_s)
        (folder / "judges.toml").write_text(judges, encoding="utf-8")
        (folder / "store").mkdir()
        running = stack.enter_context(
            service(
                folder,
                workers=workers,
                redis_url=redis.url if redis else None,
                settings=settings,
            )
        )
        yield Stage(provider=provider, service=running, redis=redis, workers=workers, folder=folder)
