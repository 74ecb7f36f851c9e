"""Average run lengths: how many observations a chart goes on for before it raises an alarm.

Observations are taken to be independent and normal with deviation 1. Run lengths solve integral
equations: for the CUSUM those of Page (Biometrika 41, 1954, 100), two sides put together by Kemp's
rule (J. R. Stat. Soc. B 23, 1961, 149); for the EWMA those of Crowder (Technometrics 29, 1987,
401). Both are solved by Gauss and Legendre's quadrature (Nyström's method).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
NODES = 64
_ROOT_2PI = math.sqrt(2.0 * math.pi)
_SEARCHES = 32


@lru_cache(maxsize=256)
def cusum_arl(k: float, h: float, shift: float = 0.0) -> float:
    """Average run length of a two-sided CUSUM from zero; ``shift`` is the mean's, in deviations."""
    up, down = (_one_sided(k, h, mean) for mean in (shift, -shift))
    return 1.0 / (1.0 / up + 1.0 / down)


def _one_sided(k: float, h: float, mean: float) -> float:
    """L(z) = 1 + L(0) Φ(k - z - mean) + ∫ L(y) φ(y + k - z - mean) dy over [0, h], at z = 0."""
    at, weight = _nodes(0.0, h)
    start = np.concatenate(([0.0], at))
    away = k - mean - start
    system = np.zeros((len(start), len(start)))
    system[:, 0] = _below(away)
    system[:, 1:] = weight * _density(at[None, :] + away[:, None])
    return float(np.linalg.solve(np.eye(len(start)) - system, np.ones(len(start)))[0])


@lru_cache(maxsize=256)
def ewma_arl(smoothing: float, limit: float, shift: float = 0.0) -> float:
    """Average run length of an EWMA from its target. ``limit`` is in deviations of the EWMA, that
    is ``smoothing / (2 - smoothing)`` of the observations' variance.
    """
    end = limit * math.sqrt(smoothing / (2.0 - smoothing))
    at, weight = _nodes(-end, end)
    start = np.concatenate(([0.0], at))
    moves = (at[None, :] - (1.0 - smoothing) * start[:, None]) / smoothing - shift
    system = np.zeros((len(start), len(start)))
    system[:, 1:] = weight * _density(moves) / smoothing
    return float(np.linalg.solve(np.eye(len(start)) - system, np.ones(len(start)))[0])


@lru_cache(maxsize=64)
def cusum_limit(k: float, arl: float, shift: float = 0.0) -> float:
    """The limit h that gives a two-sided CUSUM this run length at ``shift`` (less than ``k``)."""
    return _searched(lambda h: cusum_arl(k, h, shift), arl, 0.5, 60.0)


@lru_cache(maxsize=64)
def ewma_limit(smoothing: float, arl: float, shift: float = 0.0) -> float:
    """The limit of an EWMA that gives this run length at ``shift``."""
    return _searched(lambda limit: ewma_arl(smoothing, limit, shift), arl, 0.5, 12.0)


def _searched(length: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Run lengths grow with the limit. Raises ValueError where none in reach is long enough."""
    found = length(high)
    # Beyond some 1e12 the system is singular to the last digit, which is long enough, too.
    if 0.0 < found < wanted:
        raise ValueError(f"no limit up to {high:g} gives a run length of {wanted:g}")
    for _ in range(_SEARCHES):
        middle = (low + high) / 2.0
        if 0.0 < length(middle) < wanted:
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=1)
def _unit_nodes() -> tuple[Floats, Floats]:
    """Nodes and weights on [-1, 1]."""
    at, weight = np.polynomial.legendre.leggauss(NODES)
    return at, weight


def _nodes(low: float, high: float) -> tuple[Floats, Floats]:
    at, weight = _unit_nodes()
    half = (high - low) / 2.0
    return low + half * (at + 1.0), half * weight


def _density(z: Floats) -> Floats:
    found: Floats = np.exp(-0.5 * z * z) / _ROOT_2PI
    return found


def _below(z: Floats) -> Floats:
    """The normal distribution's Φ."""
    return np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in z])
