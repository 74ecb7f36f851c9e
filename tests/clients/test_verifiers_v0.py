"""The rubric for verifiers' classic API: a reward, or an error in the state."""

from __future__ import annotations

import asyncio
import pickle
import time
import types
from pathlib import Path
from typing import Any

import pytest
from judge_client import ConfigError, NotFound
from judge_client.verifiers_v0 import JudgeRubric
from pydantic import BaseModel
from verifiers.errors import InfraError

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import paste
from tests.clients.stand_in import StandIn, Told, problem
from tests.clients.trainer_service import BAD, GOOD, shipped
from tests.provider import FakeProvider


class Message(BaseModel):
    """A message, as an object."""

    role: str
    content: str


def state_of(text: str, **more: Any) -> dict[str, Any]:
    """A rollout's state, unscored."""
    return {
        "prompt": [{"role": "user", "content": "q"}],
        "completion": [Message(role="assistant", content=text)],
        "answer": "72",
        "error": None,
        "is_truncated": False,
        "model": "qwen3-4b",
        "reward": None,
        "metrics": None,
        "trajectory": [{"reward": None, "advantage": None}],
        **more,
    }


def rubric_of(stand_in: StandIn, **more: Any) -> JudgeRubric:
    """The rubric over the stand-in."""
    return JudgeRubric(stand_in.url, **{"rubric": "r", "timeout_s": 5.0, **more})


def scored(rubric: JudgeRubric, *texts: str) -> list[dict[str, Any]]:
    """The states of one prompt, scored together."""
    states = [state_of(text) for text in texts]
    asyncio.run(rubric.score_group(states))
    return states


@pytest.fixture
def coded(stand_in: StandIn) -> StandIn:
    """A stand-in whose verdicts are in the texts."""
    stand_in.script = judged
    return stand_in


@pytest.mark.parametrize("text", ["0.75", "0", "1"])
def test_a_rollout_has_its_reward(coded: StandIn, text: str) -> None:
    """With what the state tells; 0 is a reward like others, without an error."""
    state = state_of(text, is_truncated=True)

    asyncio.run(rubric_of(coded, weight=2.0).score_rollout(state))

    assert (state["reward"], state["error"]) == (2 * float(text), None)
    assert state["metrics"] == {"judge": float(text), "judge_failed": 0.0}
    (item,) = coded.requests[0].body["items"]
    assert item["reference"] == "72"
    assert item["candidate"] == {
        "messages": [{"role": "assistant", "content": text}],
        "finish_reason": "length",
        "policy_model": "qwen3-4b",
    }


@pytest.mark.parametrize("text", ["fail", "never"])
def test_a_failure_is_an_error_in_the_state(coded: StandIn, text: str) -> None:
    """The classic signal, by which a rollout is generated anew or left out."""
    state = state_of(text)

    asyncio.run(rubric_of(coded).score_rollout(state))

    assert isinstance(state["error"], InfraError)
    assert state["metrics"] == {"judge": 0.0, "judge_failed": 1.0}


def test_a_failure_counts_in_nobodys_advantage(coded: StandIn) -> None:
    """The others' mean is theirs, and the names of all metrics are the same."""
    rubric = rubric_of(coded)
    rubric.add_reward_func(length, 0.5)

    states = scored(rubric, "1", "fail", "0.5")

    assert [s["error"] is None for s in states] == [True, False, True]
    assert [s["reward"] for s in states] == [1.5, 0.0, 1.0]
    assert [s["advantage"] for s in states] == [0.25, 0.0, -0.25]
    assert [s["trajectory"][0]["advantage"] for s in states] == [0.25, 0.0, -0.25]
    assert len({tuple(s["metrics"]) for s in states}) == 1
    assert [s["metrics"]["judge_failed"] for s in states] == [0.0, 1.0, 0.0]
    assert len(coded.requests) == 1


def length(state: dict[str, Any]) -> float:
    """A function of one's own."""
    return 1.0


@pytest.mark.parametrize("mode", ["each", "group"])
@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_is_an_error_in_time(stand_in: StandIn, outage: str, mode: str) -> None:
    """Of every state, whatever the answer is."""
    stand_in.says(OUTAGES[outage])
    started = time.monotonic()

    states = scored(rubric_of(stand_in, timeout_s=0.4, mode=mode), "1", "0")

    assert time.monotonic() - started < 15.0
    assert all(isinstance(state["error"], InfraError) for state in states)
    assert [state["advantage"] for state in states] == [0.0, 0.0]


