"""Strengths from comparisons: Bradley–Terry with a position term, as a maximum a posteriori fit.

P(the one shown first is chosen) = 1 / (1 + exp(-(strength_i - strength_j + bias_judge))). Strengths
have the prior N(0, 2²), each judge's bias N(0, 1²), so that few comparisons already give finite
values and a judge that always takes the first costs its answers their weight. A tie counts as half
a win. (Bradley and Terry 1952; the order effect as in Davidson and Beaver 1977.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

STRENGTH_SD = 2.0
BIAS_SD = 1.0
MAX_STEPS = 100
TOLERANCE = 1e-10
MAX_STEP = 2.0


class Shown(NamedTuple):
    """One comparison: who was shown first and second, by whom it was judged (all as numbers from
    0), and how far the first one won: 1.0, 0.5 or 0.0.
    """

    first: int
    second: int
    judge: int
    won: float


def strengths(shown: Sequence[Shown], members: int, judges: int) -> NDArray[np.float64]:
    """The strength of each member, of shape (``members``,); without any comparison all are 0."""
    rows = np.arange(len(shown))
    design = np.zeros((len(shown), members + judges))
    design[rows, [s.first for s in shown]] = 1.0
    design[rows, [s.second for s in shown]] = -1.0
    design[rows, [members + s.judge for s in shown]] = 1.0
    won = np.array([s.won for s in shown], dtype=np.float64)
    precision = np.concatenate([np.full(members, STRENGTH_SD**-2), np.full(judges, BIAS_SD**-2)])
    values = np.zeros(members + judges)
    # Newton's method on a strictly concave function; steps are bounded against overshooting.
    for _ in range(MAX_STEPS):
        chance = _logistic(design @ values)
        gradient = design.T @ (won - chance) - precision * values
        curvature = (design.T * (chance * (1.0 - chance))) @ design + np.diag(precision)
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
