"""What a run shows of a judge's biases: position, length, and its own family."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from judge_service.candidate.exhibit import unread
from judge_service.drift.data import Lined, label
from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import RunData
from judge_service.drift.position import position_counts
from judge_service.drift.side import SideInfo
from judge_service.gold.item import GoldItem
from judge_service.outcome import PairOutcome
from judge_service.statistics.bootstrap import Bootstrap, Floats, divide
from judge_service.statistics.correlation import spearman
from judge_service.statistics.estimate import wire
from judge_service.statistics.rates import rate
from judge_service.types import Candidate

MAX_POINTS = 2_000
"""How many items a picture of length against points shows."""
_PREFERENCE: dict[str, float] = {"first": 1.0, "tie": 0.5, "second": 0.0}


def position(data: RunData, items: Sequence[GoldItem]) -> dict[str, Any] | None:
    """Position figures of the first run of pairs; None for single candidates.

    Pairs that a rule ended, or that are one text twice, were shown to nobody.
    """
    if data.side.kind == "assess":
        return None
    found = [data.first[item.id] for item in items if item.id in data.first]
    return position_counts(
        (judged.orders.get("AB"), judged.orders.get("BA"))
        for judged in found
        if judged.status != "short_circuited"
    ).wire()


def length_of_points(
    rows: Sequence[tuple[GoldItem, Judgement]], criterion: str, *, seed: int
) -> dict[str, Any]:
    """Length against points: ``[chars, point]`` of each item, their correlation, and what of it
    people do not share.

    ``beyond_humans`` correlates length with the judge's points less the human value: 0 where the
    judge likes length as much as people do.
    """
    points = [(i, j.points[criterion], j.chars[0]) for i, j in rows if criterion in j.points]
    labelled = [
        (p - human, chars) for i, p, chars in points if (human := i.human(criterion)) is not None
    ]
    return {
        "n": len(points),
        "points": [[chars, p] for _, p, chars in points[:MAX_POINTS]],
        "spearman": wire(
            spearman(
                [float(p) for _, p, _ in points],
                [float(chars) for _, _, chars in points],
                draws=Bootstrap(len(points), seed=seed),
            )
        ),
        "beyond_humans": wire(
            spearman(
                [excess for excess, _ in labelled],
                [float(chars) for _, chars in labelled],
                draws=Bootstrap(len(labelled), seed=seed),
            )
        ),
    }


def length_of_pairs(rows: Sequence[tuple[GoldItem, Judgement]]) -> dict[str, Any]:
    """Of decided pairs of unlike length, how many the longer one won; people's share beside it."""
    decided = [(_longer(j), j.outcome) for _, j in rows if j.outcome in ("first", "second")]
    judge = [outcome == longer for longer, outcome in decided if longer is not None]
    human = [
        item.human_choice == longer
        for item, j in rows
        if (longer := _longer(j)) is not None and item.human_choice in ("first", "second")
    ]
    return {
        "n": len(judge),
        "longer_won_share": wire(rate(sum(judge), len(judge))),
        "humans_longer_won_share": wire(rate(sum(human), len(human))),
    }


def _longer(judgement: Judgement) -> PairOutcome | None:
    if len(judgement.chars) != 2 or judgement.chars[0] == judgement.chars[1]:
        return None
    return "first" if judgement.chars[0] > judgement.chars[1] else "second"


def families_of_candidate(candidate: Candidate) -> frozenset[str]:
    """The lineages of the model that wrote a candidate; empty where that is not known."""
    return unread(candidate).families()


def own_family(
    side: SideInfo,
    rows: Sequence[tuple[GoldItem, Judgement]],
    criterion: str | None,
    *,
    seed: int,
) -> dict[str, Any] | None:
    """How much better a judge's own family fares with it than other families do; None where it
    cannot be told.

    With human labels, all values are the judge's less the people's, so that a family that really is
    better makes no gap. Of single candidates it is in points; of pairs between its own and another
    family it is the share of wins of its own, less 0.5 or less people's share.
    """
    own = frozenset(side.family.split("+"))
    found = _pair_gap(own, rows) if criterion is None else _point_gap(own, rows, criterion)
    if found is None:
        return None
    values, is_own, humans = found
    return {
        "family": side.family,
        "n_own": sum(is_own),
        "n_other": len(is_own) - sum(is_own),
        "less_humans": humans,
        "gap": wire(Bootstrap(len(values), seed=seed).estimate(_gap(values, is_own))),
    }


def _gap(values: Sequence[float], is_own: Sequence[bool]) -> Any:
    value, own = np.array(values), np.array(is_own, dtype=np.float64)

    def gap(weights: Floats) -> Floats:
        mine = divide(weights @ (value * own), weights @ own)
        if own.all():
            return mine
        return mine - divide(weights @ (value * (1.0 - own)), weights @ (1.0 - own))

    return gap


def _point_gap(
    own: frozenset[str], rows: Sequence[tuple[GoldItem, Judgement]], criterion: str
) -> tuple[list[float], list[bool], bool] | None:
    known = [
        (float(j.points[criterion]), item.human(criterion), bool(families & own))
        for item, j in rows
        if criterion in j.points and (families := families_of_candidate(item.candidates[0]))
    ]
    humans = all(human is not None for _, human, _ in known)
    is_own = [mine for _, _, mine in known]
    if not any(is_own) or all(is_own):
        return None
    return [p - (human or 0.0 if humans else 0.0) for p, human, _ in known], is_own, humans


def _pair_gap(
    own: frozenset[str], rows: Sequence[tuple[GoldItem, Judgement]]
) -> tuple[list[float], list[bool], bool] | None:
    found = []
    for item, j in rows:
        mine = [bool(families_of_candidate(c) & own) for c in item.candidates]
        known = all(families_of_candidate(c) for c in item.candidates)
        share = _PREFERENCE.get(j.outcome or "")
        if not known or mine[0] == mine[1] or share is None:
            continue
        human = _PREFERENCE.get(item.human_choice or "", math.nan)
        sign = 1.0 if mine[0] else -1.0
        found.append((sign * (share - 0.5), sign * (human - 0.5)))
    if not found:
        return None
    humans = all(math.isfinite(human) for _, human in found)
    values = [judge - (human if humans else 0.0) for judge, human in found]
    return values, [True] * len(values), humans


def rows_of(lined: Lined, data: RunData, criterion: str | None) -> list[tuple[GoldItem, Judgement]]:
    """The items of the first run of a side that have a label."""
    return [
        (item, data.first[item.id])
        for item in lined.gold.items
        if item.id in data.first and label(data.first[item.id], criterion) is not None
    ]
