"""The rule ``repetition``: an answer that says the same thing over and over.

Stretches of ``window`` letters and digits that occurred before in the same answer are marked; the
marked share of all letters and digits is the repetition. It is the n-gram repetition rate, taken
over characters so that it needs no word boundaries and works in every script. The stretch is long
enough that lines made from one pattern (asserts, records, verses with a number) are not the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

import regex
from pydantic import Field, model_validator

from .rule import Finding, Rule, RuleInput, ramp
from .words import UNSPACED, fold

if TYPE_CHECKING:
    import numpy as np

_NOT_LETTERS = regex.compile(r"[^\p{L}\p{N}\p{M}]+")
_SPACE = regex.compile(r"\s+")
_DIGITS = regex.compile(r"\p{N}")
_DENSE = regex.compile(UNSPACED, regex.V1)

# Zeros of a matrix, a long row of equal numbers or a drawing repeat for good reasons, so these
# many repeated digits or symbols are free.
_FREE_DIGITS = 2000
_FREE_SYMBOLS = 1000
# A stretch said this many times back to back is a loop, whatever else the answer holds.
_LOOP_COPIES = 20
_LOOP_CHARS = 1000


class Repetition(Rule):
    """Fails when ``limit`` or more of the answer's letters repeat earlier ones, or it loops.

    The score is 1 up to the share ``free`` and falls to 0 at ``limit``. Answers with fewer than
    ``min_chars`` letters and digits pass. In scripts without spaces, where a character says more,
    two fifths of ``window`` and ``min_chars`` are used.
    """

    rule: Literal["repetition"] = "repetition"
    window: int = Field(default=100, ge=25, le=400)
    free: float = Field(default=0.5, ge=0.0, lt=1.0)
    limit: float = Field(default=0.7, gt=0.0, le=1.0)
    min_chars: int = Field(default=100, ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.free >= self.limit:
            raise ValueError("free must be below limit")
        return self

    def get_ready(self) -> None:
        """Load NumPy."""
        from . import windows  # noqa: F401 - to have it loaded

    def check(self, given: RuleInput) -> Finding:
        """Measure the letters; where there are hardly any, the symbols."""
        folded = fold(given.text)
        letters = _NOT_LETTERS.sub("", folded)
        dense = 2 * sum(1 for _ in _DENSE.finditer(letters)) > len(letters)
        window, least = (
            (self.window * 2 // 5, self.min_chars * 2 // 5)
            if dense
            else (self.window, self.min_chars)
        )
        if len(letters) >= max(least, 1):
            share, loops = _repeated(letters, window)
            if loops or share > self.free:
                return self._finding(share, loops)
        shown = _SPACE.sub("", folded)
        if len(shown) - len(letters) >= _FREE_SYMBOLS and len(letters) < 0.2 * len(shown):
            return self._finding(*_repeated(shown, self.window))
        return Finding(True, 1.0)

    def _finding(self, share: float, loops: bool) -> Finding:
        if loops:
            return Finding(False, 0.0, "the answer loops: one stretch, again and again")
        passed = share < self.limit
        detail = None if passed else f"{share:.0%} of the answer repeats itself"
        return Finding(passed, ramp(share, self.free, self.limit), detail)


def _repeated(text: str, window: int) -> tuple[float, bool]:
    """Share of the text that repeats an earlier stretch of it, and whether it loops."""
    import numpy as np

    from .windows import char_units, covered, distance_back, hashes

    if len(text) <= window:
        return 0.0, False
    units = char_units(text)
    back = distance_back(hashes(units, window))
    digits = char_units(_DIGITS.sub("\0", text)) == 0
    plain = np.concatenate(([0], np.cumsum(~digits)))
    numeric = (plain[window:] - plain[:-window])[: len(back)] == 0
    repeats = covered((back > 0) & ~numeric, window, len(units))
    numbers = covered((back > 0) & numeric, window, len(units))
    if np.count_nonzero(numbers) > _FREE_DIGITS:
        repeats |= numbers
    share = float(np.count_nonzero(repeats)) / len(units)
    return share, _loops(np.where(numeric, 0, back), window)


def _loops(back: np.typing.NDArray[np.int64], window: int) -> bool:
    """Whether somewhere the text keeps equalling itself one period earlier for long enough."""
    import numpy as np

    if len(back) < _LOOP_CHARS - window:
        return False
    edges = np.flatnonzero(np.diff(back)) + 1
    starts = np.concatenate(([0], edges))
    lengths = np.diff(np.concatenate((starts, [len(back)])))
    periods = back[starts]
    spans = lengths + window
    loops = (periods > 0) & (spans >= _LOOP_CHARS) & (spans >= (_LOOP_COPIES - 1) * periods)
    return bool(loops.any())
