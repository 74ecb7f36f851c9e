"""Whole rollouts of verifiers' v1 API, judged by the plugin that its loader finds by its id."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
import tomllib
import verifiers.v1 as vf
from service_process import real_service

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import code
from tests.clients.stand_in import Got, StandIn, Told

NUMBERS = ("judge_score_raw", "judge_failed", "judge_swap_consistent", "judge_cached")


class Data(vf.TaskData):
    """A row with a reference."""

    answer: str = ""


class Ask(vf.Task[Data, vf.State, vf.TaskConfig]):
    """One question."""


def says(*texts: str) -> Any:
    """A model that says one text after the other."""
    said = itertools.cycle(texts)

    def script(got: Got) -> Told:
        message = {"role": "assistant", "content": next(said)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return Told(
            body={
                "id": f"c-{got.n}", "object": "chat.completion", "created": 1,
                "model": got.body["model"], "choices": [choice], "usage": usage,
            }
        )  # fmt: skip

    return script


def rollouts(
    entry: dict[str, Any] | vf.TaskConfig, model: StandIn, count: int, rules: Sequence[Any] = ()
) -> list[vf.Trace]:
    """Traces of whole rollouts of one agent, one after the other."""
    config = entry if isinstance(entry, vf.TaskConfig) else vf.TaskConfig(judges=[entry])
    agent = vf.AgentConfig.model_validate(
        {
            "harness": {"id": "one_call_harness"}, "runtime": {"type": "subprocess"},
            "model": "qwen3-4b", "retries": {"rules": list(rules)},
            "client": {"type": "eval", "base_url": f"{model.url}/v1", "api_key_var": "MODEL_KEY"},
        }
    )  # fmt: skip

    async def run() -> list[vf.Trace]:
        async with vf.Agent(agent) as own:
            task = Ask(Data(prompt="What is it?", answer="72"), config)
            return [await own.run(task) for _ in range(count)]

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for the model, which takes any."""
    monkeypatch.setenv("MODEL_KEY", "k")


@pytest.fixture
def service() -> Any:
    """A stand-in whose verdicts are in the texts."""
    with StandIn() as stand_in:
        stand_in.script = judged
        yield stand_in


@pytest.fixture
def model() -> Any:
    """A model."""
    with StandIn() as stand_in:
        yield stand_in


def entry_of(service: StandIn, **more: Any) -> dict[str, Any]:
    """The plugin's entry in a configuration."""
    own = {"id": "judge_client_verifiers", "service_url": service.url, "rubric": "r"}
    return {**own, "timeout_s": 5.0, "weight": 2.0, **more}


def test_a_rollout_has_its_reward(service: StandIn, model: StandIn) -> None:
    """Weighted, 0.0 among them; the service is shown what was asked and said, and by whom."""
    model.script = says("0.5", "0")

    first, second = rollouts(entry_of(service), model, 2)

    assert (first.ok, second.ok) == (True, True)
    assert [trace.reward for trace in (first, second)] == [1.0, 0.0]
    body = service.requests[0].body
    assert body["prompt"] == [{"role": "user", "content": "What is it?"}]
    assert body["reference"] == "72"
    assert body["candidate"] == {
        "messages": [{"role": "assistant", "content": "0.5"}],
        "policy_model": "qwen3-4b",
        "finish_reason": "stop",
    }
    assert json.loads(json.dumps(first.to_record()))["info"]["judge_service"]


@pytest.mark.parametrize("text", ["fail", "never"])
def test_a_failure_ends_the_trace_with_its_type(
    service: StandIn, model: StandIn, text: str
) -> None:
    """Not ok, hence of no trainer's use; the reward is unscored, and metrics have their names."""
    model.script = says(text)

    (trace,) = rollouts(entry_of(service, name="helpful"), model, 1)

    assert not trace.ok
    assert trace.last_error.type == "JudgeUnavailableError"
    assert trace.last_error.status_code == (504 if text == "fail" else 422)
    assert trace.rewards == {"helpful": None}
    assert set(trace.metrics) == {f"helpful/{name}" for name in NUMBERS}
    assert trace.metrics["helpful/judge_failed"] == 1.0


@pytest.mark.parametrize("outage", [name for name in OUTAGES if name != "too many"])
def test_an_outage_is_no_reward(service: StandIn, model: StandIn, outage: str) -> None:
    """Whatever the answer is."""
    model.script = says("1")
    service.says(OUTAGES[outage])

    (trace,) = rollouts(entry_of(service, timeout_s=0.8), model, 1)

    assert (trace.ok, trace.last_error.type) == (False, "JudgeUnavailableError")
    assert trace.rewards == {"judge_client_verifiers": None}


def test_the_readmes_rule_generates_anew(service: StandIn, model: StandIn) -> None:
    """A rollout whose judge was away is run again; one that will never be judged is not."""
    told = tomllib.loads(code("verifiers", "toml"))["env"]["agent"]["retries"]["rules"]
    rules = [vf.RetryConfig(rules=told).rules[0].model_dump(exclude_none=True)]
    model.script = says("fail", "1")

    (again,) = rollouts(entry_of(service), model, 1, rules)
    assert (again.ok, again.reward, len(model.requests)) == (True, 2.0, 2)

    model.requests.clear()
    model.script = says("never", "1")
    (final,) = rollouts(entry_of(service), model, 1, rules)
    assert (final.ok, len(model.requests)) == (False, 1)


def test_as_a_plain_function(
    service: StandIn, model: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its import path, with settings from the environment; its failures keep their type."""
    monkeypatch.setenv("JUDGE_SERVICE_URL", service.url)
    monkeypatch.setenv("JUDGE_SERVICE_RUBRIC", "r")
    model.script = says("0.25", "never")
    config = vf.TaskConfig(rewards={"judge": {"fn": "judge_client_verifiers:judge", "weight": 2.0}})

    first, second = rollouts(config, model, 2)

    assert first.reward == 0.5
    assert second.last_error.type == "JudgeUnavailableError"


def test_the_readme_works_as_pasted(model: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a real service."""
    (entry,) = tomllib.loads(code("verifiers", "toml"))["env"]["taskset"]["task"]["judges"]
    model.script = says("A good answer, with what was asked for.", "A bad one that misses it.")
    with real_service() as url:
        monkeypatch.setenv("JUDGE_SERVICE_URL", url)

        first, second = rollouts(entry, model, 2)

    assert [first.reward, second.reward] == [1.0, 0.0]
