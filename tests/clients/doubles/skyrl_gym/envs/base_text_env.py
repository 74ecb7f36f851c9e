"""The base class of environments."""

from __future__ import annotations


class BaseTextEnv:
    """Counts turns."""

    def __init__(self) -> None:
        self.turns = 0
        self.max_turns = 1
