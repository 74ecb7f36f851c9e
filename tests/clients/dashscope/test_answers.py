"""What a processor asks with, and the numbers beside its answer."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from dashscope.finetune.reinforcement import (
    GroupRewardInput,
    GroupRewardOutput,
    RewardInput,
    RewardOutput,
)
from judge_client import ConfigError
from judge_client.dashscope import (
    JudgeGroupRewardProcessor,
    JudgeRewardProcessor,
)

from tests.clients.dashscope.processing import given, run, truth
from tests.clients.stand_in import SUCCESS, StandIn, Told


@pytest.mark.parametrize("missing", [None, "", "  ", math.nan], ids=repr)
def test_a_missing_truth_is_none(stand_in: StandIn, missing: Any) -> None:
    """A table's empty cell is no reference: the data's other place for it counts, or nothing."""
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r")

    run(processor, truth(missing, rollout_extra={"solution": "72"}))
    run(processor, truth(missing, rollout_extra={"solution": math.nan}))

    asked = [got.body for got in stand_in.requests if got.method == "POST"]
    assert [body.get("reference") for body in asked] == ["72", None]


def test_a_rubric_that_takes_no_reference_gets_none(stand_in: StandIn) -> None:
    """The data may have one all the same."""
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r", use_reference=False)

    run(processor, truth("72", rollout_extra={"solution": "72"}))

    assert "reference" not in stand_in.requests[-1].body


METRICS = {**SUCCESS["metrics"], "criterion/a": 0.75, "mass/a": 0.9, "another": 1.0}


@pytest.mark.parametrize("service_at_start", [True, False])
def test_metric_names_stay_whenever_the_service_comes(
    stand_in: StandIn, service_at_start: bool
) -> None:
    """The same curves for a success without a judge, before and after the first verdict."""
    rubric = Told(body={"id": "r", "kind": "assess", "criteria": [{"name": "a"}]})
    judged = Told(body={**SUCCESS, "metrics": METRICS})
    stand_in.script = lambda got: Told(status=503)
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r", preset_gate=True, timeout_s=2)

    async def all_of_them() -> list[RewardOutput]:
        if service_at_start:
            stand_in.script = lambda got: rubric if got.method == "GET" else judged
        await processor.setup()
        stand_in.script = lambda got: rubric if got.method == "GET" else judged
        scores = (0.0, 1.0, 0.0)
        return [await processor.process(given(reward_score=score)) for score in scores]

    outputs = asyncio.run(all_of_them())

    assert [output.reward.reward_score for output in outputs] == [0.0, 0.75, 0.0]
    names = {tuple(output.reward.reward_metrics or ()) for output in outputs}
    assert len(names) == 1
    assert "criterion.a" in names.pop()


def test_a_rubric_that_changed_has_its_new_metrics(stand_in: StandIn) -> None:
    """No curve of a criterion that is gone goes on at 0.0."""
    judged = [{**SUCCESS, "metrics": {"model_score": 0.75, f"criterion/{c}": 0.75}} for c in "ab"]
    stand_in.says(*(Told(body=body) for body in judged))
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r", check_rubric=False)

    found = [run(processor).reward.reward_metrics or {} for _ in judged]

    curves = [{name for name in one if name.startswith("criterion")} for one in found]
    assert curves == [{"criterion.a"}, {"criterion.b"}]


@pytest.mark.parametrize(
    ("preset", "expected"), [(1.0, 0.8), (0.0, 0.6), (0.5, 0.7)], ids=["1", "0", "half"]
)
def test_a_preset_counts_as_a_rule_score(stand_in: StandIn, preset: float, expected: float) -> None:
    """A fifth of the reward is the rollout's own score."""
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r", preset_weight=0.2)

    output = run(processor, given(reward_score=preset))

    assert output.reward.reward_score == pytest.approx(expected)


@pytest.mark.parametrize("preset", [None, math.nan, math.inf, -0.1, 1.1], ids=str)
def test_a_preset_that_is_none_is_a_failure(stand_in: StandIn, preset: float | None) -> None:
    """A part of the reward that is missing is not 0."""
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r", preset_weight=0.2)

    output = run(processor, given(reward_score=preset))

    assert (output.status.value, output.error_code) == ("failed", "no_preset")


def test_a_preset_does_not_count_unless_asked(stand_in: StandIn) -> None:
    """By default the rollout's score is left alone, NaN included."""
    output = run(JudgeRewardProcessor(url=stand_in.url, rubric="r"), given(reward_score=math.nan))

    assert output.reward.reward_score == 0.75


def test_a_hard_rule_ends_it_whatever_the_preset(stand_in: StandIn) -> None:
    """rule_pass is a factor: 0 stays 0."""
    stand_in.says(Told(body={**SUCCESS, "reward": 0.0, "short_circuited": True}))
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r", preset_weight=0.5)

    output = run(processor, given(reward_score=1.0))

    assert (output.status.value, output.reward.reward_score) == ("success", 0.0)


def test_a_preset_of_zero_can_be_a_gate(stand_in: StandIn) -> None:
    """A hard rule that the rollout has checked: 0, and nobody is asked."""
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r", preset_gate=True)

    output = run(processor, given(reward_score=0.0))

    assert (output.status.value, output.reward.reward_score) == ("success", 0.0)
    assert [got.method for got in stand_in.requests] == ["GET"]
    assert run(processor, given(reward_score=1.0)).reward.reward_score == 0.75


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan, "0.2", True], ids=str)
def test_a_wrong_preset_weight_is_found_at_setup(weight: Any) -> None:
    """Weights are in [0, 1]."""
    with pytest.raises(ConfigError, match="preset_weight"):
        asyncio.run(JudgeRewardProcessor(rubric="r", preset_weight=weight).setup())


@pytest.mark.parametrize("name", ["preset_gate", "use_reference", "check_rubric"])
@pytest.mark.parametrize("value", ["no", 0, None], ids=repr)
def test_a_setting_of_yes_and_no_is_one(name: str, value: Any) -> None:
    """A text such as "no" would count as yes."""
    with pytest.raises(ConfigError, match=name):
        asyncio.run(JudgeRewardProcessor(rubric="r", **{name: value}).setup())


def test_an_exit_is_a_failure_like_any_other(stand_in: StandIn) -> None:
    """A processor of one's own that exits does not end the SDK's server."""

    class Exits(JudgeRewardProcessor):
        async def judged(self, input_data: RewardInput) -> RewardOutput:
            raise SystemExit(1)

    class GroupExits(JudgeGroupRewardProcessor):
        async def judged(self, input_data: GroupRewardInput) -> GroupRewardOutput:
            raise SystemExit(1)

    group = GroupRewardInput(agent_outputs=[given().agent_output] * 2)
    together = asyncio.run(GroupExits(url=stand_in.url, rubric="r").process(group))

    assert run(Exits(url=stand_in.url, rubric="r")).status.value == "failed"
    assert (together.status.value, len(together.reward.rewards)) == ("failed", 2)
