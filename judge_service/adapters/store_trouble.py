"""What is wrong with a store, and the few log lines an operator gets about it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

EVERY_S = 30.0
log = logging.getLogger("judge_service.store")


class StoreTrouble:
    """Troubles by kind, each one short sentence. The first one logs a warning, the end of all an
    info line; however often that repeats, there is at most one warning in ``EVERY_S`` seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kinds: dict[str, str] = {}
        self._told: str | None = None
        self._told_at: float | None = None
        self._untold = 0

    @property
    def now(self) -> str | None:
        """The trouble that there is longest, None when there is none."""
        return next(iter(self._kinds.values()), None)

    def begins(self, kind: str, sentence: str) -> None:
        """There is trouble of this kind, or it goes on."""
        fresh = not self._kinds
        self._kinds[kind] = sentence
        if fresh and not self._may_tell():
            self._untold += 1
        self.tick()

    def ends(self, kind: str) -> None:
        """There is none of this kind (any more)."""
        if self._kinds.pop(kind, None) is None or self._kinds or self._told is None:
            return
        log.info("%s: over", self._told)
        self._told = None

    def tick(self) -> None:
        """Say what is still wrong and was not said yet, if it may be said again."""
        if self.now in (None, self._told) or not self._may_tell():
            return
        more = f" (and {self._untold} times before, not logged)" if self._untold else ""
        log.warning("%s; going on without it%s", self.now, more)
        self._told, self._told_at, self._untold = self.now, self._clock(), 0

    def _may_tell(self) -> bool:
        return self._told_at is None or self._clock() - self._told_at >= EVERY_S
