"""Puts together what watches one process, and takes it apart at shutdown."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from judge_service.engine import Engine
from judge_service.errors import ConfigError
from judge_service.events import Attempted, Event, Observer
from judge_service.judges.judge import Bench
from judge_service.rubric.library import Library
from judge_service.storage.secret import ServiceSecret
from judge_service.storage.signed import Signer
from judge_service.storage.store import Store
from judge_service.watch.background import Background
from judge_service.watch.bill import Bill, Watch
from judge_service.watch.board import WatchBoard
from judge_service.watch.desk import Desk
from judge_service.watch.report import Report, merged
from judge_service.watch.resets import Reset
from judge_service.watch.settings import (
    SentinelSettings,
    ShadowSettings,
    WatchSettings,
    judge_faults,
    load_watch,
)
from judge_service.watch.watcher import Watcher

SLEEP = asyncio.sleep
"""How time passes; tests have their own."""
MOST = 4
"""Sentinels under way at once, one per judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    desk: Desk
    watcher: Watcher
    board: WatchBoard
    store: Store


def watch_settings(file: Path | None, bench: Bench | None) -> WatchSettings:
    """The ``[watch]`` table of a judges file, checked against its judges; the defaults without a
    file. Raises ConfigError.
    """
    if file is None or bench is None:
        return WatchSettings()
    settings = load_watch(file)
    faults = judge_faults(settings, bench)
    if faults:
        raise ConfigError("\n".join(f"{file}: {fault}" for fault in faults))
    return settings


def check_watch(file: Path, bench: Bench, gold: Path, library: Library) -> None:
    """Raise ConfigError where watching could not begin; ``gold`` is the folder of gold sets."""
    sentinel = watch_settings(file, bench).sentinel
    if sentinel is not None:
        from judge_service.watch.sentinel_plan import sentinels_of

        sentinels_of(sentinel, gold, library)


class Watching:
    """What watches one process: its watcher and its place in the store; nothing where watching is
    off. ``tell`` hears of alarms and costs.
    """

    def __init__(self, settings: WatchSettings, *, on: bool, tell: Observer) -> None:
        self.settings = settings
        self.on = on and settings.enabled
        self._tell = tell
        self._parts: _Parts | None = None
        self._one_at_a_time = asyncio.Lock()

    def and_tell(self, observer: Observer) -> Observer:
        """An observer that tells the watcher, too, once it is there."""
        if not self.on:
            return observer

        def tell(event: Event) -> None:
            observer(event)
            if type(event) is Attempted and self._parts is not None:
                self._parts.watcher.attempted(event)

        return tell

    async def open(self, engine: Engine, gold: Path, store: Store, secret: ServiceSecret) -> None:
        """Begin to watch an engine. ``gold`` is the folder of gold sets. Raises ConfigError for
        sentinels that cannot be.
        """
        if not self.on:
            return
        sentinel, shadow = self.settings.sentinel, self.settings.shadow
        desk = Desk(self.settings, engine.bench, engine.library, self._tell)
        watcher = Watcher(desk, self._tell)
        if sentinel is not None:
            from judge_service.watch.sentinel import Sentinel
            from judge_service.watch.sentinel_plan import sentinels_of

            plan = await asyncio.to_thread(sentinels_of, sentinel, gold, engine.library)
            watcher.sentinel = Sentinel(
                settings=sentinel,
                plan=plan,
                engine=engine,
                background=self._background("sentinel", sentinel, engine, desk, store),
                desk=desk,
                store=store,
                signer=Signer(secret, "sentinels"),
                tell=self._tell,
                sleep=SLEEP,
            )
        if shadow is not None:
            from judge_service.watch.shadow import Shadow

            watcher.shadow = Shadow(
                settings=shadow,
                engine=engine,
                background=self._background("shadow", shadow, engine, desk, store),
                desk=desk,
                tell=self._tell,
            )
        board = WatchBoard(store, secret, desk, watcher.alarms_wire)
        if watcher.sentinel is not None:
            board.keepsakes["sentinels"] = watcher.sentinel.figures
        if watcher.shadow is not None:
            board.keepsakes["shadow"] = watcher.shadow.record
        self._parts = _Parts(desk=desk, watcher=watcher, board=board, store=store)
        await board.follow()
        watcher.follow()
        engine.watch = watcher.told

    def _background(
        self,
        watch: Watch,
        settings: SentinelSettings | ShadowSettings,
        engine: Engine,
        desk: Desk,
        store: Store,
    ) -> Background:
        bill = Bill(
            watch=watch,
            daily_cost_usd=settings.daily_cost_usd,
            daily_requests=settings.daily_requests,
            store=store,
            tell=self._tell,
            wall=desk.wall,
        )
        return Background(
            watch=watch,
            bill=bill,
            state=engine.asker.gates.state,
            tell=self._tell,
            most=MOST if isinstance(settings, SentinelSettings) else settings.max_concurrency,
            per_judge=1 if isinstance(settings, SentinelSettings) else settings.max_concurrency,
        )

    async def report(self) -> Report | None:
        """What this process watches, with the alarms of all that share its store; None where
        watching is off.
        """
        parts = self._parts
        if parts is None:
            return None
        async with self._one_at_a_time:
            parts.watcher.fold()
            await parts.board.catch_up()
            others = await parts.board.others()
            own = parts.watcher.wire()
            shadow = parts.watcher.shadow
            if shadow is not None:
                from judge_service.watch.shadow import figures_of

                # Intervals are resampled, which takes some milliseconds each.
                windows = shadow.record.snapshot()
                own["shadow"]["figures"] = await asyncio.to_thread(figures_of, windows)
            return merged(own, others, shared=parts.store.shared)

    async def reset(self, *, judge: str | None = None, rubric: str | None = None) -> Report | None:
        """Learn anew what is usual of a judge, of a rubric, of both or of all, in all processes
        that share the store; None where watching is off.

        ``alarms`` is how many went with it, ``processes`` how many begin anew: this one at once,
        the others within seconds. ``note`` says what keeps others from it, if anything does.
        """
        parts = self._parts
        report = await self.report()
        if parts is None or report is None:
            return None
        reset = Reset(0, judge, rubric)
        gone = sum(reset.is_about(one["judge"], one["rubric"]) for one in report["alarms"])
        told = parts.store.shared and await parts.board.resets.add(judge, rubric)
        if told:
            await parts.board.catch_up()
            await parts.board.post(windows=True)
        else:
            parts.board.forget(reset)
        note: str | None = report["note"]
        if parts.store.shared and not told:
            note = "the store did not take it, so only the process that answers begins anew"
        return {"alarms": gone, "processes": report["processes"] if told else 1, "note": note}

    async def aclose(self) -> None:
        """Break off what is asked in the background, and leave the charts in the store."""
        if self._parts is not None:
            await self._parts.watcher.aclose()
            await self._parts.board.aclose()
