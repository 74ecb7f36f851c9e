"""The two kinds of results: an estimate with its interval, and a test."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A finite value and its 95 % interval, None where no interval can be given."""

    value: float
    ci95: Interval | None = None

    def __post_init__(self) -> None:
        for number in (self.value, *(self.ci95 or ())):
            if not math.isfinite(number):
                raise ValueError(f"{number} is no estimate; say None where there is none")

    def wire(self) -> dict[str, Any]:
        """``{"value": …, "ci95": [low, high] | null}``."""
        return {"value": self.value, "ci95": None if self.ci95 is None else list(self.ci95)}


def estimate(value: float, ci95: Interval | None = None) -> Estimate | None:
    """An estimate; None where ``value`` is not finite: the statistic has no meaning there."""
    if not math.isfinite(value):
        return None
    # Rounding must not put an estimate outside of its own interval's closed end by an ulp.
    return Estimate(float(value), None if ci95 is None else (float(ci95[0]), float(ci95[1])))


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """A two-sided test: its name, statistic, degrees of freedom (where it has any) and p-value.

    ``effect`` is how large the difference is, in the words of ``effect_name``; ``n`` the number of
    pairs that the test is about.
    """

    __test__ = False  # not a test of pytest's

    name: str
    statistic: float
    p_value: float
    n: int
    df: int | None = None
    effect_name: str = ""
    effect: Estimate | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    def rejects(self, level: float = 0.05) -> bool:
        """Whether the test alone, without correction for others, rejects."""
        return self.p_value < level

    def wire(self) -> dict[str, Any]:
        """JSON: ``value`` is the test statistic, which has no interval; the effect has one."""
        return {
            "value": self.statistic,
            "ci95": None,
            "test": self.name,
            "df": self.df,
            "p_value": self.p_value,
            "n": self.n,
            "effect": {
                "name": self.effect_name,
                **(self.effect.wire() if self.effect else {"value": None, "ci95": None}),
            },
            **self.detail,
        }


def wire(result: Estimate | TestResult | None) -> dict[str, Any] | None:
    """JSON of a result; null where there is none."""
    return None if result is None else result.wire()
