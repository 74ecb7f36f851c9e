"""Calibration: how far a judge agrees with people, and how severe it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from judge_service.gold.item import GoldItem
from judge_service.outcome import PairOutcome
from judge_service.statistics.agreement import (
    Label,
    agreement_of,
    cohen_kappa,
    confusion,
    exact_agreement,
    kappa_paradox,
)
from judge_service.statistics.bootstrap import Bootstrap, Floats, Statistic, divide, weighted_mean
from judge_service.statistics.correlation import correlation_of, kendall, spearman
from judge_service.statistics.estimate import Estimate, wire

MIN_RHO = 0.6
"""The least Spearman correlation with people for a judge that is to train anything."""
MIN_GATE_ITEMS = 10
CHOICES: tuple[PairOutcome, ...] = ("first", "second", "tie", "inconsistent")


def against_points(
    points: Sequence[int],
    humans: Sequence[float],
    scale: Sequence[int],
    *,
    repeat_rho: Estimate | None,
    seed: int,
) -> dict[str, Any] | None:
    """A judge's points beside the human values (means) of the same items; None without an item.

    ``repeat_rho`` is the judge's correlation with itself in another run: no judge can agree with
    people better than with itself.
    """
    if not points:
        return None
    draws = Bootstrap(len(points), seed=seed)
    values: list[float] = [float(p) for p in points]
    rho = spearman(values, humans, draws=draws)
    labels = sorted({*values, *humans})
    return {
        "n": len(points),
        "agreement": wire(exact_agreement(names(values), names(humans))),
        "kappa": wire(
            cohen_kappa(names(values), names(humans), categories=names(labels), draws=draws)
        ),
        "quadratic_kappa": wire(draws.estimate(quadratic_of(values, humans, scale))),
        "spearman": wire(rho),
        "kendall": wire(kendall(values, humans, draws=draws)),
        "mean_error": wire(draws.estimate(weighted_mean(np.abs(np.subtract(values, humans))))),
        "severity": wire(draws.estimate(weighted_mean(np.subtract(values, humans)))),
        "confusion": _confusion(humans, points, scale),
        "kappa_note": kappa_paradox(names(values), names(humans)),
        "gate": _gate(rho, values, humans, repeat_rho),
    }


def _gate(
    rho: Estimate | None,
    points: Sequence[float],
    humans: Sequence[float],
    repeat_rho: Estimate | None,
) -> dict[str, Any]:
    """Whether the judge may be used: null where that cannot be said, with the reason."""
    untold = None
    if len(points) < MIN_GATE_ITEMS:
        untold = f"too few items to say, {MIN_GATE_ITEMS} are enough"
    elif rho is None:
        who = "the judge's points" if len(set(points)) == 1 else "people's labels"
        untold = f"cannot be said, {who} are all equal"
    return {
        "spearman_at_least": MIN_RHO,
        "passed": None if rho is None or untold is not None else rho.value >= MIN_RHO,
        "untold": untold,
        "own_repeat_spearman": wire(repeat_rho),
    }


def quadratic_of(
    first: Sequence[float], second: Sequence[float], scale: Sequence[int]
) -> Statistic:
    """Quadratic kappa for values that may lie between points, as a statistic of weights.

    Distances are those of the points' ranks, with values between two points placed in proportion;
    on whole points it is the usual quadratic kappa.
    """
    ranks = np.arange(len(scale), dtype=np.float64)
    x = np.interp(first, scale, ranks)
    y = np.interp(second, scale, ranks)

    def kappa(weights: Floats) -> Floats:
        total = weights.sum(axis=1)
        seen = divide(weights @ ((x - y) ** 2), total)
        mean_x, mean_y = divide(weights @ x, total), divide(weights @ y, total)
        chance = divide(weights @ (x * x), total) + divide(weights @ (y * y), total)
        return 1.0 - divide(seen, chance - 2.0 * mean_x * mean_y)

    return kappa


def against_choices(
    outcomes: Sequence[PairOutcome], humans: Sequence[PairOutcome], *, seed: int
) -> dict[str, Any] | None:
    """A judge's outcomes beside what most annotators chose; None without an item.

    ``accepted`` are the consistent pairs: what is left where an inconsistent pair is no vote.
    """
    if not outcomes:
        return None
    draws = Bootstrap(len(outcomes), seed=seed)
    kept = [(a, b) for a, b in zip(outcomes, humans, strict=True) if a != "inconsistent"]
    judged, human = [a for a, _ in kept], [b for _, b in kept]
    return {
        "n": len(outcomes),
        "agreement": wire(exact_agreement(outcomes, humans)),
        "kappa": wire(cohen_kappa(outcomes, humans, categories=CHOICES, draws=draws)),
        "coverage": wire(
            exact_agreement([o != "inconsistent" for o in outcomes], [True] * len(outcomes))
        ),
        "accepted": {
            "n": len(kept),
            "agreement": wire(exact_agreement(judged, human)),
            "kappa": wire(
                cohen_kappa(
                    judged, human, categories=CHOICES, draws=Bootstrap(len(kept), seed=seed)
                )
            ),
        },
        "confusion": {
            "labels": list(CHOICES),
            "rows": "humans",
            "columns": "judge",
            "counts": confusion(humans, outcomes, CHOICES).tolist(),
        },
        "kappa_note": kappa_paradox(outcomes, humans),
    }


def change(
    baseline: Sequence[Label], candidate: Sequence[Label], humans: Sequence[Label], *, seed: int
) -> dict[str, Any] | None:
    """Whether the new judge is nearer to people than the old one, on the same items."""
    if not humans:
        return None
    draws = Bootstrap(len(humans), seed=seed)
    before, after = agreement_of(baseline, humans), agreement_of(candidate, humans)
    return {"agreement": wire(draws.estimate(lambda w: after(w) - before(w)))}


def rho_change(
    baseline: Sequence[float], candidate: Sequence[float], humans: Sequence[float], *, seed: int
) -> Estimate | None:
    """The candidate's correlation with people less the baseline's."""
    if len(humans) < 2:
        return None
    before = correlation_of("spearman", baseline, humans)
    after = correlation_of("spearman", candidate, humans)
    return Bootstrap(len(humans), seed=seed).estimate(lambda w: after(w) - before(w))


def human_points(items: Sequence[GoldItem], criterion: str) -> list[float | None]:
    """The human value of each item on a criterion."""
    return [item.human(criterion) for item in items]


def names(values: Sequence[float]) -> list[str]:
    """Values as labels; points and means that are the same number are the same label."""
    return [f"{value:.9g}" for value in values]


def _confusion(
    humans: Sequence[float], points: Sequence[int], scale: Sequence[int]
) -> dict[str, Any]:
    rows = sorted({*map(float, scale), *humans})
    counts = [[0] * len(scale) for _ in rows]
    for human, point in zip(humans, points, strict=True):
        counts[rows.index(human)][scale.index(point)] += 1
    return {
        "labels": list(scale),
        "human_values": rows,
        "rows": "humans",
        "columns": "judge",
        "counts": counts,
    }
