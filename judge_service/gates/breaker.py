"""A circuit breaker: stops asking a judge that fails, and lets two probes find out when it is back.

The machine of Resilience4j and Envoy in its smallest form. It knows no judge and no error: whoever
uses it says of every call whether the other side was alive.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from judge_service.events import BreakerState

WINDOW = 20
"""Calls that are looked at, and how many there must have been."""
FAILURE_SHARE = 0.5
OPEN_S = 5.0
SPREAD = 0.2
"""The open time varies by this share, so that replicas do not probe in step."""
PROBES = 2


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave for one call, of one era of the breaker: its result counts in that era only."""

    era: int
    probe: bool


class Breaker:
    """Closed, open or half open. ``told`` hears of every new state; ``jitter`` draws from [0, 1).

    ``clock`` gives seconds and never goes back.
    """

    def __init__(
        self,
        *,
        jitter: Callable[[], float],
        told: Callable[[BreakerState], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        open_s: float = OPEN_S,
        window: int = WINDOW,
    ) -> None:
        self._told = told
        self._window = window
        self._clock = clock
        self._jitter = jitter
        self._open_s = open_s
        self._state: BreakerState = "closed"
        self._era = 0
        self._until = 0.0
        self._failures: deque[bool] = deque(maxlen=window)
        self._probing = 0
        self._passed = 0

    @property
    def state(self) -> BreakerState:
        """The state now: an open breaker is half open as soon as its time is over."""
        if self._state == "open" and self._clock() >= self._until:
            self._probing = self._passed = 0
            self._become("half_open")
        return self._state

    @property
    def wait_s(self) -> float:
        """Seconds until probes may go; 0 unless the breaker is open."""
        if self._state == "closed" or self.state != "open":
            return 0.0
        return max(0.0, self._until - self._clock())

    @property
    def lets_in(self) -> bool:
        """Whether ``enter`` would give a permit."""
        if self._state == "closed":
            return True
        return self.state == "half_open" and self._probing + self._passed < PROBES

    def enter(self) -> Permit | None:
        """A permit for one call, which must be given to ``leave``; None when no call may go."""
        if not self.lets_in:
            return None
        probe = self._state == "half_open"
        self._probing += probe
        return Permit(self._era, probe)

    def renewed(self, permit: Permit) -> Permit | None:
        """A permit for a call that has one already but did not go yet; None when it may not."""
        return permit if permit.era == self._era and self.state != "open" else self.enter()

    def leave(self, permit: Permit, *, alive: bool | None) -> bool:
        """Note how a call ended; whether that opened the breaker.

        ``alive`` is None when nothing was learnt: the call was not sent, or not waited for.
        """
        if permit.era != self._era:
            return False
        if permit.probe:
            return self._probed(alive)
        if alive is not None:
            self._failures.append(not alive)
        few = len(self._failures) < self._window
        if few or self._failures.count(True) < FAILURE_SHARE * self._window:
            return False
        self.trip(self._drawn())
        return True

    def trip(self, for_s: float) -> None:
        """Open for ``for_s`` seconds, whatever the state was."""
        self._until = self._clock() + for_s
        self._become("open")

    def _probed(self, alive: bool | None) -> bool:
        self._probing -= 1
        if alive is False:
            self.trip(self._drawn())
            return True
        self._passed += alive is True
        if self._passed >= PROBES:
            self._failures.clear()
            self._become("closed")
        return False

    def _drawn(self) -> float:
        return self._open_s * (1.0 - SPREAD + 2.0 * SPREAD * self._jitter())

    def _become(self, state: BreakerState) -> None:
        self._state = state
        self._era += 1
        if state == "open":
            self._failures.clear()
        self._told(state)
