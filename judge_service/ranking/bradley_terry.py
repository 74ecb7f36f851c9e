"""Strengths from comparisons, with a position term for each judge, as a maximum a posteriori fit.

A comparison in which i is shown first and j second is governed by

    x = strength_i - strength_j + bias_judge

A choice alone says that the one shown first wins with a chance of 1 / (1 + exp(-x)) (Bradley and
Terry 1952; the order effect as in Davidson and Beaver 1977); a tie counts as half a win. Where the
judge's own odds are known, their logarithm is x itself with an error N(0, 1²) (paired comparisons
on a continuous response with order effects: Scheffé 1952). Both kinds may stand side by side.
Strengths have the prior N(0, 2²), each judge's bias N(0, 1²), so that few comparisons already give
finite values and a judge that always takes the first costs its answers their weight.

Where lists have given the members a standing before, their strengths have the prior
N(1.5 · standing, 1.2²) instead. That lists say nothing of who wins is taken to be possible, too:
both priors are fitted, and count by the evidence for each (Laplace's approximation, as in MacKay
1992), the second with one chance in ten at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STRENGTH_SD = 2.0
BIAS_SD = 1.0
ODDS_SD = 1.0
STANDING_WORTH, STANDING_SD = 1.5, 1.2
STANDING_CHANCE = 0.9
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


class _Prior(NamedTuple):
    """What is thought of the strengths beforehand, and how likely that is to be right."""

    mean: Floats
    sd: float
    chance: float = 1.0


class _Fit(NamedTuple):
    strengths: Floats
    evidence: float


def strengths(
    shown: Sequence[Shown], members: int, judges: int, standing: Sequence[float] | None = None
) -> Floats:
    """The strength of each member, of shape (``members``,); without any comparison all are 0.

    ``standing`` is what lists said of the members, with mean 0 and standard deviation 1.
    """
    if standing is None:
        return _fit(shown, judges, _Prior(np.zeros(members), STRENGTH_SD)).strengths
    worth = STANDING_WORTH * np.array(standing, dtype=np.float64)
    priors = (
        _Prior(worth, STANDING_SD, STANDING_CHANCE),
        _Prior(np.zeros(members), STRENGTH_SD, 1.0 - STANDING_CHANCE),
    )
    fits = [_fit(shown, judges, prior) for prior in priors]
    evidence = np.array([fit.evidence for fit in fits])
    chances = np.exp(evidence - evidence.max())
    together: Floats = chances @ np.array([fit.strengths for fit in fits]) / chances.sum()
    return together


def _fit(shown: Sequence[Shown], judges: int, prior: _Prior) -> _Fit:
    """The likeliest strengths under a prior, and the logarithm of its chance in the light of what
    was seen, up to a number that is the same for every prior.
    """
    rows, members = np.arange(len(shown)), len(prior.mean)
    design = np.zeros((len(shown), members + judges))
    design[rows, [s.first for s in shown]] = 1.0
    design[rows, [s.second for s in shown]] = -1.0
    design[rows, [members + s.judge for s in shown]] = 1.0
    graded = np.array([s.log_odds is not None for s in shown], dtype=bool)
    told = np.array([s.won if s.log_odds is None else s.log_odds for s in shown], dtype=np.float64)
    precision = np.concatenate([np.full(members, prior.sd**-2), np.full(judges, BIAS_SD**-2)])
    mean = np.concatenate([prior.mean, np.zeros(judges)])
    values = mean.copy()

    def curvature(x: Floats) -> Floats:
        chance = _logistic(x)
        weight = np.where(graded, ODDS_SD**-2, chance * (1.0 - chance))
        curved: Floats = (design.T * weight) @ design + np.diag(precision)
        return curved

    # Newton's method on a strictly concave function; steps are bounded against overshooting.
    for _ in range(MAX_STEPS):
        x = design @ values
        pull = np.where(graded, (told - x) / ODDS_SD**2, told - _logistic(x))
        gradient = design.T @ pull - precision * (values - mean)
        step = np.clip(np.linalg.solve(curvature(x), gradient), -MAX_STEP, MAX_STEP)
        values += step
        if np.abs(step).max() < TOLERANCE:
            break
    x = design @ values
    seen = np.where(graded, -0.5 * ((told - x) / ODDS_SD) ** 2, told * x - np.logaddexp(0.0, x))
    thought = np.log(precision) - precision * (values - mean) ** 2
    width = np.linalg.slogdet(curvature(x)).logabsdet
    evidence = seen.sum() + 0.5 * (thought.sum() - width)
    return _Fit(values[:members], float(np.log(prior.chance) + evidence))


def win_shares(strength: Floats) -> Floats:
    """For each of at least two members, the share of wins expected against all the others, with
    positions out of the picture.
    """
    chance = _logistic(strength[:, None] - strength[None, :])
    np.fill_diagonal(chance, 0.0)
    shares: Floats = chance.sum(axis=1) / (len(strength) - 1)
    return shares


def _logistic(x: Floats) -> Floats:
    # Stable on both sides.
    return 0.5 * (1.0 + np.tanh(0.5 * x))
