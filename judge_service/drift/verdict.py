"""Whether the judge drifted: the rule, and its reasons in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge_service.drift.criterion import Compared
from judge_service.drift.data import Lined
from judge_service.drift.floor import MEASURES, Below
from judge_service.statistics.estimate import Estimate, TestResult
from judge_service.statistics.holm import holm

LEVEL = 0.05
MIN_ITEMS = 3
"""Fewer items say nothing: of a judge that repeats itself exactly two changed ones are no drift."""
MIN_JUDGED = 0.9
"""The least share of the items that must have a label on both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``drift`` is None where there is not enough evidence; ``reasons`` say why in any case but
    "no drift". ``adjusted`` are the tests' p-values after Holm's correction, by criterion.
    """

    drift: bool | None
    reasons: tuple[str, ...]
    by_criterion: dict[str | None, tuple[str, ...]]
    adjusted: dict[str | None, float]


def decide(lined: Lined, found: Sequence[Compared], stopped: str | None = None) -> Verdict:
    """Drift is called where the test rejects at 5 % (Holm over the criteria), or agreement or kappa
    lies below the noise floor (each measure with Holm over the criteria, too). Of a run that was
    ``stopped``, for the reason given, "no drift" is not said.
    """
    adjusted = holm({one.criterion: one.test.p_value for one in found if one.test is not None})
    reasons: dict[str | None, tuple[str, ...]] = {}
    for one in found:
        said = []
        if one.test is not None and adjusted[one.criterion] < LEVEL:
            said.append(_rejected(one, one.test, adjusted[one.criterion], len(found)))
        said += [_below(one, below) for below in one.floor.below if _is_below(one, below, found)]
        reasons[one.criterion] = tuple(said)
    why_not = _too_little(lined)
    if why_not is not None:
        whys = (why_not,) if stopped is None else (why_not, stopped)
        return Verdict(drift=None, reasons=whys, by_criterion=reasons, adjusted=adjusted)
    all_reasons = tuple(reason for said in reasons.values() for reason in said)
    drift = True if all_reasons else None if stopped is not None else False
    if stopped is not None:
        all_reasons = (*all_reasons, stopped)
    return Verdict(drift=drift, reasons=all_reasons, by_criterion=reasons, adjusted=adjusted)


def _too_little(lined: Lined) -> str | None:
    """Why nothing can be said, if so. What a rule ended needs no judge and is no gap."""
    asked = lined.n - lined.short_circuited
    judged = len(lined.judged)
    if not judged:
        return f"not enough evidence: none of {lined.n} items has a label on both sides"
    if judged < MIN_ITEMS:
        return f"not enough evidence: {judged} of {lined.n} items can be chance, whatever they say"
    if judged < MIN_JUDGED * asked:
        return (
            f"not enough evidence: {judged} of {asked} items ({judged / asked:.0%}) have a label "
            f"on both sides, {MIN_JUDGED:.0%} are needed; those that failed may be those that "
            "changed"
        )
    return None


def _is_below(one: Compared, below: Below, found: Sequence[Compared]) -> bool:
    if below.p_value is None or one.figures[below.measure] is None:
        return False
    measure = MEASURES.index(below.measure)
    p_values = {
        other.criterion: p
        for other in found
        if other.floor.below and (p := other.floor.below[measure].p_value) is not None
    }
    return holm(p_values)[one.criterion] < below.level


def _rejected(one: Compared, test: TestResult, adjusted: float, tests: int) -> str:
    corrected = f", {_p(adjusted)} after Holm's correction" if tests > 1 else ""
    shift = one.figures.get("mean_shift")
    moved = ""
    if isinstance(shift, dict):
        low, high = shift["ci95"] or (None, None)
        interval = "" if low is None else f" [{low:+.3f}, {high:+.3f}]"
        moved = f"mean shift {shift['value']:+.3f} points{interval}, "
    return (
        f"{_where(one)}{test.name} test rejects ({_p(test.p_value)}{corrected}): {moved}"
        f"{test.effect_name} {_estimate(test.effect)}"
    )


def _below(one: Compared, below: Below) -> str:
    floor = one.floor.agreement if below.measure == "agreement" else one.floor.kappa
    value = one.figures[below.measure]
    exactly = ", repeated exactly" if one.floor.exact else ""
    difference, p = _estimate(below.difference), _p(below.p_value or 0.0)
    return (
        f"{_where(one)}{below.measure} {value['value']:.3f} lies below the noise floor "
        f"{_estimate(floor, with_interval=False)} ({one.floor.repeats} runs of the baseline"
        f"{exactly}): difference {difference}, paired bootstrap {p}, level {below.level:g}"
    )


def _where(one: Compared) -> str:
    return "" if one.criterion is None else f"{one.criterion}: "


def _p(value: float) -> str:
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.4f}"


def _estimate(found: Estimate | None, *, with_interval: bool = True) -> str:
    if found is None:
        return "unknown"
    if found.ci95 is None or not with_interval:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} [{found.ci95[0]:.3f}, {found.ci95[1]:.3f}]"
