"""The drift runs of a service: one at a time, in a folder, continued after a restart."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judge_service.drift.asking import SideAsker
from judge_service.drift.journal import Journal
from judge_service.drift.kept import Busy, DriftRun, RunFolder, new_id, now
from judge_service.drift.plan import Plan, SideName, same_question
from judge_service.drift.runner import Progress, Runner
from judge_service.drift.side import Side, find_side
from judge_service.engine import Engine
from judge_service.errors import ConfigError
from judge_service.gold.item import GoldSet

log = logging.getLogger("judge_service.drift")
__all__ = ["DEFAULT_TIMEOUT_S", "Busy", "DriftRun", "DriftRuns", "Order"]

DEFAULT_TIMEOUT_S = 60.0
LOOK_S = 1.0
"""How often a run's progress is written down, and looked at whether it is to stop."""


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


class DriftRuns:
    """Starts runs and keeps what comes of them in ``folder`` (a temporary one for None).

    Other processes of the service that share the folder see them, too, and none of them runs
    another one meanwhile.
    """

    def __init__(self, engine: Engine, folder: Path | None) -> None:
        self._engine = engine
        self._kept = RunFolder(folder)
        self._task: asyncio.Task[None] | None = None
        self._running: DriftRun | None = None
        self._starting = asyncio.Lock()

    async def start(self, order: Order) -> DriftRun:
        """Begin a run, or go on with one that was interrupted. Raises Busy, ConfigError, OSError.

        Items are checked in a thread, for there may be many; meanwhile the service goes on.
        """
        async with self._starting:
            if self._running is not None:
                raise Busy(self._running.id)
            run, runner, claim = await asyncio.to_thread(self._prepared, order)
            self._running = run
            self._task = asyncio.create_task(self._go(run, runner, order, claim))
            return run

    def get(self, run_id: str) -> DriftRun | None:
        """A run by its id, with its report where it is finished; None where there is none."""
        if self._running is not None and run_id == self._running.id:
            return self._running
        return self._kept.load(run_id)

    def all(self) -> list[DriftRun]:
        """All runs, the latest first."""
        running = self._running
        return [
            running if running is not None and run.id == running.id else run
            for run in self._kept.all()
        ]

    async def stop(self, run_id: str) -> DriftRun | None:
        """Stop a run, in whichever process it goes on, and tell what it came to; the same request
        continues it. One that is over stays as it is; None where there is none. Raises OSError.
        """
        task = self._task
        if self._running is not None and run_id == self._running.id and task is not None:
            task.cancel()
            await asyncio.wait([task])
        elif (run := await asyncio.to_thread(self.get, run_id)) and run.status == "running":
            await asyncio.to_thread(self._kept.ask_to_stop, run_id)
            for _ in range(50):
                run = await asyncio.to_thread(self.get, run_id)
                if run is None or run.status != "running":
                    break
                await asyncio.sleep(LOOK_S / 10)
        return await asyncio.to_thread(self.get, run_id)

    async def aclose(self) -> None:
        """Stop what is going on; the next start of the same run continues it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._kept.close()

    def _prepared(self, order: Order) -> tuple[DriftRun, Runner, int]:
        """The run, written down as running, and the right to run it."""
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
        self._kept.open()
        claim = self._kept.claim()
        try:
            run = self._interrupted(plan) or _new(plan, sides)
            self._kept.asked_to_stop(run.id)
            runner = self._runner(run, plan, sides, order)
        except BaseException:
            os.close(claim)
            raise
        return run, runner, claim

    def _runner(
        self, run: DriftRun, plan: Plan, sides: Mapping[SideName, Side], order: Order
    ) -> Runner:
        journal = Journal(self._kept.path(run.id, "runs"), plan, started=run.created)
        try:
            runner = Runner(
                plan=plan,
                askers={n: SideAsker(self._engine, s, order.timeout_s) for n, s in sides.items()},
                journal=journal,
                concurrency=order.concurrency,
                ceiling_usd=order.max_cost_usd,
                watch=lambda progress: _tell(run, progress),
            )
            runner.check()
            run.status, run.finished, run.error = "running", None, None
            self._kept.save(run)
        except BaseException:
            journal.close()
            raise
        return runner

    async def _go(self, run: DriftRun, runner: Runner, order: Order, claim: int) -> None:
        journal = runner.journal
        looking = asyncio.create_task(self._look(run, asyncio.current_task()))
        try:
            await self._report(run, runner, order)
        except asyncio.CancelledError:
            run.status = "interrupted"
            raise
        except ConfigError as error:
            run.status, run.error = "failed", str(error)
        except Exception:
            log.exception("drift run %s", run.id)
            run.status, run.error = "failed", "an internal error; the log has it"
        finally:
            looking.cancel()
            run.finished = now()
            # In this order: whoever looks meanwhile must not find a run that nobody is at. A disk
            # that is full keeps neither the claim nor the journal open.
            with contextlib.suppress(OSError):
                self._kept.save(run)
            self._running = None
            journal.close()
            os.close(claim)
            with contextlib.suppress(OSError):
                self._kept.tidy()
            log.info("drift run %s: %s", run.id, run.status)

    async def _report(self, run: DriftRun, runner: Runner, order: Order) -> None:
        # What makes reports is loaded by the first run, not by the service's start.
        from judge_service.drift.report import make_report

        journal = runner.journal
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

    async def _look(self, run: DriftRun, task: asyncio.Task[None] | None) -> None:
        """Now and then write down how far a run is, for the other processes, and stop it where one
        of them was asked to.
        """
        told = time.monotonic()
        while task is not None:
            await asyncio.sleep(LOOK_S)
            if await asyncio.to_thread(self._kept.asked_to_stop, run.id):
                task.cancel()
                return
            if run.status == "running" and time.monotonic() - told >= LOOK_S:
                told = time.monotonic()
                with contextlib.suppress(OSError):  # the next look tells it
                    self._kept.save(run)

    def _interrupted(self, plan: Plan) -> DriftRun | None:
        """The latest unfinished run of the same plan."""
        for run in self._kept.all():
            if run.plan == plan.digest and run.status == "interrupted":
                return run
        return None


def _new(plan: Plan, sides: Mapping[SideName, Side]) -> DriftRun:
    return DriftRun(
        id=new_id(),
        plan=plan.digest,
        gold=plan.gold.name,
        baseline=f"{sides['baseline'].judge.id},{sides['baseline'].rubric.id}",
        candidate=f"{sides['candidate'].judge.id},{sides['candidate'].rubric.id}",
        created=now(),
    )


def _tell(run: DriftRun, progress: Progress) -> None:
    run.progress = {
        "judgements": progress.total,
        "done": progress.known + progress.asked,
        "failed": progress.failed,
        "upstream_requests": progress.requests,
        "cost_usd": None if progress.unknown_cost_calls else progress.cost_usd,
        "cost_expected_usd": progress.cost_expected(),
        "seconds_left": progress.seconds_left(),
    }
