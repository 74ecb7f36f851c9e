"""Look-ups in the embedded store that travel together: one piece of work, one SELECT."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from judge_service.adapters.sqlite_jobs import Job

MAX_KEYS = 256


@dataclass(slots=True, eq=False)
class Reading:
    """A look-up of ``keys``, which takes more of them until its ``job`` is sent; ``job`` is None
    where there is nothing to wait for. ``told`` says that somebody was told that it takes too long.
    """

    keys: dict[str, None]
    job: Job | None
    told: bool = False

    def takes_more(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether one more key may go along, for somebody who waits in ``loop``."""
        job = self.job
        if job is None or job.sent or job.done is None or len(self.keys) >= MAX_KEYS:
            return False
        return job.done.get_loop() is loop
