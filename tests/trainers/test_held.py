"""How long a request is held, by a clock of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from judge_service.api.trainers import hold
from judge_service.api.trainers.scored import Failure, Scored
from judge_service.deadline import Deadline

GOOD = Scored(reward=0.0)


class Time:
    """A clock that only waiting moves, and what was waited for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        monkeypatch.setattr(hold, "asyncio", SimpleNamespace(sleep=self.sleep))
        monkeypatch.setattr(hold, "FIRST_PAUSE_S", 1.0)
        monkeypatch.setattr(hold, "LAST_PAUSE_S", 5.0)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        self.waits.append(seconds)
        self.now += seconds

    def held(self, script: Sequence[Scored], budget_s: float, took_s: float = 0.0) -> Scored:
        """What a judge with this script comes to; its last answer repeats."""
        answers = list(script)

        async def judge(left: float) -> Scored:
            assert 0.0 < left <= budget_s
            self.now += took_s
            return answers.pop(0) if len(answers) > 1 else answers[0]

        return asyncio.run(hold.held(Deadline.after(budget_s, lambda: self.now), judge))


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """The clock."""
    return Time(monkeypatch)


def failure(*, retryable: bool = True, retry_after_s: float | None = None) -> Scored:
    """A failure."""
    return Scored(
        failure=Failure(
            code="upstream_error", message="away", retryable=retryable, retry_after_s=retry_after_s
        )
    )


def test_a_verdict_ends_it(time: Time) -> None:
    """A reward of 0 is a verdict like any other."""
    assert time.held([GOOD], 100.0) == GOOD
    assert time.waits == []


def test_pauses_grow(time: Time) -> None:
    """A second, two, four, then five, each shortened by chance by up to half."""
    assert time.held([*[failure()] * 6, GOOD], 100.0) == GOOD

    for wait, pause in zip(time.waits, [1, 2, 4, 5, 5, 5], strict=True):
        assert pause / 2 <= wait <= pause


def test_the_budget_is_spent_but_not_passed(time: Time) -> None:
    """It goes on until less than a pause is left."""
    assert time.held([failure()], 60.0, took_s=1.0).failure is not None
    assert 54.0 <= time.now <= 60.75  # the last try here takes its second, whatever it was given


def test_what_cannot_pass_is_told_at_once(time: Time) -> None:
    """No retry can help."""
    assert time.held([failure(retryable=False)], 100.0).failure is not None
    assert time.waits == []


def test_a_judge_that_wants_to_be_left_alone(time: Time) -> None:
    """Its time is waited for; where that is longer than the budget, a last try is made in time."""
    assert time.held([failure(retry_after_s=30.0), GOOD], 100.0) == GOOD
    assert time.waits == [30.0]

    assert time.held([failure(retry_after_s=900.0), GOOD], 100.0) == GOOD
    assert time.waits[1:] == [90.0]
