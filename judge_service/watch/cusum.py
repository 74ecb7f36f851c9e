"""Page's cumulative sums of a mean, on both sides."""

from __future__ import annotations

from typing import Literal

Direction = Literal["up", "down"]
CAP = 2.0
"""Sums grow to so many limits, so that a chart is not for ever about what is over."""


class Cusum:
    """Page's chart (Biometrika 41, 1954, 100) of standardised observations.

    ``up = max(0, up + z - k)`` and ``down = max(0, down - z - k)``; an alarm where either passes
    ``h``. ``k`` is half of the shift that is looked for, in deviations. Of each side it is known
    how many observations there are since its last zero, which is where the shift began, if it is
    one, and how large it is (Montgomery, Introduction to Statistical Quality Control, 9.1).
    """

    __slots__ = ("_most", "down", "down_n", "h", "k", "up", "up_n")

    def __init__(self, k: float, h: float) -> None:
        self.k = k
        self.h = h
        self._most = CAP * h
        self.up = self.down = 0.0
        self.up_n = self.down_n = 0

    def add(self, z: float) -> None:
        """One more observation."""
        up, down = self.up + z - self.k, self.down - z - self.k
        if up > 0.0:
            self.up = up if up < self._most else self._most
            self.up_n += 1
        else:
            self.up, self.up_n = 0.0, 0
        if down > 0.0:
            self.down = down if down < self._most else self._most
            self.down_n += 1
        else:
            self.down, self.down_n = 0.0, 0

    @property
    def value(self) -> float:
        """The larger sum."""
        return self.up if self.up >= self.down else self.down

    @property
    def direction(self) -> Direction | None:
        """Whither the mean has moved beyond the limit; None where it has not."""
        if self.value <= self.h:
            return None
        return "up" if self.up >= self.down else "down"

    @property
    def at_rest(self) -> bool:
        """Whether no side that was beyond the limit is still on its way back."""
        return self.value <= self.h / 2.0

    def reset(self) -> None:
        """Begin anew."""
        self.up = self.down = 0.0
        self.up_n = self.down_n = 0
