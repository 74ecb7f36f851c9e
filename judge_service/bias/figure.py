"""A number that can be stood behind, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, FiniteFloat

from judge_service.statistics.bootstrap import DRAWS, Bootstrap, Statistic
from judge_service.statistics.interval import wilson

MIN_CASES = 10
"""Fewer cases than this make no correlation, regression or gap. A share says how little it is by
its interval.
"""
Method: TypeAlias = Literal["wilson", "bootstrap", "sandwich"]
"""Where an interval comes from: Wilson's score interval, the seeded percentile bootstrap over
items, or the robust (sandwich) variance of a regression's coefficient.
"""
LIVE_DRAWS = 500
"""Draws of the bootstrap where somebody waits for the answer; files have four times as many."""


class Figure(BaseModel):
    """A finite ``value`` with its 95 % interval, over ``n`` cases. ``ci95`` is None where the
    resampled statistic has a meaning too rarely.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: FiniteFloat
    ci95: tuple[FiniteFloat, FiniteFloat] | None
    n: int
    method: Method

    def above(self, neutral: float) -> bool:
        """Whether the whole interval lies above ``neutral``."""
        return self.ci95 is not None and self.ci95[0] > neutral

    def below(self, neutral: float) -> bool:
        """Whether the whole interval lies below ``neutral``."""
        return self.ci95 is not None and self.ci95[1] < neutral


@dataclass(frozen=True, slots=True)
class Unsaid:
    """Why there is no figure, one short clause."""

    reason: str


Said: TypeAlias = Figure | Unsaid


def share(count: int, n: int, of: str, *, independent: float | None = None) -> Said:
    """``count`` of ``n`` cases as a share in [0, 1] with Wilson's interval.

    ``of`` names the cases. ``independent`` is how many there are for the interval, where several
    hang together.
    """
    if not n:
        return Unsaid(f"there are no {of}")
    value = count / n
    bounds = wilson(value, n if independent is None else independent)
    return Figure(value=value, ci95=bounds, n=n, method="wilson")


@dataclass(frozen=True, slots=True)
class Resampled:
    """Makes figures of statistics by the bootstrap, with so many ``draws``."""

    draws: int = DRAWS

    def __call__(
        self,
        statistic: Statistic,
        rows: int,
        otherwise: str,
        *,
        n: int | None = None,
        clusters: Sequence[Hashable] | None = None,
    ) -> Said:
        """A statistic of ``rows`` rows (at least one), of which whole ``clusters`` are drawn where
        these are given. ``n`` is how many cases are told, ``otherwise`` why there is no figure.
        """
        found = Bootstrap(rows, clusters=clusters, draws=self.draws).estimate(statistic)
        if found is None:
            return Unsaid(otherwise)
        return Figure(
            value=found.value, ci95=found.ci95, n=rows if n is None else n, method="bootstrap"
        )


RESAMPLED = Resampled()


def too_few(n: int, of: str) -> Unsaid | None:
    """The reason where ``n`` cases are not enough to say anything."""
    if n >= MIN_CASES:
        return None
    return Unsaid(f"{n or 'no'} {of}; at least {MIN_CASES} are needed")
