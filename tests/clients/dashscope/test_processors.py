"""The processors themselves: construction, settings in classes, several dimensions, presets."""

from __future__ import annotations

import asyncio
import math
import socket
import threading
import time
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, ClassVar

import pytest
from dashscope.finetune.reinforcement import (
    AbstractGroupRewardProcessor,
    AbstractRewardProcessor,
    AgentOutput,
    RewardInput,
    RewardOutput,
)
from functions.reward.decorated import DecoratedReward
from functions.reward.dimensions import AnswerReward
from functions.reward.helpfulness import HelpfulnessReward
from judge_client import ConfigError, RequestRefused
from judge_client.dashscope import (
    Dimension,
    JudgeGroupRewardProcessor,
    JudgeMultiRewardProcessor,
    JudgeRewardProcessor,
)

from tests.clients.dashscope.sdk_server import turns
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, failed, problem


def given(text: object = "An answer.", **output: Any) -> RewardInput:
    """An input as the SDK makes it."""
    return RewardInput(agent_output=AgentOutput(messages=turns(text), **output))


def run(processor: Any, input_data: RewardInput | None = None) -> RewardOutput:
    """Set up and process, in a loop of their own."""

    async def both() -> RewardOutput:
        await processor.setup()
        found: RewardOutput = await processor.process(input_data or given())
        return found

    return asyncio.run(both())


def by_rubric(rewards: dict[str, Any]) -> Callable[[Got], Told]:
    """A service whose rubrics have these rewards, or these answers."""

    def script(got: Got) -> Told:
        if got.method == "GET":
            return Told(body={"criteria": [{"name": "a"}]})
        found = rewards[got.body["rubric"]]
        return Told(body=found if isinstance(found, dict) else {**SUCCESS, "reward": found})

    return script


