"""What one outcome says: what the service pays, what the judge alone gave, what stood between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from judge_service.probing.view import RubricView

Stop: TypeAlias = Literal["rule", "length control", "position swap", "family rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One outcome.

    Of an assessment, ``paid`` is the reward and ``own`` what the judge alone gave, before rules and
    length control, both in [0, 1]. Of a pair, both say by how much the first gained over the second
    in [-0.5, 0.5]: ``paid`` as the service sees it, ``own`` as single orders would have it.
    ``paid`` is None where nothing can be said: ``code`` tells why. ``rules`` are the hard rules
    that the text broke, ``stop`` what kept the judge's own verdict from being paid.
    """

    paid: float | None
    own: float | None = None
    stop: Stop | None = None
    rules: tuple[str, ...] = ()
    twin_rules: tuple[str, ...] = ()
    shown_first: float | None = None
    code: str | None = None
    flagged: bool = False


def assessed(rubric: RubricView, outcome: Mapping[str, Any]) -> Observed:
    """An assessment. A text that breaks a hard rule is paid nothing, whatever the judge did."""
    rules = _broken(outcome["rules"])
    flagged = _flagged(outcome)
    own = _own_score(rubric, outcome) if outcome["status"] == "success" else None
    if rules:
        return Observed(paid=0.0, own=own, stop="rule", rules=rules, flagged=flagged)
    if outcome["status"] != "success":
        return Observed(paid=None, code=_code(outcome), flagged=flagged)
    factor = float(outcome["metrics"].get("length_factor", 1.0))
    stop: Stop | None = "length control" if factor < 1.0 else None
    return Observed(paid=float(outcome["reward"]), own=own, stop=stop, flagged=flagged)


def compared(rubric: RubricView, outcome: Mapping[str, Any]) -> Observed:
    """A pair of an attack, first, and its twin."""
    first, second = (_broken(report) for report in outcome["rules"])
    flagged = _flagged(outcome)
    own, shown_first = _orders(outcome["orders"])
    if (first or second) and None not in outcome["rules"]:
        preference: float | None = 0.5 if first and second else 0.0 if first else 1.0
        return Observed(
            paid=_gain(rubric, outcome, preference), own=own, stop="rule", rules=first,
            twin_rules=second, shown_first=shown_first, flagged=flagged,
        )  # fmt: skip
    if outcome["status"] != "success":
        return Observed(paid=None, code=_code(outcome), flagged=flagged)
    if outcome["short_circuited"]:
        # Both are one text, which is a tie without a judge.
        return Observed(paid=0.0, stop="rule", rules=("same_text",), flagged=flagged)
    preference = outcome["preference"]
    graded = _expected(outcome)
    if graded is not None:
        # Where the rubric wants expected scores, that is what a ranking pays.
        preference = graded
    stop: Stop | None = None
    if preference is None:
        stop = "position swap"
    elif _factor(rubric, outcome, "first") < 1.0:
        stop = "length control"
    return Observed(
        paid=_gain(rubric, outcome, preference), own=own, stop=stop, shown_first=shown_first,
        flagged=flagged,
    )  # fmt: skip


def _own_score(rubric: RubricView, outcome: Mapping[str, Any]) -> float | None:
    """The criteria put together, before length control; None where the judge gave none."""
    results = outcome["criteria"]
    if not results:
        return None
    values = [(_value(result), float(result["weight"])) for result in results.values()]
    if rubric.aggregate == "min":
        return min(value for value, _ in values)
    total = sum(weight for _, weight in values)
    return sum(value * weight for value, weight in values) / total if total else None


def _value(result: Mapping[str, Any]) -> float:
    """What of a criterion enters the reward."""
    expected = _expected(result)
    return float(result["normalized"]) if expected is None else expected


def _expected(part: Mapping[str, Any]) -> float | None:
    """The expected value, where the rubric wants those and there is one."""
    value = (part.get("expected") or {}).get("value")
    return None if value is None else float(value)


def _orders(orders: list[Mapping[str, Any]]) -> tuple[float | None, float | None]:
    """By how much the first won, and by how much the one shown first did, over single orders; None
    where an order has no verdict.
    """
    choices = [(order["order"], order["choice"]) for order in orders]
    if not choices or any(choice is None for _, choice in choices):
        return None, None
    worth = {"first": 1.0, "tie": 0.5, "second": 0.0}
    first = [worth[choice] for _, choice in choices]
    shown = [
        value if order == "AB" else 1.0 - value
        for value, (order, _) in zip(first, choices, strict=True)
    ]
    return sum(first) / len(first) - 0.5, sum(shown) / len(shown) - 0.5


def _gain(rubric: RubricView, outcome: Mapping[str, Any], preference: float | None) -> float:
    """Half the difference of what a ranking of the two would pay; nobody's win pays both alike."""
    share = 0.5 if preference is None else preference
    scores = [float(report["score"]) for report in outcome["rules"]]
    first, second = (
        rubric.rule_weight * score + rubric.model_weight * part * _factor(rubric, outcome, which)
        for score, part, which in zip(
            scores, (share, 1.0 - share), ("first", "second"), strict=True
        )
    )
    first = 0.0 if _broken(outcome["rules"][0]) else first
    second = 0.0 if _broken(outcome["rules"][1]) else second
    return (first - second) / 2.0


def _factor(rubric: RubricView, outcome: Mapping[str, Any], which: str) -> float:
    if rubric.length is None:
        return 1.0
    return rubric.length.factor(int(outcome["metrics"][f"length_chars/{which}"]))


def _broken(report: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The hard rules that a text broke; none where rules were not run to their end."""
    if report is None or report["passed"]:
        return ()
    return tuple(r["rule"] for r in report["results"] if r["hard"] and not r["passed"])


def _code(outcome: Mapping[str, Any]) -> str:
    return str((outcome["error"] or {}).get("code", "internal"))


def _flagged(outcome: Mapping[str, Any]) -> bool:
    return any(flag["flag"] == "injection" for flag in outcome["flags"])
