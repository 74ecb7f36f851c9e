"""One row of the speed table: a ratio or an amount, its goal, and whether it was met."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What one measurement found.

    ``value`` is in ``unit`` (``"x"`` for a ratio to ``against`` in the same run), ``goal`` the goal
    in words, ``detail`` the figures behind the value with their spread. ``met`` is None where this
    machine cannot tell; ``told`` says what was measured where one value does not.
    """

    name: str
    against: str
    goal: str
    value: float
    unit: str
    met: bool | None
    detail: str
    told: str = ""

    @property
    def measured(self) -> str:
        """What was measured, in words."""
        return self.told or f"{self.value:.2f} {self.unit}"

    @property
    def verdict(self) -> str:
        """Whether the goal was met, in words."""
        return {True: "met", False: "not met", None: "not told"}[self.met]

    def __str__(self) -> str:
        return (
            f"{self.name}, against {self.against}: {self.measured} "
            f"(goal {self.goal}: {self.verdict})\n{self.detail}"
        )