def test_a_group_is_ranked(coded: StandIn) -> None:
    """All rollouts of a prompt at once; one failed member is an error of all."""
    rubric = rubric_of(coded, mode="group")
    assert rubric.has_group_rewards
    assert not rubric_of(coded).has_group_rewards

    assert [s["reward"] for s in scored(rubric, "0.1", "0.9", "0.5")] == [0.1, 0.9, 0.5]
    assert [item["kind"] for item in coded.requests[0].body["items"]] == ["rank"]
    assert all(state["error"] for state in scored(rubric, "1", "fail"))


def test_a_rollout_with_an_error_is_not_judged(coded: StandIn) -> None:
    """It keeps its own error, and costs nothing."""
    broken = ValueError("the sandbox broke")
    states = [state_of("1"), state_of("x", error=broken)]

    asyncio.run(rubric_of(coded).score_group(states))

    assert states[1]["error"] is broken
    assert len(coded.requests[0].body["items"]) == 1
    alone = state_of("x", error=broken)
    asyncio.run(rubric_of(coded).score_rollout(alone))
    assert alone["error"] is broken
    assert len(coded.requests) == 1


def test_a_base_models_text_is_its_turn(coded: StandIn) -> None:
    """Its messages are of the role "text"."""
    turn = Message(role="text", content="0.5")
    state = state_of("", completion=[turn], prompt=[{"role": "text", "content": "q"}])

    asyncio.run(rubric_of(coded, use_answer=False).score_rollout(state))

    assert state["reward"] == 0.5
    (item,) = coded.requests[0].body["items"]
    assert "reference" not in item
    assert item["prompt"] == [{"role": "user", "content": "q"}]


def test_two_judges_do_not_mix(coded: StandIn) -> None:
    """Each has its names and its verdicts in the state."""
    state = state_of("1")
    for name in ("helpful", "honest"):
        asyncio.run(rubric_of(coded, name=name).score_rollout(state))
        assert set(state["metrics"]) == {name, f"{name}_failed"}


def test_loops_and_pickles(coded: StandIn) -> None:
    """Two event loops, and a copy with all of its functions."""
    rubric = rubric_of(coded, api_key="k", family=["a", "b"])
    rubric.add_reward_func(length, 0.5)

    for each in (rubric, rubric, pickle.loads(pickle.dumps(rubric))):  # noqa: S301 - our own
        assert [s["reward"] for s in scored(each, "1", "0")] == [1.5, 0.5]
    assert coded.requests[-1].headers["authorization"] == "Bearer k"
    assert coded.requests[-1].body["items"][0]["candidate"]["family"] == ["a", "b"]


def test_what_is_too_long_has_lost(coded: StandIn) -> None:
    """A success with 0."""
    (state,) = scored(rubric_of(coded), "x" * (1024 * 1024 + 1))

    assert (state["reward"], state["error"]) == (0.0, None)
    assert state["metrics"]["judge_failed"] == 0.0


def test_a_mistake_raises(coded: StandIn) -> None:
    """Outside of the reward functions, whose exceptions are swallowed."""
    coded.says(Told(status=404, body=problem("unknown_rubric")))
    with pytest.raises(NotFound):
        scored(rubric_of(coded), "x")


@pytest.mark.parametrize(
    "given",
    [
        {"rubric": None},
        {"mode": "pairs"},
        {"name": "a b"},
        {"name": 7},
        {"timeout_s": "x"},
        {"use_answer": "no"},
    ],
    ids=str,
)
def test_wrong_settings_are_found_at_once(given: dict[str, Any]) -> None:
    """Before a training begins."""
    with pytest.raises(ConfigError):
        JudgeRubric(**{"url": "http://judge", "rubric": "r", **given})


def test_the_readme_runs_as_pasted(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the service and a shipped rubric."""
    vf = types.SimpleNamespace(SingleTurnEnv=types.SimpleNamespace)
    with shipped(provider, tmp_path) as service:
        monkeypatch.setenv("JUDGE_SERVICE_URL", service.url)
        env = paste("verifiers before 0.4", vf=vf, data=[])["env"]

        states = scored(env.rubric, GOOD, BAD)

    assert [state["reward"] for state in states] == [1.0, 0.0]
