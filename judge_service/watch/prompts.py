"""Which prompts have been counted lately.

Answers to one prompt are alike, and a chart takes observations that are alike for a shift. So each
prompt counts once, and again only after many other outcomes: in the next epoch.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict

AGAIN_AFTER = 512
"""Outcomes after which a prompt counts once more."""


def prompt_key(prompt: str) -> int:
    """The same for the same prompt in every process; 32 bits."""
    return zlib.crc32(prompt.encode("utf-8", "surrogatepass"))


class RecentPrompts:
    """Says whether a prompt is to be counted."""

    __slots__ = ("_counted", "_number")

    def __init__(self) -> None:
        self._counted: OrderedDict[int, int] = OrderedDict()
        self._number = 0

    def counts(self, key: int) -> bool:
        """Note an outcome for a prompt; whether it is the first of it for a while."""
        self._number += 1
        oldest = self._number - AGAIN_AFTER
        counted = self._counted
        if counted.get(key, -AGAIN_AFTER) > oldest:
            return False
        counted[key] = self._number
        counted.move_to_end(key)
        while (first := next(iter(counted))) != key and counted[first] <= oldest:
            del counted[first]
        return True