@pytest.mark.parametrize(
    ("processor", "base"),
    [
        (JudgeRewardProcessor, AbstractRewardProcessor),
        (JudgeMultiRewardProcessor, AbstractRewardProcessor),
        (JudgeGroupRewardProcessor, AbstractGroupRewardProcessor),
    ],
)
def test_construction_is_cheap(
    processor: type, base: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No argument, no setting, no socket and no thread is needed; ``process`` is really async."""

    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("a socket at construction")

    monkeypatch.setattr(socket, "socket", no_socket)
    threads = threading.active_count()
    started = time.monotonic()

    made = [processor() for _ in range(10)]

    assert time.monotonic() - started < 0.5
    assert threading.active_count() == threads
    assert all(isinstance(one, base) for one in made)
    assert iscoroutinefunction(made[0].process)
    assert iscoroutinefunction(made[0].setup)


def test_settings_stand_in_the_class(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class attribute wins over the environment, and a subclass needs nothing else."""
    monkeypatch.setenv("JUDGE_SERVICE_RUBRIC", "from-environment")
    monkeypatch.setenv("JUDGE_SERVICE_FAMILY", "llama")

    class Mine(JudgeRewardProcessor):
        url = stand_in.url
        rubric = "from-class"
        reference_key = "answer"

    assert run(Mine(), given(rollout_extra={"answer": 72})).reward.reward_score == 0.75
    body = stand_in.requests[-1].body
    assert (body["rubric"], body["reference"]) == ("from-class", "72")
    assert body["candidate"]["family"] == ["llama"]


def test_arguments_are_settings_too(stand_in: StandIn) -> None:
    """A constructor argument wins over the class; what is no setting is refused."""
    assert run(JudgeRewardProcessor(url=stand_in.url, rubric="r")).error is None
    assert stand_in.requests[-1].body["rubric"] == "r"
    assert stand_in.requests[-1].body["timeout_s"] == 90
    for wrong in ({"rubrik": "r"}, {"process": 1}, {"executor": 1}, {"_judge": 1}):
        with pytest.raises(TypeError, match="no setting"):
            JudgeRewardProcessor(**wrong)


def test_without_setup_it_works_as_well(stand_in: StandIn) -> None:
    """A loop after the other, and no setup: the client is made when it is needed."""
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r")

    outputs = [asyncio.run(processor.process(given(f"{n}"))) for n in range(3)]

    assert [output.reward.reward_score for output in outputs] == [0.75] * 3


def test_a_missing_rubric_is_found_at_setup() -> None:
    """There is no rubric by default; without setup it is a failure, never a number."""
    with pytest.raises(ConfigError, match="rubric"):
        asyncio.run(JudgeRewardProcessor().setup())
    output = asyncio.run(JudgeRewardProcessor().process(given()))
    assert (output.status.value, output.error_code) == ("failed", "invalid_request")


def test_an_unreachable_service_is_no_mistake() -> None:
    """Set-up goes on without it; a judgement then fails, with the reason."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        output = run(JudgeRewardProcessor(url=url, rubric="r", timeout_s=0.5))

    assert (output.status.value, output.error_code) == ("failed", "unreachable")


@pytest.mark.parametrize("processor", [JudgeRewardProcessor, JudgeGroupRewardProcessor])
@pytest.mark.parametrize(
    "given_",
    [
        {"url": "not-a-url", "rubric": "r"},
        {"rubric": "Not An Id"},
        {"timeout_s": "soon", "rubric": "r"},
        {"family": "a b", "rubric": "r"},
        {},
    ],
    ids=str,
)
def test_wrong_settings_are_found_at_setup(processor: Any, given_: dict[str, Any]) -> None:
    """A server must not start with what cannot be right."""
    with pytest.raises(ConfigError):
        asyncio.run(processor(**given_).setup())


@pytest.mark.parametrize("processor", [JudgeRewardProcessor, JudgeGroupRewardProcessor])
@pytest.mark.parametrize(
    ("status", "code"), [(404, "unknown_rubric"), (401, "unauthorized"), (403, "forbidden")]
)
def test_an_unknown_rubric_is_found_at_setup(
    stand_in: StandIn, processor: Any, status: int, code: str
) -> None:
    """A service that has no such rubric, or takes no such key, is asked at the start."""
    stand_in.says(Told(status=status, body=problem(code)))
    settings = {"url": stand_in.url, "rubric": "quality"}

    with pytest.raises(RequestRefused):
        asyncio.run(processor(**settings).setup())
    asyncio.run(processor(**settings, check_rubric=False).setup())

    assert [got.path for got in stand_in.requests] == ["/v1/rubrics/quality"]


@pytest.mark.parametrize(
    "told",
    [Told(status=404, body=b"<html>"), Told(status=503), Told(body=[1]), Told(drop=True)],
    ids=["page", "busy", "list", "dropped"],
)
def test_an_unclear_answer_at_setup_is_no_mistake(stand_in: StandIn, told: Told) -> None:
    """Only the service's own word keeps a server down."""
    stand_in.says(told)

    asyncio.run(JudgeRewardProcessor(url=stand_in.url, rubric="quality").setup())

    assert len(stand_in.requests) == 1


# The rollout's own score.


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


# Several dimensions.


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
    assert output.reward.reward_metrics == {"right": 1.0, "kind": 0.5, "slow": 0.5}


def _raises(_: RewardInput) -> float:
    raise RuntimeError("a secret of the function")


FAILING: dict[str, Dimension] = {
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


WRONG: list[dict[str, Dimension]] = [
    {},
    {"a": Dimension(rubric="r", weight=0.9)},
    {"a": Dimension(rubric="r", weight=1.0), "b": Dimension(rubric="r", weight=1.0)},
    {"a": Dimension(rubric="r", weight=1.5), "b": Dimension(rubric="r", weight=-0.5)},
    {"a": Dimension(weight=1.0)},
    {"a": Dimension(weight=1.0, rubric="r", score=slow_score)},
    {"a": Dimension(weight=math.nan, rubric="r")},
]


@pytest.mark.parametrize("dimensions", WRONG, ids=range(len(WRONG)))
def test_wrong_dimensions_are_found_at_setup(dimensions: dict[str, Dimension]) -> None:
    """Weights sum to 1, and every dimension has one source."""
    with pytest.raises(ConfigError, match="dimensions"):
        asyncio.run(JudgeMultiRewardProcessor(dimensions=dimensions).setup())


# The example workspace.


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
