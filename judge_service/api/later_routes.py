"""Routes that no start waits for: a probe asks for none of them, and together they take a good part
of a start to make.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from fastapi import APIRouter, FastAPI

AFTER_START_S = 0.5
"""They wait so long after the start: what the first verdict waits for is loaded before."""


class LaterRoutes:
    """Adds them to ``app``, once: some time after the start, or with the first request that is for
    none of those that are ``there``.
    """

    def __init__(self, app: FastAPI, there: Iterable[str]) -> None:
        self._app = app
        self._there = frozenset(there)
        self._added = False

    async def before(self, path: str) -> None:
        """Add them where a request for ``path`` may need them."""
        if not self._added and path not in self._there:
            await self._add()

    async def ahead(self) -> None:
        """Add them before anybody asks."""
        await asyncio.sleep(AFTER_START_S)
        await self._add()

    def add(self) -> None:
        """Add them now."""
        if not self._added:
            self._added = True
            for router in _routers():
                self._app.include_router(router)

    async def _add(self) -> None:
        # What takes time is to make them, and that many may wait for at once.
        await asyncio.to_thread(_routers)
        self.add()


def _routers() -> list[APIRouter]:
    """All of them, made when they are first wanted."""
    from judge_service.api import (
        bias,
        bulk,
        drift_runs,
        looking,
        rubric_upload,
        trainers,
        watching,
    )

    modules = (bulk, rubric_upload, drift_runs, looking, bias, watching, trainers)
    return [module.router for module in modules]
