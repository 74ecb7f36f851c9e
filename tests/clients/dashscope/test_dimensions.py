"""Several dimensions, one reward; and the rewards of the example workspace."""

from __future__ import annotations

import asyncio
import math
import sys
from typing import Any, ClassVar

import numpy as np
import pytest
from dashscope.finetune.reinforcement import (
    RewardInput,
    RewardOutput,
)
from functions.reward.decorated import DecoratedReward
from functions.reward.dimensions import AnswerReward
from functions.reward.helpfulness import HelpfulnessReward
from judge_client import ConfigError
from judge_client.dashscope import (
    Dimension,
    JudgeMultiRewardProcessor,
)

from tests.clients.dashscope.processing import by_rubric, given, run, truth
from tests.clients.stand_in import SUCCESS, StandIn, failed


async def slow_score(_: RewardInput) -> float:
    """A score that takes a moment."""
    await asyncio.sleep(0)
    return 0.5


def test_dimensions_are_weighted(stand_in: StandIn) -> None:
    """The reward is the weighted sum, and every dimension a metric."""
    stand_in.script = by_rubric({"right": 1.0, "kind": 0.5})

    class Three(JudgeMultiRewardProcessor):
        url = stand_in.url
        dimensions: ClassVar = {
            "right": Dimension(rubric="right", weight=0.5),
            "kind": Dimension(rubric="kind", weight=0.25),
            "slow": Dimension(score=slow_score, weight=0.25),
        }

    output = run(Three())

    assert output.reward.reward_score == pytest.approx(0.75)
    assert output.reward.reward_metrics == {
        "short_circuited": 0.0, "right": 1.0, "kind": 0.5, "slow": 0.5,
    }  # fmt: skip


