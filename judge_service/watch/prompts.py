"""Which prompts have been counted lately.

Answers to one prompt are alike, and a chart takes observations that are alike for a shift. So each
prompt counts once, and again only after many other outcomes: in the next epoch.
"""

from __future__ import annotations

import zlib
from typing import Any

from judge_service.watch.baseline import number_of

AGAIN_AFTER = 512
"""A prompt does not count once more within so many outcomes."""


REMEMBERED = 4_096
"""Prompts whose last score is remembered, at least; at most twice as many."""


def prompt_key(prompt: str) -> int:
    """The same for the same prompt in every process; 32 bits."""
    return zlib.crc32(prompt.encode("utf-8", "surrogatepass"))


class RecentPrompts:
    """Says whether a prompt is to be counted. Two generations of keys, each of ``AGAIN_AFTER``
    outcomes: a key is forgotten with the older one, so at the latest after twice as many.
    """

    __slots__ = ("_lately", "_left", "_now")

    def __init__(self) -> None:
        self._now: set[int] = set()
        self._lately: set[int] = set()
        self._left = AGAIN_AFTER

    def counts(self, key: int) -> bool:
        """Note an outcome for a prompt; whether it is the first of it for a while."""
        if self._left <= 0:
            self._now, self._lately = set(), self._now
            self._left = AGAIN_AFTER
        self._left -= 1
        if key in self._now or key in self._lately:
            return False
        self._now.add(key)
        return True


class LastScores:
    """The last score of each of many prompts; in two generations as well."""

    __slots__ = ("_before", "_now")

    def __init__(self) -> None:
        self._now: dict[int, float] = {}
        self._before: dict[int, float] = {}

    def put(self, key: int, score: float) -> None:
        """Remember a score."""
        self._now[key] = score
        if len(self._now) >= REMEMBERED:
            self._now, self._before = {}, self._now

    def get(self, key: int) -> float | None:
        """The last one of a prompt; None where it is not remembered."""
        found = self._now.get(key)
        return self._before.get(key) if found is None else found

    def state(self, most: int) -> list[list[float]]:
        """What ``restore`` takes: the last ``most`` of them."""
        every = [*self._before.items(), *self._now.items()]
        return [[key, round(score, 4)] for key, score in every[-most:]]

    def restore(self, state: Any) -> None:
        """Go on where another process has stopped. Raises ValueError or TypeError."""
        for key, score in state:
            self.put(int(key), number_of(score))
