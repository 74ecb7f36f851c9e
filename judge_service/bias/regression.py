"""A logistic regression of preferences in [0, 1], with robust intervals of its coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_service.statistics.interval import Z95

Floats = npt.NDArray[np.float64]
MAX_STEPS = 50
TOLERANCE = 1e-9
MAX_LOG_ODDS = 12.0
"""A coefficient beyond this stands for an infinite one: the columns separate the cases."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient in log-odds and its standard error (HC0 sandwich: Huber 1967, White 1982)."""

    value: float
    error: float

    def chance(self, at: float = 1.0) -> tuple[float, float, float]:
        """The chance that it gives at ``at`` of its column, all else even; with its 95 % interval.
        ``at`` must not be negative.
        """
        reach = Z95 * self.error
        low, value, high = (
            _logistic(at * log_odds)
            for log_odds in (self.value - reach, self.value, self.value + reach)
        )
        return value, low, high


def fit(columns: list[Floats], preferences: Floats) -> list[Coefficient] | None:
    """The coefficients of ``columns`` (each of the length of ``preferences``), by Newton's method.

    None where there is no finite solution: the columns separate the cases, or are tied together.
    """
    design = np.column_stack(columns)
    beta = np.zeros(design.shape[1])
    for _ in range(MAX_STEPS):
        expected = _expected(design @ beta)
        slope = design.T @ (preferences - expected)
        step = _solved(_information(design, expected), slope)
        if step is None:
            return None
        # A full step from far away can overshoot; a bounded one still gets there.
        beta = beta + step / max(1.0, float(np.abs(step).max()) / 2.0)
        if float(np.abs(beta).max()) > MAX_LOG_ODDS:
            return None
        if float(np.abs(step).max()) < TOLERANCE:
            return _coefficients(design, preferences, beta)
    return None


def _coefficients(design: Floats, preferences: Floats, beta: Floats) -> list[Coefficient] | None:
    expected = _expected(design @ beta)
    residual = preferences - expected
    bread = _solved(_information(design, expected), np.eye(len(beta)))
    if bread is None:
        return None
    meat = design.T @ (design * (residual * residual)[:, None])
    errors = np.sqrt(np.maximum(0.0, np.diag(bread @ meat @ bread)))
    return [Coefficient(float(b), float(e)) for b, e in zip(beta, errors, strict=True)]


def _expected(log_odds: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -500.0, 500.0))), dtype=np.float64)


def _information(design: Floats, expected: Floats) -> Floats:
    return np.asarray(design.T @ (design * (expected * (1.0 - expected))[:, None]))


def _solved(matrix: Floats, right: Floats) -> Floats | None:
    """The solution of a linear system; None where it has none that can be trusted."""
    if not np.isfinite(matrix).all() or np.linalg.cond(matrix) > 1e12:
        return None
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)


def _logistic(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-500.0, min(500.0, log_odds))))
