"""The drift runs of a service as files in a folder, which several processes may share."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import re
import secrets
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

log = logging.getLogger("judge_service.drift")
Status = Literal["running", "finished", "failed", "interrupted"]
RUN_ID = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{8}")
MAX_KEPT = 100
"""How many finished runs are kept; the oldest go first."""
_ENDINGS = ("json", "runs", "stop")


class Busy(Exception):
    """Another run is going on; ``run_id`` is its id, None where it has none yet."""

    def __init__(self, run_id: str | None) -> None:
        super().__init__(f"drift run {run_id or '(just begun)'} is going on; one at a time")
        self.run_id = run_id


@dataclass(slots=True, kw_only=True)
class DriftRun:
    """A run and what is known of it. ``report`` is there once it is finished."""

    id: str
    plan: str
    gold: str
    baseline: str
    candidate: str
    created: str
    status: Status = "running"
    finished: str | None = None
    progress: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    report: dict[str, Any] | None = None

    def summary(self) -> dict[str, Any]:
        """JSON without the report, but with its verdict."""
        return {
            "id": self.id,
            "status": self.status,
            "gold": self.gold,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "created": self.created,
            "finished": self.finished,
            "progress": self.progress,
            "drift": None if self.report is None else self.report["drift"],
            "reasons": [] if self.report is None else self.report["reasons"],
            "error": self.error,
        }


def new_id() -> str:
    """An id that no other run has, in the order of time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"


def now() -> str:
    """The time, as runs keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class RunFolder:
    """Runs by their ids. Without a folder, or where it cannot be made, they are kept as long as the
    process lives.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._nowhere: tempfile.TemporaryDirectory[str] | None = None

    def open(self) -> None:
        """Make the folder."""
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                return
            except OSError as error:
                log.warning("%s: %s; drift runs end with the process", self._folder, error.strerror)
        self._nowhere = tempfile.TemporaryDirectory(prefix="drift-")
        self._folder = Path(self._nowhere.name)

    def close(self) -> None:
        """Remove what was kept for the process only."""
        if self._nowhere is not None:
            self._nowhere.cleanup()

    def path(self, run_id: str, ending: str) -> Path:
        """Where something of a run lies."""
        return (self._folder or Path()) / f"{run_id}.{ending}"

    def claim(self) -> int:
        """The right to run, as a file that is locked until it is closed: one in all processes, and
        free again when a process dies. Raises Busy, OSError.
        """
        file = os.open(self.path("running", "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise Busy(next((r.id for r in self.all() if r.status == "running"), None)) from None
        except OSError as error:
            log.warning("%s; drift runs of other processes are not seen", error.strerror)
        return file

    def save(self, run: DriftRun) -> None:
        """Write what is known of a run, in one step. Raises OSError."""
        data = {name: getattr(run, name) for name in DriftRun.__dataclass_fields__}
        beside = self.path(run.id, f"{os.getpid()}.tmp")
        beside.write_text(json.dumps(data, allow_nan=False), encoding="utf-8")
        beside.replace(self.path(run.id, "json"))

    def load(self, run_id: str) -> DriftRun | None:
        """A run; one that says it is running while no process writes to it was interrupted."""
        if not RUN_ID.fullmatch(run_id):
            return None
        try:
            data = json.loads(self.path(run_id, "json").read_text(encoding="utf-8"))
            run = DriftRun(**data)
        except (OSError, ValueError, TypeError):
            return None
        if run.status == "running" and not self._is_held(run_id):
            run.status = "interrupted"
        return run

    def all(self) -> list[DriftRun]:
        """All runs, the latest first."""
        if self._folder is None:
            return []
        names = sorted((p.stem for p in self._folder.glob("*.json")), reverse=True)
        return [run for name in names if (run := self.load(name)) is not None]

    def ask_to_stop(self, run_id: str) -> None:
        """Leave word for the process that runs it. Raises OSError."""
        self.path(run_id, "stop").touch()

    def asked_to_stop(self, run_id: str) -> bool:
        """Whether somebody left word; it is taken away."""
        try:
            self.path(run_id, "stop").unlink()
        except OSError:
            return False
        return True

    def tidy(self) -> None:
        """Remove the oldest runs above ``MAX_KEPT``."""
        for run in self.all()[MAX_KEPT:]:
            if run.status != "running":
                for ending in _ENDINGS:
                    with contextlib.suppress(OSError):  # the next time, then
                        self.path(run.id, ending).unlink(missing_ok=True)

    def _is_held(self, run_id: str) -> bool:
        """Whether some process is writing to the run's file."""
        try:
            with self.path(run_id, "runs").open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False
