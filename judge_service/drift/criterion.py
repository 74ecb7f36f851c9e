"""The statistics of one criterion, or of the outcomes of pairs: two sides on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge_service.drift.data import Lined, Row, label, labels
from judge_service.drift.flips import group_flips, pair_flips
from judge_service.drift.floor import NoiseFloor, noise_floor
from judge_service.drift.humans import CHOICES
from judge_service.statistics.agreement import (
    Label,
    cohen_kappa,
    confusion,
    exact_agreement,
    kappa_paradox,
)
from judge_service.statistics.bootstrap import Bootstrap
from judge_service.statistics.correlation import kendall, spearman
from judge_service.statistics.estimate import TestResult, wire
from judge_service.statistics.homogeneity import mcnemar, stuart_maxwell
from judge_service.statistics.shift import mean_shift, wilcoxon


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What was found on one criterion (None for the outcomes of pairs).

    ``test`` is the one that drift is decided by: Wilcoxon's for points, Stuart and Maxwell's for
    outcomes; None where nothing differs. ``figures`` are the JSON of everything.
    """

    criterion: str | None
    n: int
    floor: NoiseFloor
    test: TestResult | None
    figures: dict[str, Any]


def compare_criterion(
    lined: Lined, criterion: str | None, scale: Sequence[int], *, seed: int
) -> Compared:
    """Compare the labels of both sides on ``criterion``, whose points are ``scale``."""
    rows = [
        row
        for row in lined.judged
        if label(row.baseline, criterion) is not None
        and label(row.candidate, criterion) is not None
    ]
    categories: Sequence[Label] = CHOICES if criterion is None else tuple(scale)
    before, after = _column(rows, criterion)
    floor = noise_floor(
        [labels(run, lined.gold.items, criterion) for run in lined.baseline.runs],
        labels(lined.candidate.first, lined.gold.items, criterion),
        categories,
        seed=seed,
    )
    draws = Bootstrap(len(rows), seed=seed)
    homogeneity = stuart_maxwell(before, after, categories=categories, draws=draws)
    if criterion is None:
        test, numbers = homogeneity, _no_numbers()
    else:
        old, new = _numbers(before), _numbers(after)
        test = wilcoxon(old, new, draws=draws)
        numbers = {
            "quadratic_kappa": wire(
                cohen_kappa(
                    before, after, categories=categories, weighting="quadratic", draws=draws
                )
            ),
            "spearman": wire(spearman(old, new, draws=draws)),
            "kendall": wire(kendall(old, new, draws=draws)),
            "mean_shift": _shift(old, new, test, draws),
        }
    paradox = kappa_paradox(before, after)
    kappa = wire(cohen_kappa(before, after, categories=categories, draws=draws))
    figures = {
        "noise_floor": floor.wire(),
        "kappa_paradox": paradox is not None,
        "confusion": {
            "labels": list(categories),
            "rows": "baseline",
            "columns": "candidate",
            "counts": confusion(before, after, categories).tolist(),
        },
        "mcnemar": _mcnemar(before, after, categories, draws),
        "stuart_maxwell": wire(homogeneity),
        "agreement": wire(exact_agreement(before, after)),
        "kappa": None if kappa is None else {**kappa, "note": paradox},
        **numbers,
        "within_group_flips": _flips(rows, criterion, lined, seed=seed),
    }
    return Compared(criterion=criterion, n=len(rows), floor=floor, test=test, figures=figures)


def _column(rows: Sequence[Row], criterion: str | None) -> tuple[list[Label], list[Label]]:
    before = [found for row in rows if (found := label(row.baseline, criterion)) is not None]
    after = [found for row in rows if (found := label(row.candidate, criterion)) is not None]
    return before, after


def _numbers(points: Sequence[Label]) -> list[float]:
    return [float(point) for point in points]


def _no_numbers() -> dict[str, Any]:
    return dict.fromkeys(("quadratic_kappa", "spearman", "kendall", "mean_shift"))


def _shift(
    old: Sequence[float], new: Sequence[float], test: TestResult | None, draws: Bootstrap
) -> dict[str, Any] | None:
    found = wire(mean_shift(old, new, draws=draws))
    return None if found is None else {**found, "test": wire(test)}


def _mcnemar(
    before: Sequence[Label], after: Sequence[Label], categories: Sequence[Label], draws: Bootstrap
) -> dict[str, Any] | None:
    """McNemar's test is one of two labels: a scale of two points, or pairs with two outcomes."""
    used = [category for category in categories if category in {*before, *after}]
    two = list(categories) if len(categories) == 2 else used
    if len(two) != 2:
        return None
    return wire(mcnemar(before, after, categories=(two[0], two[1]), draws=draws))


def _flips(
    rows: Sequence[Row], criterion: str | None, lined: Lined, *, seed: int
) -> dict[str, Any] | None:
    """Orderings turned round, beside how many the baseline turns round by itself."""
    before, after = _column(rows, criterion)
    groups = [row.item.group for row in rows]
    found = _group_or_pair(groups, before, after, criterion, seed=seed)
    if found is None:
        return None
    return {**found, "noise": _own_flips(lined, criterion, seed=seed)}


def _group_or_pair(
    groups: Sequence[str],
    before: Sequence[Label],
    after: Sequence[Label],
    criterion: str | None,
    *,
    seed: int,
) -> dict[str, Any] | None:
    if criterion is None:
        return pair_flips(list(map(str, before)), list(map(str, after)), seed=seed).wire()
    return group_flips(groups, _numbers(before), _numbers(after), seed=seed).wire()


def _own_flips(lined: Lined, criterion: str | None, *, seed: int) -> dict[str, Any] | None:
    """The same between the first two runs of the baseline."""
    if len(lined.baseline.runs) < 2:
        return None
    items = lined.gold.items
    columns = [labels(run, items, criterion) for run in lined.baseline.runs[:2]]
    both = [
        (item.group, a, b)
        for item, a, b in zip(items, *columns, strict=True)
        if a is not None and b is not None
    ]
    return _group_or_pair(
        [group for group, _, _ in both],
        [a for _, a, _ in both],
        [b for _, _, b in both],
        criterion,
        seed=seed,
    )
