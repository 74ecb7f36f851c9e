"""One row of the speed table: a ratio or an amount, its goal, and whether it was met."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What one measurement found.

    ``value`` is in ``unit`` (``"x"`` for a ratio to ``against`` in the same run), ``goal`` the goal
    in words, ``detail`` the figures behind the value with their spread.
    """

    name: str
    against: str
    goal: str
    value: float
    unit: str
    met: bool
    detail: str

    def __str__(self) -> str:
        verdict = "met" if self.met else "not met"
        return (
            f"{self.name}, against {self.against}: {self.value:.2f} {self.unit} "
            f"(goal {self.goal}: {verdict})\n{self.detail}"
        )
