"""From the outcomes of a plan to what every attack earned more than its twin, item by item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_service.probing.decide import NOISE
from judge_service.probing.observe import Observed, assessed, compared
from judge_service.probing.plan import Key, Plan, Question
from judge_service.probing.probe import Probe
from judge_service.probing.view import RubricView

Outcomes = Mapping[Key, Mapping[str, Any]]
NOT_ASKED, TWIN_BROKEN, FLIPS = "not asked", "twin breaks a rule", "inconsistent"
"""In place of an error's code, where there is none: why an item was not judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemShift:
    """One item: what the attack got, its twin's reward (None for pairs), and the gains, of what is
    paid and by the judge alone.
    """

    item: str
    paid: float
    twin: float | None
    gain: float
    own_gain: float | None
    seen: tuple[Observed, ...]


@dataclass(slots=True)
class Shifts:
    """The items of one probe: those that were judged, and why the ``missing`` ones were not.
    ``flagged`` is on how many the service noticed something.
    """

    judged: list[ItemShift] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    flagged: int = 0


class Reader:
    """Reads the outcomes of one plan."""

    def __init__(self, rubric: RubricView, plan: Plan, outcomes: Outcomes) -> None:
        self._questions: dict[tuple[str, str], list[Question]] = {}
        self._seen: dict[tuple[str, str], list[Observed | None]] = {}
        readers: dict[str, Callable[[RubricView, Mapping[str, Any]], Observed]] = {
            "assess": assessed, "compare": compared,
        }  # fmt: skip
        for question in plan.questions:
            place = question.key.role, question.key.item
            outcome = outcomes.get(question.key)
            seen = None if outcome is None else readers[question.kind](rubric, outcome)
            self._questions.setdefault(place, []).append(question)
            self._seen.setdefault(place, []).append(seen)

    def shifts(self, probe: Probe, items: Sequence[str]) -> Shifts:
        """The shifts of one probe on its items."""
        found = Shifts()
        for item in items:
            runs = self._seen[probe.name, item]
            found.flagged += any(seen is not None and seen.flagged for seen in runs)
            shift = self._item(probe, item, runs, found.missing)
            if shift is not None:
                found.judged.append(shift)
        return found

    def only(self, probe: Probe, item: str) -> Observed | None:
        """The one outcome of a probe that asks once; None where it was not asked."""
        (seen,) = self._seen[probe.name, item]
        return seen

    def texts(self, probe: Probe, item: str) -> tuple[str, str]:
        """The attack's text and its twin's."""
        body = self._questions[probe.name, item][0].body
        if "candidates" in body:
            attack, twin = (candidate["text"] for candidate in body["candidates"])
            return attack, twin
        twin = self._questions[probe.twin, item][0].body["candidate"]["text"]
        return body["candidate"]["text"], twin

    def repeated(self) -> list[list[float]]:
        """What the judge alone gave each answer that it was asked about at least twice."""
        values = [
            [seen.own for seen in runs if seen is not None and seen.own is not None]
            for runs in self._seen.values()
        ]
        return [one for one in values if len(one) > 1]

    def noise(self, limit: float) -> float:
        """The share of answers that moved by more than ``limit`` when they were judged again, at
        least what is taken for granted.
        """
        runs = self.repeated()
        moved = sum(max(one) - min(one) > limit for one in runs)
        return max(NOISE, moved / len(runs)) if runs else NOISE

    def _item(
        self, probe: Probe, item: str, runs: list[Observed | None], missing: Counter[str]
    ) -> ItemShift | None:
        """One item's shift; None where it was not judged, which ``missing`` counts."""
        attacks = _judged(runs)
        if not attacks:
            missing[_why(runs)] += 1
            return None
        paid = mean([seen.paid for seen in attacks if seen.paid is not None])
        own = _mean_or_none([seen.own for seen in attacks])
        if self._questions[probe.name, item][0].kind == "assess":
            return self._against_twin(probe, item, attacks, paid, own, missing)
        if any(seen.twin_rules for seen in attacks):
            missing[TWIN_BROKEN] += 1
            return None
        if probe.expect == "must_lose" and all(s.stop == "position swap" for s in attacks):
            # Nobody won: that says nothing of whether the judge sees a difference.
            missing[FLIPS] += 1
            return None
        return ItemShift(
            item=item, paid=paid, twin=None, gain=paid, own_gain=own, seen=tuple(attacks)
        )

    def _against_twin(
        self,
        probe: Probe,
        item: str,
        attacks: list[Observed],
        paid: float,
        own: float | None,
        missing: Counter[str],
    ) -> ItemShift | None:
        runs = self._seen[probe.twin, item]
        twins = _judged(runs)
        if not twins:
            missing[f"twin: {_why(runs)}"] += 1
            return None
        if any(seen.rules for seen in twins):
            missing[TWIN_BROKEN] += 1
            return None
        twin = mean([seen.paid for seen in twins if seen.paid is not None])
        twin_own = _mean_or_none([seen.own for seen in twins])
        return ItemShift(
            item=item, paid=paid, twin=twin, gain=paid - twin,
            own_gain=None if own is None or twin_own is None else own - twin_own,
            seen=tuple(attacks),
        )  # fmt: skip


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    return sum(values) / len(values)


def _judged(runs: Sequence[Observed | None]) -> list[Observed]:
    return [seen for seen in runs if seen is not None and seen.paid is not None]


def _why(runs: Sequence[Observed | None]) -> str:
    """Why there is no verdict: the first error, or that nobody was asked."""
    return next((s.code for s in runs if s is not None and s.code is not None), NOT_ASKED)


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None
