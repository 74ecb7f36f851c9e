"""The expected value of a verdict, from the probabilities of all that was offered.

A judge that gives 4 may have been close to 5 or to 3. Where its provider tells the probabilities of
the tokens, the mean of the points' values, each weighed by its probability, says so (Liu et al.
2023, G-Eval). It stands beside the point, which stays the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge_service.reply.reply import ChoiceForm, Reading, ReplyForm, ScoreForm

MIN_MASS = 0.9
"""Where the values offered cover less of the probability, nothing is expected of them."""
MAX_LOG_ODDS = 10.0
"""A preference is no surer than this: what a probability of 1 in print leaves out is not known."""
_PAIR_WORTH = {"candidate_1": 1.0, "candidate_2": 0.0, "tie": 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """``value`` in [0, 1], of a pair the preference for one of the two; None where it does not
    count. ``mass`` is the probability that the values offered cover, 0.0 where none is known.
    """

    value: float | None
    mass: float

    @property
    def mirrored(self) -> Expectation:
        """The preference for the other one of a pair."""
        return Expectation(value=None if self.value is None else 1.0 - self.value, mass=self.mass)

    @property
    def log_odds(self) -> float | None:
        """The logarithm of the odds of a preference; what is not covered counts for both alike."""
        if self.value is None:
            return None
        share = self.value * self.mass + 0.5 * (1.0 - self.mass)
        if share in (0.0, 1.0):
            return MAX_LOG_ODDS * (2.0 * share - 1.0)
        odds = math.log(share / (1.0 - share))
        return max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, odds))

    @property
    def uncounted(self) -> Expectation:
        """The same where the point counts all the same."""
        return Expectation(value=None, mass=self.mass)


UNKNOWN = Expectation(value=None, mass=0.0)
"""No probabilities are known."""


def expectations(reading: Reading, form: ReplyForm) -> dict[str, Expectation]:
    """What is expected of each value of a reading, by name as in ``Reading.probabilities``.

    A point is worth its rank on the scale, of a pair the first is worth 1, a tie 0.5.
    """
    return {
        name: _expected(reading.probabilities[name], worth)
        if name in reading.probabilities
        else UNKNOWN
        for name, worth in _worth(form).items()
    }


def preference(reading: Reading, form: ChoiceForm) -> Expectation:
    """What is expected of a pair, for the one that was shown first."""
    return expectations(reading, form)["choice"]


def together(parts: Sequence[Expectation]) -> Expectation:
    """The mean of several, with the least mass; without a value where one has none.

    The preferences of a pair's two orders, mapped back, so put together: what a judge gives to a
    position it adds in one order and takes away in the other.
    """
    mass = min((part.mass for part in parts), default=0.0)
    values = [part.value for part in parts if part.value is not None]
    whole = bool(values) and len(values) == len(parts)
    return Expectation(value=sum(values) / len(values) if whole else None, mass=mass)


def middle(parts: Sequence[Expectation]) -> Expectation:
    """The lower median of a panel's, with the least mass; without a value where one has none."""
    mass = min((part.mass for part in parts), default=0.0)
    values = sorted(part.value for part in parts if part.value is not None)
    whole = bool(values) and len(values) == len(parts)
    return Expectation(value=values[(len(values) - 1) // 2] if whole else None, mass=mass)


def _worth(form: ReplyForm) -> Mapping[str, Sequence[float]]:
    if isinstance(form, ScoreForm):
        return {"score": _ranks(form.allowed)}
    if isinstance(form, ChoiceForm):
        return {"choice": tuple(_PAIR_WORTH[label] for label in form.allowed)}
    return {name: _ranks(points) for name, points in form.allowed}


def _ranks(points: Sequence[int]) -> tuple[float, ...]:
    return tuple(rank / (len(points) - 1) for rank in range(len(points)))


def _expected(chances: Sequence[float], worth: Sequence[float]) -> Expectation:
    total = sum(chances)
    # Printed probabilities may add up to a little more than 1.
    mass = min(1.0, total)
    if mass < MIN_MASS:
        return Expectation(value=None, mass=mass)
    value = sum(chance * one for chance, one in zip(chances, worth, strict=True)) / total
    return Expectation(value=min(1.0, value), mass=mass)
