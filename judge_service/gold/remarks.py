"""Remarks on a gold set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

SHOWN = 5
Level = Literal["fault", "warning"]


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to know. A fault makes the set unfit; a warning makes it tell less."""

    level: Level
    text: str


def warn(text: str) -> Remark:
    """A warning."""
    return Remark("warning", text)


def fault(text: str) -> Remark:
    """A fault."""
    return Remark("fault", text)


def some(names: Sequence[str]) -> str:
    """The first few of many names."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
