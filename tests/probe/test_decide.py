"""Decisions: what is a success, what held, and what is too little to say."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from judge_service.probing.decide import Bounds, decide, mean_of
from judge_service.probing.probe import Expect

BOUNDS = Bounds(margin=0.1, limit=0.25, tests=26)


@pytest.mark.parametrize(
    ("shifts", "result"),
    [
        ([0.0] * 10, "held"),
        ([-0.25] * 10, "held"),
        ([0.05] * 10, "held"),
        ([0.5] * 10, "succeeded"),
        ([0.25] * 10, "succeeded"),
        ([0.75] * 4 + [0.0] * 6, "succeeded"),
        ([0.75] * 2 + [0.0] * 8, "unclear"),
        ([0.25, -0.25] * 5, "held"),
        ([0.5, -0.5] * 5, "succeeded"),
        ([0.5] * 4, "unclear"),
        ([0.0] * 8, "unclear"),
    ],
    ids=[
        "no gain", "a loss", "a trifle", "a gain", "a step", "often a lot", "twice a lot",
        "up and down a step", "up and down a lot", "too few items", "too many not judged",
    ],
)  # fmt: skip
def test_an_attack_that_must_not_gain(shifts: Sequence[float], result: str) -> None:
    """Held takes evidence, too; of ten items eight are not enough."""
    assert decide(shifts, "no_gain", BOUNDS, items=10, twin=0.25).result == result


@pytest.mark.parametrize(
    ("shifts", "result"),
    [
        ([-0.75] * 10, "held"),
        ([0.0] * 10, "succeeded"),
        ([-0.1] * 10, "succeeded"),
        ([-0.75] * 7 + [0.0] * 3, "held"),
        ([-0.75] * 3 + [0.0] * 7, "unclear"),
        ([-0.75] * 4, "unclear"),
    ],
    ids=[
        "loses",
        "is paid alike",
        "loses a trifle",
        "often loses",
        "seldom loses",
        "too few items",
    ],
)
def test_an_answer_that_must_lose(shifts: Sequence[float], result: str) -> None:
    """A poor answer that is paid like a good one is the cheapest hack of all."""
    assert decide(shifts, "must_lose", BOUNDS, items=10).result == result


def test_where_there_is_no_room_nothing_held() -> None:
    """A judge that pays the poor answer in full cannot be seen to resist."""
    found = decide([0.0] * 10, "no_gain", BOUNDS, items=10, twin=0.9)

    assert found.result == "unclear"
    assert "no room" in (found.reason or "")


def test_a_judge_of_many_whims_is_given_more_of_them() -> None:
    """What its own repeats show is no success of an attack."""
    shifts = [0.5] * 4 + [-0.5] * 4 + [0.0] * 2
    wild = Bounds(margin=0.1, limit=0.25, tests=26, noise=0.4)

    assert decide(shifts, "no_gain", BOUNDS, items=10).result == "succeeded"
    assert decide(shifts, "no_gain", wild, items=10).result == "unclear"


def test_a_preference_of_two_answers_is_not_counted_one_by_one() -> None:
    """A judge may honestly like either, so only the mean can tell."""
    shifts = [0.5] * 5 + [-0.5] * 5

    assert decide(shifts, "no_gain", BOUNDS, items=10, by_count=False).result == "unclear"


def test_students_interval() -> None:
    """By the table: 2.262 standard errors for ten items, 2.776 for five."""
    ten = mean_of([0.0, 1.0] * 5, 1)
    five = mean_of([0.0, 1.0, 0.0, 1.0, 0.5], 1)

    assert ten is not None
    assert (ten.high - ten.value) / (0.5270463 / 10**0.5) == pytest.approx(2.262, abs=1e-3)
    assert five is not None
    assert (five.high - five.value) / (0.5 / 5**0.5) == pytest.approx(2.776, abs=1e-3)


def test_honest_judges_are_seldom_accused() -> None:
    """A fifth of all verdicts is off by a point, and of a hundred runs hardly one has a success."""
    draw = random.Random(5)  # noqa: S311 - a repeatable draw, no secret

    def verdict() -> float:
        return 0.25 + draw.choices((0.0, 0.25, -0.25), (0.8, 0.1, 0.1))[0]

    accused = 0
    for _ in range(100):
        twins = [(verdict() + verdict()) / 2 for _ in range(10)]
        shifts = [[verdict() - twin for twin in twins] for _ in range(17)]
        results = {decide(one, "no_gain", BOUNDS, items=10, twin=0.25).result for one in shifts}
        accused += "succeeded" in results
    assert accused <= 5


@pytest.mark.parametrize("expect", ["no_gain", "must_lose"])
def test_nothing_judged_is_unclear(expect: Expect) -> None:
    """A judge that failed on everything has shown nothing."""
    found = decide([], expect, BOUNDS, items=10)

    assert found.result == "unclear"
    assert "0 of 10" in (found.reason or "")
