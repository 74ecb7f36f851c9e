"""Parts that call off a task of theirs: whoever closes them may be cancelled, too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from unittest.mock import Mock

import pytest

from judge_service.bias.board import BiasBoard
from judge_service.bias.history import PairHistory
from judge_service.bias.live import ScoreHistory
from judge_service.storage.secret import ServiceSecret
from judge_service.verdicts.renewing import Renewing
from judge_service.waiting import call_off
from judge_service.watch.board import WatchBoard
from tests.bias.test_live import SharedStore

SECRET = ServiceSecret(current=b"x" * 40)
BOUND_S = 30.0


class Stubborn:
    """Work that has begun, was told to end, and ends when it may."""

    def __init__(self) -> None:
        self.begun, self.told, self.may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, _: object = None) -> None:
        """Work."""
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.told.set()
            await self.may_end.wait()


class StubbornStore(SharedStore):
    """A store that a board never comes back from by itself."""

    def __init__(self, work: Stubborn) -> None:
        super().__init__()
        self._work = work

    async def put(self, key: str, value: bytes, ttl_s: float) -> bool:
        """Work."""
        await self._work()
        return False


async def _renewing(work: Stubborn) -> Callable[[], Awaitable[None]]:
    return Renewing(work, 0.0).end


async def _bias_board(work: Stubborn) -> Callable[[], Awaitable[None]]:
    pairs = PairHistory()
    pairs.add("alpha", "first", "first", (10, 20), (1, 0))
    board = BiasBoard(StubbornStore(work), SECRET, pairs, ScoreHistory())
    board.follow()
    return board.aclose


async def _watch_board(work: Stubborn) -> Callable[[], Awaitable[None]]:
    board = WatchBoard(SharedStore(), SECRET, Mock(), list, sleep=work)
    board._usual = Mock(share=_nothing, share_names=_nothing)
    await board.follow()
    return board.aclose


async def _nothing() -> None:
    pass


@pytest.mark.parametrize(
    "part", [_renewing, _bias_board, _watch_board], ids=["lease", "histories", "charts"]
)
def test_a_cancelled_close_stays_cancelled(
    part: Callable[[Stubborn], Awaitable[Callable[[], Awaitable[None]]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The cancellation is not taken for that of the task which it waits for."""
    monkeypatch.setattr("judge_service.bias.board.POST_EVERY_S", 0.0)

    async def scenario() -> bool:
        work = Stubborn()
        close = await part(work)
        await work.begun.wait()
        closing = asyncio.ensure_future(close())
        await work.told.wait()
        closing.cancel()
        work.may_end.set()
        await asyncio.wait({closing})
        return closing.cancelled()

    assert asyncio.run(asyncio.wait_for(scenario(), BOUND_S))


def test_what_a_task_ended_in_is_not_lost() -> None:
    """Its own error is raised; that it was called off, or had ended before, is none."""

    async def scenario() -> None:
        async def fails() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                raise KeyError("a bug")

        for work in (asyncio.Event().wait, _nothing):
            task = asyncio.ensure_future(work())
            await asyncio.sleep(0)
            await call_off(task)
        failing = asyncio.ensure_future(fails())
        await asyncio.sleep(0)
        with pytest.raises(KeyError):
            await call_off(failing)

    asyncio.run(asyncio.wait_for(scenario(), BOUND_S))
