"""Where a service has its drift runs: made when somebody asks for one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judge_service.engine import Engine

if TYPE_CHECKING:
    from judge_service.drift.keeper import DriftRuns


class DriftDesk:
    """Has the runs of an engine, kept in ``folder`` (a temporary one for None)."""

    def __init__(self, engine: Engine, folder: Path | None) -> None:
        self._engine = engine
        self._folder = folder
        self._runs: DriftRuns | None = None

    def runs(self) -> DriftRuns:
        """The runs. To be called in the thread of the loop."""
        if self._runs is None:
            from judge_service.drift.keeper import DriftRuns

            self._runs = DriftRuns(self._engine, self._folder)
        return self._runs

    async def aclose(self) -> None:
        """Stop what is going on; the next start of the same run continues it."""
        if self._runs is not None:
            await self._runs.aclose()
