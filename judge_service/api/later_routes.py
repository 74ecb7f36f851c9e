"""Routes that no start waits for: a probe asks for none of them, and together they take a good part
of a start to make.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from fastapi import APIRouter, FastAPI

log = logging.getLogger("judge_service")
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
        self._made: asyncio.Future[list[APIRouter]] | None = None

    async def before(self, path: str) -> None:
        """Add them where a request for ``path`` may need them."""
        if not self._added and path not in self._there:
            await self._add()

    async def ahead(self) -> None:
        """Add them before anybody asks. A failure is logged; whoever asks for one tries again."""
        await asyncio.sleep(AFTER_START_S)
        try:
            await self._add()
        except Exception:
            log.exception("the routes that no start waits for could not be added")

    def add(self) -> None:
        """Add them now."""
        if not self._added:
            # Where one cannot be made none is added, and the next call tries again.
            for router in _routers():
                self._app.include_router(router)
            self._added = True

    async def _add(self) -> None:
        # To make them takes time. They are made in one thread, however many requests wait: these
        # would take all threads there are. A failure is told to those who wait, and then forgotten.
        if self._made is None or self._made.done():
            self._made = asyncio.get_running_loop().run_in_executor(None, _routers)
        # Shielded, as a request that is given up must not take them from the others.
        await asyncio.shield(self._made)
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
