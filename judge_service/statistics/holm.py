"""Several tests at once: Holm's step-down correction."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Adjusted p-values in [0, 1], by name: reject where one is below the level, and the chance of
    any false alarm stays below it (Holm, Scand. J. Stat. 6, 1979, 65).
    """
    adjusted: dict[Name, float] = {}
    highest = 0.0
    for done, (name, p) in enumerate(sorted(p_values.items(), key=lambda entry: entry[1])):
        highest = max(highest, min(1.0, p * (len(p_values) - done)))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}
