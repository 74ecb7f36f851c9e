"""One call for many requests: what is known, what is sent, and what is asked for again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Generic, TypeVar

from judge_client import bulk
from judge_client.again import last_word, may_help, waited
from judge_client.bulk import Item
from judge_client.pace import Deadline, service_time
from judge_client.requests import Request
from judge_client.settings import Settings
from judge_client.together import together
from judge_client.transport import Transport

R = TypeVar("R")
POSTS_AT_ONCE = 4


class Batch(Generic[R]):
    """Requests of any kind but ``Join``. Raises InvalidRequest when one is a mistake."""

    def __init__(self, requests: Sequence[Request[R]], settings: Settings) -> None:
        self._found: dict[int, R] = {}
        self._items: list[Item[R]] = []
        for number, request in enumerate(requests):
            made = bulk.item(number, request, settings)
            if isinstance(made, Item):
                self._items.append(made)
            else:
                self._found[number] = made

    async def run(self, transport: Transport, deadline: Deadline, retry_failed: int) -> list[R]:
        """The results in order. Raises RequestRefused."""
        items = self._items
        await self._post(items, transport, deadline)
        for retry in range(retry_failed):
            items = [one for one in items if may_help(self._found[one.number])]
            failed = [self._found[one.number] for one in items]
            if not items or not await waited(retry, failed, deadline):
                break
            await self._post(items, transport, deadline)
        return [self._found[number] for number in range(len(self._found))]

    async def _post(
        self, items: Sequence[Item[R]], transport: Transport, deadline: Deadline
    ) -> None:
        """Ask for these. A few POSTs run at once; a mistake in one ends them all."""
        slots = asyncio.Semaphore(POSTS_AT_ONCE)

        async def post(chunk: Sequence[Item[R]]) -> None:
            async with slots:
                body = bulk.joined(chunk, service_time(max(0.001, deadline.left())))
                answer = await transport.post("/v1/bulk", body, deadline)
            for number, result in bulk.results(answer, chunk).items():
                self._found[number] = last_word(self._found.get(number, result), result)

        await together(post(chunk) for chunk in bulk.chunks(items))
