"""What one outcome says: what is paid, what the judge alone gave, what stood between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from judge_service.probing.observe import assessed, compared
from judge_service.probing.view import NoRubric, view_of
from judge_service.rubric.file import document
from judge_service.rubric.library import load_library

LIBRARY = load_library()
RUBRIC = view_of(document(LIBRARY["quick-look"]))
PAIR = view_of(document(LIBRARY["pairwise-helpfulness"]))
SOUND: dict[str, Any] = {"passed": True, "score": 1.0, "results": []}
BROKEN: dict[str, Any] = {
    "passed": False,
    "score": 1.0,
    "results": [
        {"rule": "opener_only", "hard": True, "passed": False, "score": 0.0},
        {"rule": "markup_density", "hard": False, "passed": False, "score": 0.0},
        {"rule": "max_chars", "hard": True, "passed": True, "score": 1.0},
    ],
}


def answer(value: float, **more: Any) -> dict[str, Any]:
    """An assessment with one criterion."""
    return {
        "status": "success", "reward": value, "rules": SOUND, "flags": [], "error": None,
        "criteria": {"answers": {"point": 1, "normalized": value, "weight": 1.0}},
        "metrics": {"length_factor": 1.0}, **more,
    }  # fmt: skip


def pair(outcome: str | None, orders: tuple[str | None, str | None], **more: Any) -> dict[str, Any]:
    """A comparison by one judge."""
    worth: Mapping[str, float] = {"first": 1.0, "second": 0.0, "tie": 0.5}
    return {
        "status": "failed" if outcome is None else "success",
        "error": {"code": "timeout"} if outcome is None else None,
        "outcome": outcome,
        "preference": worth.get(outcome or ""),
        "orders": [
            {"order": order, "choice": choice}
            for order, choice in zip(("AB", "BA"), orders, strict=True)
        ],
        "rules": [SOUND, SOUND], "flags": [], "short_circuited": False,
        "metrics": {"length_chars/first": 100.0, "length_chars/second": 100.0}, **more,
    }  # fmt: skip


def test_a_sound_answer_is_paid_what_the_judge_gave() -> None:
    """Nothing stands between."""
    seen = assessed(RUBRIC, answer(0.5))

    assert (seen.paid, seen.own, seen.stop, seen.code) == (0.5, 0.5, None, None)


def test_a_hard_rule_pays_nothing_whatever_the_judge_gave() -> None:
    """And the rules that were broken are named; a weighted one stops nothing."""
    seen = assessed(RUBRIC, answer(1.0, reward=0.0, rules=BROKEN))

    assert (seen.paid, seen.own, seen.stop) == (0.0, 1.0, "rule")
    assert seen.rules == ("opener_only",)


def test_a_hard_rule_settles_what_the_judge_could_not() -> None:
    """The service would not have asked it."""
    failed = answer(
        0.0, status="failed", reward=None, rules=BROKEN, criteria={}, error={"code": "timeout"}
    )

    assert (assessed(RUBRIC, failed).paid, assessed(RUBRIC, failed).own) == (0.0, None)


def test_a_failure_is_no_number() -> None:
    """Its code is told."""
    failed = answer(0.0, status="failed", reward=None, criteria={}, error={"code": "timeout"})

    seen = assessed(RUBRIC, failed)

    assert (seen.paid, seen.own, seen.code) == (None, None, "timeout")


def test_length_control_stands_between() -> None:
    """The judge gave more than is paid."""
    seen = assessed(RUBRIC, answer(1.0, reward=0.3, metrics={"length_factor": 0.3}))

    assert (seen.paid, seen.own, seen.stop) == (0.3, 1.0, "length control")


def test_expected_values_count_where_they_enter_the_reward() -> None:
    """Where the rubric wants them and the provider tells them."""
    criteria = {
        "answers": {
            "point": 3, "normalized": 1.0, "weight": 1.0, "expected": {"value": 0.8, "mass": 1.0},
        }
    }  # fmt: skip
    assert assessed(RUBRIC, answer(0.8, criteria=criteria)).own == pytest.approx(0.8)
    graded = pair("inconsistent", ("first", "second"), expected={"value": 0.7, "mass": 1.0})
    assert compared(PAIR, graded).paid == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("outcome", "orders", "paid", "own", "shown", "stop"),
    [
        ("first", ("first", "first"), 0.5, 0.5, 0.0, None),
        ("second", ("second", "second"), -0.5, -0.5, 0.0, None),
        ("tie", ("tie", "tie"), 0.0, 0.0, 0.0, None),
        ("inconsistent", ("first", "second"), 0.0, 0.0, 0.5, "position swap"),
        ("inconsistent", ("second", "first"), 0.0, 0.0, -0.5, "position swap"),
        ("inconsistent", ("first", "tie"), 0.0, 0.25, 0.25, "position swap"),
    ],
)
def test_a_pair_pays_by_its_outcome(
    outcome: str,
    orders: tuple[str, str],
    paid: float,
    own: float,
    shown: float,
    stop: str | None,
) -> None:
    """Half the difference of two shares of wins; single orders are the judge's own."""
    seen = compared(PAIR, pair(outcome, orders))

    assert (seen.paid, seen.own, seen.shown_first, seen.stop) == (paid, own, shown, stop)


def test_a_long_winner_of_a_pair_is_paid_less() -> None:
    """As in a ranking."""
    metrics = {"length_chars/first": 12_000.0, "length_chars/second": 100.0}

    seen = compared(PAIR, pair("first", ("first", "first"), metrics=metrics))

    assert (seen.paid, seen.own, seen.stop) == (0.0, 0.5, "length control")


def test_a_pair_without_a_verdict_in_one_order_is_no_number() -> None:
    """Neither paid nor the judge's own."""
    seen = compared(PAIR, pair(None, ("first", None)))

    assert (seen.paid, seen.own, seen.code) == (None, None, "timeout")


@pytest.mark.parametrize(
    ("rules", "paid"),
    [([BROKEN, SOUND], -0.5), ([SOUND, BROKEN], 0.5), ([BROKEN, BROKEN], 0.0)],
    ids=["the attack", "its twin", "both"],
)
def test_a_rule_decides_a_pair(rules: list[dict[str, Any]], paid: float) -> None:
    """Whatever the judge chose."""
    seen = compared(PAIR, pair("tie", ("tie", "tie"), rules=rules))

    assert (seen.paid, seen.stop) == (paid, "rule")


@pytest.mark.parametrize(
    "rules", [[None, SOUND], [SOUND, None], [None, None], [BROKEN, None], [None, BROKEN]]
)
def test_a_pair_whose_rules_were_not_run_is_no_number(rules: list[dict[str, Any] | None]) -> None:
    """One broken rule settles nothing where nothing is known of the other text."""
    failed = pair(None, (None, None), rules=rules)
    failed["error"] = {"code": "internal"}

    assert (compared(PAIR, failed).paid, compared(PAIR, failed).code) == (None, "internal")


def test_an_answer_whose_rules_were_not_run_is_no_number() -> None:
    """A rule raised, or nobody had the time to look."""
    failed = answer(
        0.0, status="failed", reward=None, rules=None, criteria={}, error={"code": "internal"}
    )

    assert (assessed(RUBRIC, failed).paid, assessed(RUBRIC, failed).code) == (None, "internal")


@pytest.mark.parametrize("content", [{}, {"criteria": [{}]}, {"criteria": 5}])
def test_what_is_no_rubric_is_refused(content: dict[str, Any]) -> None:
    """A service of another version, say."""
    with pytest.raises(NoRubric):
        view_of(content)
