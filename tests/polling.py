"""Waiting for what other threads and processes do: looked at again and again, within a bound."""

from __future__ import annotations

import time
from collections.abc import Callable

WITHIN_S = 60.0
"""Far more than anything takes, for machines are busy."""
STEP_S = 0.005


def comes(happens: Callable[[], object], within_s: float = WITHIN_S) -> bool:
    """Whether something happens in time. What ``happens`` raises is raised at once."""
    until = time.monotonic() + within_s
    while not happens():
        if time.monotonic() > until:
            return False
        time.sleep(STEP_S)
    return True


def until(happens: Callable[[], object], failure: str, within_s: float = WITHIN_S) -> None:
    """Return when something happens. AssertionError with ``failure`` when it does not in time."""
    assert comes(happens, within_s), failure
