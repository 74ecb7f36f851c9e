"""Asking a store again that does not answer at once: one slow moment must not part a group."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

PAUSES_S = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 0.8)
"""The waits between tries."""
T = TypeVar("T")


class StoreLost(Exception):
    """The store cannot be reached."""


async def insist(attempt: Callable[[], Awaitable[T | None]]) -> T:
    """What an attempt gives, tried until it is not None. Raises StoreLost."""
    for pause in (0.0, *PAUSES_S):
        await asyncio.sleep(pause)
        found = await attempt()
        if found is not None:
            return found
    raise StoreLost