def test_a_hard_rule_of_one_dimension_ends_all(stand_in: StandIn) -> None:
    """What a rubric forbids earns nothing elsewhere: the whole is an honest 0, and says why."""
    refused = {**SUCCESS, "reward": 0.0, "short_circuited": True}
    stand_in.script = by_rubric({"right": 0.5, "polite": refused})
    dimensions = {
        "right": Dimension(rubric="right", weight=0.5),
        "polite": Dimension(rubric="polite", weight=0.25),
        "short": Dimension(score=lambda _: 1.0, weight=0.25),
    }

    output = run(JudgeMultiRewardProcessor(url=stand_in.url, dimensions=dimensions))

    assert (output.status.value, output.reward.reward_score) == ("success", 0.0)
    assert output.reward.reward_metrics == {
        "short_circuited": 1.0, "right": 0.5, "polite": 0.0, "short": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize("weight", [1 / 3, 0.3333334, 0.3333332], ids=str)
def test_full_marks_in_all_dimensions_are_a_1(stand_in: StandIn, weight: float) -> None:
    """Weights that sum to 1 but for rounding make no reward above 1, and none cut off."""
    dimensions = {name: Dimension(score=lambda _: 1.0, weight=weight) for name in "abc"}

    assert run(JudgeMultiRewardProcessor(dimensions=dimensions)).reward.reward_score == 1.0


def test_scores_of_numpy_are_scores(stand_in: StandIn) -> None:
    """A function may compute with NumPy; what it gives is sent as a number."""
    dimensions = {
        "a": Dimension(score=lambda _: np.float32(0.5), weight=0.5),  # type: ignore[arg-type, return-value]
        "b": Dimension(score=lambda _: np.int64(1), weight=0.5),  # type: ignore[arg-type, return-value]
    }

    output = run(JudgeMultiRewardProcessor(dimensions=dimensions))

    assert output.reward.reward_score == 0.75
    assert "0.5" in output.model_dump_json()


def test_a_dimension_may_go_without_the_reference(stand_in: StandIn) -> None:
    """Of two rubrics one takes the reference of the data, and the other none."""
    stand_in.script = by_rubric({"right": 1.0, "kind": 1.0})
    dimensions = {
        "right": Dimension(rubric="right", weight=0.5),
        "kind": Dimension(rubric="kind", weight=0.5, use_reference=False),
    }

    run(JudgeMultiRewardProcessor(url=stand_in.url, dimensions=dimensions), truth("72"))

    asked = [got.body for got in stand_in.requests if got.method == "POST"]
    assert {body["rubric"]: body.get("reference") for body in asked} == {
        "right": "72", "kind": None,
    }  # fmt: skip


def _raises(_: RewardInput) -> float:
    raise RuntimeError("a secret of the function")


def _exits(_: RewardInput) -> float:
    sys.exit(1)


async def _exits_later(_: RewardInput) -> float:
    await asyncio.sleep(0)
    sys.exit("a secret of the function")


FAILING: dict[str, Dimension] = {
    "exits": Dimension(score=_exits, weight=0.5),
    "exits later": Dimension(score=_exits_later, weight=0.5),
    "judge": Dimension(rubric="bad", weight=0.5),
    "raises": Dimension(score=_raises, weight=0.5),
    "nan": Dimension(score=lambda _: math.nan, weight=0.5),
    "above": Dimension(score=lambda _: 1.5, weight=0.5),
    "none": Dimension(score=lambda _: None, weight=0.5),  # type: ignore[arg-type, return-value]
    "text": Dimension(score=lambda _: "1", weight=0.5),  # type: ignore[arg-type, return-value]
}


@pytest.mark.parametrize("name", FAILING)
def test_one_failed_dimension_fails_the_whole(stand_in: StandIn, name: str) -> None:
    """A reward with a part missing would be another reward."""
    stand_in.script = by_rubric({"good": 1.0, "bad": failed("timeout")})
    dimensions = {"good": Dimension(rubric="good", weight=0.5), name: FAILING[name]}

    output = run(JudgeMultiRewardProcessor(url=stand_in.url, dimensions=dimensions))

    assert output.status.value == "failed"
    assert output.error is not None
    assert name in output.error
    assert "secret" not in output.error
    assert output.reward.reward_score == 0.0


WRONG: list[Any] = [
    {},
    None,
    ["a"],
    {"a": 5},
    {"a": None},
    {7: Dimension(rubric="r", weight=1.0)},
    {"a": Dimension(weight=1.0, score=0.5)},  # type: ignore[arg-type]
    {"a": Dimension(weight=1.0, rubric="r", use_reference="no")},  # type: ignore[arg-type]
    {"a": Dimension(rubric="r", weight=0.9)},
    {"a": Dimension(rubric="r", weight=1.0), "b": Dimension(rubric="r", weight=1.0)},
    {"a": Dimension(rubric="r", weight=1.5), "b": Dimension(rubric="r", weight=-0.5)},
    {"a": Dimension(weight=1.0)},
    {"a": Dimension(weight=1.0, rubric="r", score=slow_score)},
    {"a": Dimension(weight=math.nan, rubric="r")},
]


@pytest.mark.parametrize("dimensions", WRONG, ids=range(len(WRONG)))
def test_wrong_dimensions_are_found_at_setup(dimensions: Any) -> None:
    """Weights sum to 1, and every dimension has one source."""
    with pytest.raises(ConfigError, match="dimensions"):
        asyncio.run(JudgeMultiRewardProcessor(dimensions=dimensions).setup())


def test_a_dimensions_rubric_is_found_at_setup() -> None:
    """Also where the service is not asked for it."""
    dimensions = {"a": Dimension(weight=1.0, rubric="Q Q")}
    with pytest.raises(ConfigError, match="rubric"):
        asyncio.run(JudgeMultiRewardProcessor(dimensions=dimensions, check_rubric=False).setup())


def test_the_examples_class_with_settings(stand_in: StandIn) -> None:
    """Its rubric and its preset weight count."""
    processor = HelpfulnessReward(url=stand_in.url)

    assert run(processor, given(reward_score=1.0)).reward.reward_score == pytest.approx(0.8)
    assert stand_in.requests[-1].body["candidate"]["policy_model"] == "qwen3-4b-instruct-2507"


def test_the_examples_dimensions(stand_in: StandIn) -> None:
    """Its three dimensions make one reward."""
    stand_in.script = by_rubric({"correctness": 1.0, "helpfulness": 0.5})

    output = run(AnswerReward(url=stand_in.url))

    assert output.reward.reward_score == pytest.approx(0.6 + 0.15 + 0.1)


@pytest.fixture
def decorated(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> DecoratedReward:
    """The example in the SDK's own style."""
    monkeypatch.setenv("JUDGE_SERVICE_URL", stand_in.url)
    return DecoratedReward()


def test_the_decorated_example_adds_its_parts(
    stand_in: StandIn, decorated: DecoratedReward
) -> None:
    """Weighted sum, metrics under the part's name."""
    output = run(decorated)

    assert output.status.value == "success"
    assert output.reward.reward_score == pytest.approx(0.8 * 0.75 + 0.2)
    assert output.reward.reward_metrics is not None
    assert output.reward.reward_metrics["judged.model_score"] == 0.75


def test_the_decorated_example_fails_with_a_part(
    stand_in: StandIn, decorated: DecoratedReward, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge without verdict, and a part that raises, are FAILED and no smaller reward."""
    stand_in.script = by_rubric({"helpfulness": failed("timeout")})
    unjudged = run(decorated)
    stand_in.script = by_rubric({"helpfulness": 1.0})

    async def raises(_: RewardInput) -> RewardOutput:
        raise RuntimeError

    monkeypatch.setattr(decorated.reward_meta.sub_functions["short"], "func", raises)
    raised = run(decorated)

    assert (unjudged.status.value, unjudged.error_code) == ("failed", "timeout")
    assert (raised.status.value, raised.error_code) == ("failed", "part_failed")
