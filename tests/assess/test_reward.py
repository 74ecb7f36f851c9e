"""From points to the reward."""

from __future__ import annotations

import pytest

from tests.assess.support import (
    GARBAGE,
    assess,
)
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, behaviours


@pytest.mark.parametrize("text", ["Four words at most.", "These are five words, no, seven words."])
def test_rules_enter_the_reward_by_weight(text: str, service: RunningService) -> None:
    """Reward = 0.2 of the rules and 0.8 of the judge."""
    answer = assess(service, text, rubric="weighted")
    score = answer["rules"]["score"]
    assert (score == 1.0) == text.startswith("Four")
    assert answer["reward"] == pytest.approx(0.2 * score + 0.8 * 0.75)
    assert answer["metrics"]["rule_score"] == score


def test_weights_that_nearly_sum_to_one_keep_the_reward_in_range(
    service: RunningService, provider: FakeProvider
) -> None:
    """The best reward is 1.0 exactly."""
    provider.oracle({}, default=5)
    assert assess(service, "Four words at most.", rubric="nearly")["reward"] == 1.0


def _by_criterion(quality: int, clarity: int) -> Behaviour:
    return behaviours.decides(
        lambda seen: (
            {"quality": quality, "clarity": clarity}
            if seen.form == "scores"
            else quality
            if "Criterion: quality" in seen.system
            else clarity
        )
    )


@pytest.mark.parametrize(
    ("rubric", "requests", "reward"),
    [("two", 2, 0.75 * 1.0 + 0.25 * 0.25), ("together", 1, 0.8125), ("worst", 2, 0.25)],
)
def test_several_criteria_become_one_reward(
    rubric: str, requests: int, reward: float, service: RunningService, provider: FakeProvider
) -> None:
    """By weight or the worst of them; asked one by one or in one call."""
    provider.behave("main", _by_criterion(5, 2))
    answer = assess(service, rubric=rubric)
    assert answer["reward"] == pytest.approx(reward)
    assert {name: c["point"] for name, c in answer["criteria"].items()} == {
        "quality": 5, "clarity": 2,
    }  # fmt: skip
    assert [(v["criterion"], v["point"]) for v in answer["verdicts"]] == [
        ("quality", 5), ("clarity", 2),
    ]  # fmt: skip
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == requests
    spent = sum(v["usage"]["upstream_requests"] for v in answer["verdicts"])
    assert spent == requests


def test_one_criterion_without_a_verdict_fails_the_whole(
    service: RunningService, provider: FakeProvider
) -> None:
    """What the other one got is shown, but half a verdict is no reward."""
    broken = behaviours.when(
        lambda seen: "Criterion: clarity" in seen.system, GARBAGE, behaviours.honest()
    )
    provider.behave("main", broken)
    answer = assess(service, rubric="two")
    assert answer["error"]["code"] == "unparsable"
    assert [v["criterion"] for v in answer["verdicts"]] == ["quality"]
    assert answer["metrics"]["criterion/quality"] == 0.75
    assert answer["metrics"]["model_score"] == 0.0


@pytest.mark.parametrize(
    ("chars", "reward"),
    [(1200, 0.75), (1201, 0.75), (3600, 0.375), (5999, 0.0), (6000, 0.0), (7000, 0.0)],
)
def test_length_control_fades_the_judges_part(
    chars: int, reward: float, service: RunningService
) -> None:
    """Nothing up to the free length, half in the middle, nothing left at the end, no step."""
    answer = assess(service, ("word " * 2000)[: chars - 1] + ".", rubric="short")
    assert answer["reward"] == pytest.approx(reward, abs=1e-6)
    assert answer["short_circuited"] is False
    assert answer["metrics"]["length_chars"] == float(chars)
