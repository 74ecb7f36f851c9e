"""Strengths from comparisons, with a position term for each judge, as a maximum a posteriori fit.

A comparison in which i is shown first and j second is governed by

    x = strength_i - strength_j + bias_judge

A choice alone says that the one shown first wins with a chance of 1 / (1 + exp(-x)) (Bradley and
Terry 1952; the order effect as in Davidson and Beaver 1977); a tie counts as half a win. Where the
judge's own odds are known, their logarithm is x itself with an error N(0, 1²) (paired comparisons
on a continuous response with order effects: Scheffé 1952). Both kinds may stand side by side.
Strengths have the prior N(0, 2²), each judge's bias N(0, 1²), so that few comparisons already give
finite values and a judge that always takes the first costs its answers their weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

STRENGTH_SD = 2.0
BIAS_SD = 1.0
ODDS_SD = 1.0
MAX_STEPS = 100
TOLERANCE = 1e-10
MAX_STEP = 2.0


class Shown(NamedTuple):
    """One comparison: who was shown first and second, by whom it was judged (all as numbers from
    0), and how far the first one won: 1.0, 0.5 or 0.0. ``log_odds`` are the judge's own of that,
    where they are known.
    """

    first: int
    second: int
    judge: int
    won: float
    log_odds: float | None = None


def strengths(shown: Sequence[Shown], members: int, judges: int) -> NDArray[np.float64]:
    """The strength of each member, of shape (``members``,); without any comparison all are 0."""
    rows = np.arange(len(shown))
    design = np.zeros((len(shown), members + judges))
    design[rows, [s.first for s in shown]] = 1.0
    design[rows, [s.second for s in shown]] = -1.0
    design[rows, [members + s.judge for s in shown]] = 1.0
    graded = np.array([s.log_odds is not None for s in shown], dtype=bool)
    told = np.array([s.won if s.log_odds is None else s.log_odds for s in shown], dtype=np.float64)
    precision = np.concatenate([np.full(members, STRENGTH_SD**-2), np.full(judges, BIAS_SD**-2)])
    values = np.zeros(members + judges)
    # Newton's method on a strictly concave function; steps are bounded against overshooting.
    for _ in range(MAX_STEPS):
        x = design @ values
        chance = _logistic(x)
        pull = np.where(graded, (told - x) / ODDS_SD**2, told - chance)
        weight = np.where(graded, ODDS_SD**-2, chance * (1.0 - chance))
        gradient = design.T @ pull - precision * values
        curvature = (design.T * weight) @ design + np.diag(precision)
        step = np.clip(np.linalg.solve(curvature, gradient), -MAX_STEP, MAX_STEP)
        values += step
        if np.abs(step).max() < TOLERANCE:
            break
    return values[:members]


def win_shares(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each of at least two members, the share of wins expected against all the others, with
    positions out of the picture.
    """
    chance = _logistic(strength[:, None] - strength[None, :])
    np.fill_diagonal(chance, 0.0)
    shares: NDArray[np.float64] = chance.sum(axis=1) / (len(strength) - 1)
    return shares


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    # Stable on both sides.
    return 0.5 * (1.0 + np.tanh(0.5 * x))
