"""How many calls a judge takes at once: found by additive increase, multiplicative decrease.

Providers answer 429 to too many calls; a ceiling that an operator configured is never exceeded. A
429 now and then has other reasons, and fewer calls at once would not help: only a share of them
among the recent answers counts, and only where calls run side by side.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

MOST = 1024
"""The limit where none is configured."""
PAUSE_S = 1.0
"""The limit is halved at most once in this time: calls of one moment meet the same 429."""
REMEMBERED = 100
REFUSED_SHARE = 0.1
REFUSED_LEAST = 5


class AdaptiveLimit:
    """A number of calls between 1 and ``ceiling``. ``clock`` gives seconds."""

    def __init__(
        self, ceiling: int | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ceiling = MOST if ceiling is None else ceiling
        self._clock = clock
        self.limit = self._ceiling
        """Calls that may run at once."""
        self._recent: deque[bool] = deque(maxlen=REMEMBERED)
        self._answered = 0
        self._halved_at: float | None = None

    def refused(self, running: int) -> None:
        """The provider asked for fewer requests while ``running`` calls were with it."""
        self._recent.append(True)
        refusals = sum(self._recent)
        if refusals < max(REFUSED_LEAST, REFUSED_SHARE * len(self._recent)) or running < 2:
            return
        now = self._clock()
        if self._halved_at is not None and now - self._halved_at < PAUSE_S:
            return
        self._halved_at = now
        self._answered = 0
        self._recent.clear()
        self.limit = max(1, min(self.limit, running) // 2)

    def answered(self) -> None:
        """A call was answered: one more may run after as many answers as the limit is now."""
        self._recent.append(False)
        if self.limit >= self._ceiling:
            return
        self._answered += 1
        if self._answered >= self.limit:
            self._answered = 0
            self.limit += 1
