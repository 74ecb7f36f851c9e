"""Services in processes of their own, which can be killed and started again on the same port."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from tests.harness import Judges, write_rubric
from tests.polling import until
from tests.ports import free_port
from tests.provider import FakeProvider

SECRET = "a secret that all replicas have"


def prepared(folder: Path, provider: FakeProvider) -> Path:
    """A folder with rubrics and a judge."""
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    (folder / "anchors").mkdir(exist_ok=True)
    Judges(provider).add("main", "alpha").write(folder)
    return folder


class Replica:
    """One service over ``store``, its flags. A context manager."""

    def __init__(self, folder: Path, *store: str) -> None:
        self.folder = folder
        self._store = store
        self._port = free_port()
        self._log = folder / f"replica-{self._port}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        """Start, without waiting until it answers."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill."""
        self.kill()

    def start(self) -> None:
        """Start, unless it runs; ``ready`` waits for it."""
        if self._process is not None:
            return
        folder = self.folder
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "judge_service.cli", "serve", "--port", str(self._port),
                 "--judges", str(folder / "judges.toml"), "--rubrics-dir", str(folder / "rubrics"),
                 "--anchors-dir", str(folder / "anchors"), *self._store],
                cwd=folder, stdout=log, stderr=log,
                env={**os.environ, "JUDGE_SERVICE_SECRET": SECRET},
            )  # fmt: skip

    def ready(self) -> None:
        """Wait until it answers."""
        until(self._answers, f"the replica does not answer; see {self._log}")

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"the replica has ended; see {self._log}"
        try:
            return httpx.get(f"{self.url}/healthz", trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        """SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=10)
            self._process = None
