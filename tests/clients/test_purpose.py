"""What judging is for, training or validation: a setting of every trainer's module."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from judge_client import ConfigError
from judge_client.dashscope import JudgeGroupRewardProcessor, JudgeRewardProcessor
from judge_client.tinker import JudgePreferenceModel
from judge_client.verl import compute_score

from tests.clients import (
    every_trainer,
    slime_loop,
    stub_areal,
    stub_verl,
    test_art,
    test_ms_swift,
    test_skyrl,
    test_tinker,
    test_verifiers_v0,
)
from tests.clients.dashscope.processing import given
from tests.clients.stand_in import StandIn
from tests.clients.test_garbage import well

Ask = Callable[[StandIn, str | None], object]
"""Ask for one verdict, with the purpose as the module's own setting, where it is told."""


def verl(to: StandIn, purpose: str | None) -> object:
    """Verl's function for a sample."""
    asked = compute_score(
        "d", "a", "", {"question": "p"}, judge_url=to.url, rubric="r", purpose=purpose
    )
    return asyncio.run(asked)


def verl_row(to: StandIn, split: str, **settings: Any) -> object:
    """A row of a split, by verl's manager for groups."""
    stub_verl.install(sys.modules.__setitem__)
    from judge_client.verl import JudgeGroupRewardManager

    config = stub_verl.config(2, url=to.url, rubric="r", **settings)
    manager = JudgeGroupRewardManager(config, stub_verl.Characters())
    row = {"raw_prompt": [{"role": "user", "content": "p"}], "uid": "u"}
    data = stub_verl.sample("a", **row, extra_info={"split": split})
    return asyncio.run(manager.run_single(data))


def verl_groups(to: StandIn, purpose: str | None) -> object:
    """Verl's manager, for a row that trains."""
    return verl_row(to, "train", purpose=purpose)


def slime(to: StandIn, purpose: str | None) -> object:
    """Slime's reward function."""
    from judge_client.slime import JudgeRM

    sample = slime_loop.Sample(prompt="p", response="a")
    return asyncio.run(JudgeRM(to.url, rubric="r", purpose=purpose)(slime_loop.Args(), sample))


def areal(to: StandIn, purpose: str | None) -> object:
    """AReaL's workflow."""
    stub_areal.install(sys.modules.__setitem__)
    made = stub_areal._imported("judge_client.areal.JudgeRLVRWorkflow")
    workflow = made(
        gconfig=stub_areal.Config(), tokenizer=stub_areal.Characters(), url=to.url, rubric="r",
        purpose=purpose,
    )  # fmt: skip
    data = {"messages": [{"role": "user", "content": "p"}]}
    return asyncio.run(workflow.arun_episode(stub_areal.Engine(["a"]), data))


def dashscope(to: StandIn, purpose: str | None) -> object:
    """The SDK's processor of one output."""
    processor = JudgeRewardProcessor(url=to.url, rubric="r", purpose=purpose)
    return asyncio.run(processor.process(given()))


def tinker(to: StandIn, purpose: str | None) -> object:
    """The cookbook's preferences."""
    return test_tinker.prefer(JudgePreferenceModel(to.url, rubric="r", purpose=purpose), "a", "b")


MODULES: dict[str, Ask] = {
    "verl": verl,
    "verl groups": verl_groups,
    "slime": slime,
    "areal": areal,
    "dashscope": dashscope,
    "tinker": tinker,
    "trl": lambda to, purpose: every_trainer.trl(purpose=purpose)(to, 20.0),
    "nemo gym": lambda to, purpose: every_trainer.nemo_gym(purpose=purpose)(to, 20.0),
    "verifiers": lambda to, purpose: every_trainer.verifiers_v1(purpose=purpose)(to, 20.0),
    "verifiers before 0.4": lambda to, purpose: test_verifiers_v0.scored(
        test_verifiers_v0.rubric_of(to, purpose=purpose), "a"
    ),
    "ms-swift": lambda to, purpose: test_ms_swift.orm_of(to, purpose=purpose)(
        **test_ms_swift.rows("a")
    ),
    "art": lambda to, purpose: test_art.judge(to, test_art.said("a", "b"), purpose=purpose),
    "skyrl": lambda to, purpose: test_skyrl.step(test_skyrl.env_of(to, purpose=purpose), "a"),
}


@pytest.fixture(autouse=True)
def _stubs() -> Iterator[None]:
    """Whatever stood for a trainer is gone afterwards."""
    before = dict(sys.modules)
    yield
    names = ("verl", "areal", "nemo_gym", "torch", "judge_client._", "judge_client.nemo_gym.")
    for name in set(sys.modules) - set(before):
        if name.startswith(names):
            sys.modules.pop(name)


def purposes(service: StandIn) -> set[object]:
    """What the requests for a verdict said."""
    bodies = [got.body for got in service.requests if got.method == "POST"]
    assert bodies
    asked = [item for body in bodies for item in body.get("items", [body])]
    return {one.get("purpose") for one in asked}


@pytest.mark.parametrize("ask", MODULES.values(), ids=MODULES)
def test_a_purpose_is_said(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    """By the module's own setting, else by the environment, else not at all."""
    stand_in.script = well

    ask(stand_in, "validate")
    assert purposes(stand_in) == {"validate"}

    stand_in.requests.clear()
    ask(stand_in, None)
    assert purposes(stand_in) == {None}

    stand_in.requests.clear()
    monkeypatch.setenv("JUDGE_SERVICE_PURPOSE", "validate")
    ask(stand_in, None)
    assert purposes(stand_in) == {"validate"}


def test_verl_validates_with_other_judges(stand_in: StandIn) -> None:
    """Rows of a validation are for ``val_purpose``, where it is given; the others are not."""
    stand_in.script = well
    for split, expected in (("train", None), ("test", "validate")):
        stand_in.requests.clear()
        verl_row(stand_in, split, val_purpose="validate")
        assert purposes(stand_in) == {expected}
    with pytest.raises(ConfigError, match="purpose"):
        verl_row(stand_in, "test", val_purpose="both")


def test_a_group_of_the_sdk_has_a_purpose_too(stand_in: StandIn) -> None:
    """Its processor has the same settings."""
    with pytest.raises(ConfigError, match="purpose"):
        asyncio.run(JudgeGroupRewardProcessor(rubric="r", purpose="both").setup())
