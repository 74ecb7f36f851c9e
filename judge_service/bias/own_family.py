"""Own family: does a judge prefer its own kin more than judges of other families do?

That a judge's own kin wins shows nothing, for they may be better. So each figure is a gap between
the judge and judges of other families on the same items, and there is none where nobody else
judged them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from judge_service.bias.figure import Resampled, Said, Unsaid, too_few
from judge_service.bias.record import Families, PairRecord, PointRecord
from judge_service.statistics.bootstrap import Floats, divide, weighted_mean

NO_KIN = "no answer is known to be of its family; the family rule keeps a judge from its kin"


def own_family(
    judge: str,
    families: Mapping[str, Families],
    pairs: Sequence[PairRecord],
    points: Sequence[PointRecord],
    resampled: Resampled,
) -> dict[str, Said]:
    """The gaps of one judge; ``pairs`` and ``points`` are those of all judges, it included, and
    ``families`` the lineages of each.
    """
    if not families.get(judge):
        nobody = Unsaid("no family of its own")
        return {"gap": nobody, "point_gap": nobody}
    return {
        "gap": _pair_gap(judge, families, pairs, resampled),
        "point_gap": _point_gap(judge, families, points, resampled),
    }


def kin_side(pair: PairRecord, family: Families) -> int | None:
    """0 where only the first is of ``family``, 1 where only the second is, else None."""
    first, second = (bool(family & side) for side in pair.families)
    return None if first == second else int(second)


def _pair_gap(
    judge: str,
    families: Mapping[str, Families],
    pairs: Sequence[PairRecord],
    resampled: Resampled,
) -> Said:
    """Preference for the kin by the judge minus that by the others, mean over pairs, in [-1, 1]."""
    family = families[judge]
    own: dict[str, float] = {}
    others: dict[str, list[float]] = defaultdict(list)
    kin = 0
    for pair in pairs:
        side = kin_side(pair, family)
        if side is None or pair.preference is None:
            continue
        liked = pair.preference if side == 0 else 1.0 - pair.preference
        if pair.judge == judge:
            kin += 1
            own.setdefault(pair.item, liked)
        elif _is_outside(pair.judge, families, pair.families[0] | pair.families[1] | family):
            others[pair.item].append(liked)
    gaps = [liked - float(np.mean(others[item])) for item, liked in own.items() if others[item]]
    why = _why_none(kin, len(gaps), "decided pairs with one answer of the judge's family")
    if why is not None:
        return why
    return resampled(weighted_mean(gaps), len(gaps), NO_KIN)


def _point_gap(
    judge: str,
    families: Mapping[str, Families],
    points: Sequence[PointRecord],
    resampled: Resampled,
) -> Said:
    """How much more the judge gives than the others do, to its kin minus to everybody else, in
    [-1, 1]. That it is severe or lenient as a whole falls out.
    """
    family = families[judge]
    own: dict[tuple[str, str], PointRecord] = {}
    others: dict[tuple[str, str], list[float]] = defaultdict(list)
    for point in points:
        if point.judge == judge:
            own.setdefault((point.rubric, point.item), point)
        elif _is_outside(point.judge, families, point.families | family):
            others[point.rubric, point.item].append(point.value)
    known = {key: p for key, p in own.items() if p.families}
    kin = sum(bool(p.families & family) for p in known.values())
    gaps = {
        key: (bool(p.families & family), p.value - float(np.mean(others[key])))
        for key, p in known.items()
        if others[key]
    }
    kin_gaps = sum(is_kin for is_kin, _ in gaps.values())
    why = _why_none(kin, kin_gaps, "answers of the judge's family")
    if why is None:
        why = too_few(len(gaps) - kin_gaps, "answers of other families that other judges scored")
    if why is not None:
        return why
    return _difference(gaps, resampled)


def _difference(gaps: Mapping[tuple[str, str], tuple[bool, float]], resampled: Resampled) -> Said:
    is_kin = np.array([kin for kin, _ in gaps.values()], dtype=np.float64)
    value = np.array([gap for _, gap in gaps.values()], dtype=np.float64)

    def difference(weights: Floats) -> Floats:
        of_kin = divide(weights @ (value * is_kin), weights @ is_kin)
        rest = 1.0 - is_kin
        return of_kin - divide(weights @ (value * rest), weights @ rest)

    return resampled(difference, len(value), NO_KIN)


def _why_none(kin: int, controlled: int, of: str) -> Unsaid | None:
    if not kin:
        return Unsaid(NO_KIN)
    if not controlled:
        return Unsaid("no judge of another family judged the same items")
    return too_few(controlled, f"{of} that judges of other families judged too")


def _is_outside(judge: str, families: Mapping[str, Families], concerned: Families) -> bool:
    """Whether a judge is known to be no kin of anybody concerned. A panel is no judge."""
    own = families.get(judge)
    return own is not None and bool(own) and own.isdisjoint(concerned)


def families_of(label: str) -> Families:
    """A judge's families, from their label (``deepseek+qwen``)."""
    return frozenset(label.split("+")) - {""}
