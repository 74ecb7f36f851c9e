"""The base of judges, and what a task does with one."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

ParsedT = TypeVar("ParsedT")
ConfigT = TypeVar("ConfigT")


class Judge(Generic[ParsedT, ConfigT]):
    """A judge of its settings."""

    def __init__(self, config: ConfigT) -> None:
        self.config = config

    @property
    def reward_name(self) -> str:
        """The key of the reward."""
        config: Any = self.config
        return config.name or config.id or "judge"
