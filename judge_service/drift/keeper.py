"""The drift runs of a service: one at a time, in a folder, continued after a restart."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from judge_service.drift.asking import SideAsker
from judge_service.drift.journal import Journal
from judge_service.drift.plan import Plan, SideName, same_question
from judge_service.drift.runner import Progress, Runner
from judge_service.drift.side import Side, find_side
from judge_service.engine import Engine
from judge_service.errors import ConfigError
from judge_service.gold.item import GoldSet

log = logging.getLogger("judge_service.drift")
Status = Literal["running", "finished", "failed", "interrupted"]
RUN_ID = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{8}")
MAX_KEPT = 100
"""How many finished runs are kept; the oldest go first."""
DEFAULT_TIMEOUT_S = 60.0


class Busy(Exception):
    """Another run is going on; ``run_id`` is its id."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"drift run {run_id} is going on; one at a time")
        self.run_id = run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a run is to compare, in the words of whoever asks for it."""

    gold: GoldSet
    baseline: str
    candidate: str
    repeat: int
    top: int
    concurrency: int
    timeout_s: float = DEFAULT_TIMEOUT_S
    max_cost_usd: float | None = None


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


class DriftRuns:
    """Starts runs and keeps what comes of them in ``folder`` (a temporary one for None).

    Other processes of the service that share the folder see them, too.
    """

    def __init__(self, engine: Engine, folder: Path | None) -> None:
        self._engine = engine
        self._folder = folder
        self._nowhere: tempfile.TemporaryDirectory[str] | None = None
        self._task: asyncio.Task[None] | None = None
        self._running: DriftRun | None = None

    def start(self, order: Order) -> DriftRun:
        """Begin a run, or go on with one that was interrupted. Raises Busy, ConfigError."""
        if self._running is not None:
            raise Busy(self._running.id)
        engine = self._engine
        sides: dict[SideName, Side] = {
            "baseline": find_side(order.baseline, order.gold, engine.bench, engine.library),
            "candidate": find_side(order.candidate, order.gold, engine.bench, engine.library),
        }
        same_question(sides["baseline"].info, sides["candidate"].info)
        plan = Plan(
            gold=order.gold,
            baseline=sides["baseline"].info,
            candidate=sides["candidate"].info,
            repeat=order.repeat,
        )
        self._open_folder()
        run = self._interrupted(plan) or _new(plan, sides)
        journal = Journal(self._path(run.id, "runs"), plan, started=run.created)
        try:
            runner = Runner(
                plan=plan,
                askers={n: SideAsker(engine, s, order.timeout_s) for n, s in sides.items()},
                journal=journal,
                concurrency=order.concurrency,
                ceiling_usd=order.max_cost_usd,
                watch=_watch(run),
            )
            runner.check()
            run.status = "running"
            self._save(run)
        except BaseException:
            journal.close()
            raise
        self._running = run
        self._task = asyncio.create_task(self._go(run, runner, order))
        return run

    def get(self, run_id: str) -> DriftRun | None:
        """A run by its id, with its report where it is finished; None where there is none."""
        if self._running is not None and run_id == self._running.id:
            return self._running
        return self._load(run_id) if RUN_ID.fullmatch(run_id) else None

    def all(self) -> list[DriftRun]:
        """All runs, the latest first."""
        if self._folder is None:
            return []
        names = sorted((p.stem for p in self._folder.glob("*.json")), reverse=True)
        found = [self.get(name) for name in names if RUN_ID.fullmatch(name)]
        return [run for run in found if run is not None]

    async def aclose(self) -> None:
        """Stop what is going on; the next start of the same run continues it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._nowhere is not None:
            self._nowhere.cleanup()

    async def _go(self, run: DriftRun, runner: Runner, order: Order) -> None:
        # What makes reports is loaded by the first run, not by the service's start.
        from judge_service.drift.report import make_report

        journal = runner.journal
        try:
            await runner.go()
            run.report = await asyncio.to_thread(
                make_report,
                order.gold,
                journal.data("baseline"),
                journal.data("candidate"),
                top=order.top,
                stopped=runner.stopped,
            )
            run.status = "finished" if runner.stopped is None else "interrupted"
            run.error = runner.stopped
            if runner.stopped is None:
                journal.finish()
        except asyncio.CancelledError:
            run.status = "interrupted"
            raise
        except ConfigError as error:
            run.status, run.error = "failed", str(error)
        except Exception:
            log.exception("drift run %s", run.id)
            run.status, run.error = "failed", "an internal error; the log has it"
        finally:
            run.finished = _now()
            journal.close()
            self._running = None
            with contextlib.suppress(OSError):
                self._save(run)
                self._tidy()
            log.info("drift run %s: %s", run.id, run.status)

    def _interrupted(self, plan: Plan) -> DriftRun | None:
        """The latest unfinished run of the same plan."""
        for run in self.all():
            if run.plan == plan.digest and run.status == "interrupted":
                return run
        return None

    def _open_folder(self) -> None:
        """Make the folder; where that cannot be, runs are kept as long as the process lives."""
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                return
            except OSError as error:
                log.warning("%s: %s; drift runs end with the process", self._folder, error.strerror)
        self._nowhere = tempfile.TemporaryDirectory(prefix="drift-")
        self._folder = Path(self._nowhere.name)

    def _path(self, run_id: str, ending: str) -> Path:
        return (self._folder or Path()) / f"{run_id}.{ending}"

    def _save(self, run: DriftRun) -> None:
        """Write what is known of a run, in one step. Raises OSError."""
        data = {name: getattr(run, name) for name in DriftRun.__dataclass_fields__}
        beside = self._path(run.id, f"{os.getpid()}.tmp")
        beside.write_text(json.dumps(data, allow_nan=False), encoding="utf-8")
        beside.replace(self._path(run.id, "json"))

    def _load(self, run_id: str) -> DriftRun | None:
        try:
            data = json.loads(self._path(run_id, "json").read_text(encoding="utf-8"))
            run = DriftRun(**data)
        except (OSError, ValueError, TypeError):
            return None
        if run.status == "running" and not self._is_held(run_id):
            run.status = "interrupted"
        return run

    def _is_held(self, run_id: str) -> bool:
        """Whether some process is writing to the run's file."""
        import fcntl

        try:
            with self._path(run_id, "runs").open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def _tidy(self) -> None:
        """Remove the oldest runs above ``MAX_KEPT``."""
        for run in self.all()[MAX_KEPT:]:
            if run.status != "running":
                for ending in ("json", "runs"):
                    self._path(run.id, ending).unlink(missing_ok=True)


def _new(plan: Plan, sides: Mapping[SideName, Side]) -> DriftRun:
    return DriftRun(
        id=f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}",
        plan=plan.digest,
        gold=plan.gold.name,
        baseline=f"{sides['baseline'].judge.id},{sides['baseline'].rubric.id}",
        candidate=f"{sides['candidate'].judge.id},{sides['candidate'].rubric.id}",
        created=_now(),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _watch(run: DriftRun) -> Callable[[Progress], None]:
    def watch(now: Progress) -> None:
        run.progress = {
            "judgements": now.total,
            "done": now.known + now.asked,
            "failed": now.failed,
            "upstream_requests": now.requests,
            "cost_usd": None if now.unknown_cost_calls else now.cost_usd,
            "cost_expected_usd": now.cost_expected(),
            "seconds_left": now.seconds_left(),
        }

    return watch
