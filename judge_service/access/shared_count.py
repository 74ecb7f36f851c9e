"""Counters in the store that many requests of one moment add to, with one round trip for all."""

from __future__ import annotations

import asyncio

from judge_service.storage.store import Store


class SharedCount:
    """Adds to counters that live ``ttl_s`` seconds. While the store is being told of some, what
    else comes for the same counter waits, and goes there together next.
    """

    def __init__(self, store: Store, ttl_s: float) -> None:
        self._store = store
        self._ttl_s = ttl_s
        self._waiting: dict[str, list[tuple[int, asyncio.Future[int | None]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def add(self, key: str, amount: int) -> int | None:
        """The count right after ``amount`` was added; None when the store cannot say."""
        answer: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.append((amount, answer))
        else:
            self._waiting[key] = [(amount, answer)]
            # A task of its own: a caller who hangs up does not take the others' answers along.
            task = asyncio.create_task(self._tell(key))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await answer

    async def _tell(self, key: str) -> None:
        try:
            while together := self._waiting[key]:
                self._waiting[key] = []
                try:
                    amount = sum(one for one, _ in together)
                    total = await self._store.add(key, amount, self._ttl_s)
                    if total is not None:
                        _share_out(together, total - amount)
                finally:
                    _give_up(together)
        finally:
            _give_up(self._waiting.pop(key, []))


def _share_out(together: list[tuple[int, asyncio.Future[int | None]]], count: int) -> None:
    """Answer each as if they had come one after the other."""
    for amount, answer in together:
        count += amount
        if not answer.done():
            answer.set_result(count)


def _give_up(together: list[tuple[int, asyncio.Future[int | None]]]) -> None:
    for _, answer in together:
        if not answer.done():
            answer.set_result(None)
