"""The environment for SkyRL: a reward, or an exception when the time to hold is up."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import skyrl_gym
from judge_client import ConfigError, InvalidRequest, JudgingFailed, NotFound
from judge_client.skyrl import JudgeEnv

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import paste
from tests.clients.stand_in import SUCCESS, StandIn, Told, failed, problem
from tests.clients.trainer_service import GOOD, shipped
from tests.provider import FakeProvider

PROMPT = [{"role": "user", "content": "q"}]
KEYS = {"judge_score_raw", "judge_failed", "judge_swap_consistent", "judge_cached"}


def env_of(stand_in: StandIn, extras: Any = None, **more: Any) -> JudgeEnv:
    """An environment over the stand-in, with its prompt."""
    given = {"url": stand_in.url, "rubric": "r", "timeout_s": 5.0, **more}
    env = JudgeEnv(extras=extras or {}, **given)
    assert env.init(PROMPT) == (PROMPT, {})
    return env


@pytest.fixture
def coded(stand_in: StandIn) -> StandIn:
    """A stand-in whose verdicts are in the texts."""
    stand_in.script = judged
    return stand_in


@pytest.mark.parametrize("text", ["0.75", "0", "1"])
def test_a_turn_has_its_reward(coded: StandIn, text: str) -> None:
    """One step, with the reference of the row; 0 is a reward like others."""
    env = env_of(coded, {"reward_spec": {"ground_truth": 72}})

    step = env.step(text)

    assert (step["reward"], step["done"], step["observations"]) == (float(text), True, [])
    (item,) = coded.requests[0].body["items"]
    assert (item["prompt"], item["reference"]) == (PROMPT, "72")
    assert set(step["metadata"]) == set(env.get_metrics()) == KEYS
    assert env.turns == 1


def test_a_turn_is_held_until_it_is_judged(coded: StandIn) -> None:
    """An outage that passes is not noticed, whoever has it."""
    results = {"results": [failed("breaker_open")]}
    good = Told(body={"results": [SUCCESS]})
    coded.says(Told(status=503), Told(drop=True), Told(body=results), Told(body=b"<html>"), good)

    assert env_of(coded, timeout_s=30).step("x")["reward"] == 0.75


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_raises_in_time(stand_in: StandIn, outage: str) -> None:
    """Never 0.0; and the metrics have the same names."""
    stand_in.says(OUTAGES[outage])
    env = env_of(stand_in, timeout_s=0.4)
    started = time.monotonic()

    with pytest.raises(JudgingFailed):
        env.step("x")

    assert time.monotonic() - started < 15.0
    assert env.get_metrics()["judge_failed"] == 1.0
    assert set(env.get_metrics()) == KEYS


def test_what_will_never_be_judged_is_not_held(coded: StandIn) -> None:
    """A refusal is final."""
    started = time.monotonic()
    with pytest.raises(JudgingFailed, match="refused"):
        env_of(coded, timeout_s=60).step("never")
    assert time.monotonic() - started < 40
    assert len(coded.requests) == 1


def test_many_turns_in_threads(coded: StandIn) -> None:
    """As SkyRL runs them; they share connections."""
    with ThreadPoolExecutor(16) as threads:
        got = list(threads.map(lambda n: env_of(coded).step(str(n / 64))["reward"], range(64)))

    assert got == [n / 64 for n in range(64)]
    assert coded.connections <= 33


def test_it_works_inside_loops_and_after_pickling(coded: StandIn) -> None:
    """Two event loops, and a copy."""
    env = env_of(coded)

    async def inside() -> float:
        return step(env, "0.5")

    assert [asyncio.run(inside()), asyncio.run(inside())] == [0.5, 0.5]
    assert pickle.loads(pickle.dumps(env)).step("0.25")["reward"] == 0.25  # noqa: S301 - our own


def step(env: JudgeEnv, text: str) -> float:
    """One turn's reward."""
    reward: float = env.step(text)["reward"]
    return reward


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_worker_processes_have_connections_of_their_own(coded: StandIn, way: str) -> None:
    """Also when the parent's were in use."""
    env = env_of(coded, timeout_s=20)
    assert step(env, "0.5") == 0.5

    with multiprocessing.get_context(way).Pool(2) as pool:
        got = pool.starmap(step, [(env, str(n / 8)) for n in range(8)])
        pool.close()
        pool.join()

    assert got == [n / 8 for n in range(8)]
    assert step(env, "0.25") == 0.25


@dataclass
class Config:
    """A configuration as a dataclass."""

    url: str | None = None
    rubric: str | None = None
    family: list[str] | None = None


def test_settings_come_from_everywhere(coded: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """SkyRL's configuration, ``register``, the class, the environment, in this order."""
    monkeypatch.setenv("JUDGE_SERVICE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("JUDGE_SERVICE_POLICY_MODEL", "qwen3")
    monkeypatch.setenv("JUDGE_SERVICE_FAMILY", "no")

    class Mine(JudgeEnv):
        """With a rubric of its own."""

        url = coded.url
        rubric = "of-the-class"

    for env, rubric in [
        (Mine(), "of-the-class"),
        (Mine(rubric="registered"), "registered"),
        (Mine({"rubric": "configured"}, {}, rubric="registered"), "configured"),
        (JudgeEnv(Config(coded.url, "data", ["a", "b"]), {}), "data"),
    ]:
        env.init(PROMPT)
        env.step("1")
        assert coded.requests[-1].body["items"][0]["rubric"] == rubric
    assert coded.requests[-1].body["items"][0]["candidate"]["family"] == ["a", "b"]


@pytest.mark.parametrize(
    ("config", "given"),
    [
        ({}, {}),
        ({"rubric": "r", "rubrik": "s"}, {}),
        ({"rubric": "r", "url": "judge"}, {}),
        ({}, {"rubric": "r", "timeout_s": -1}),
        (7, {"rubric": "r"}),
    ],
    ids=str,
)
def test_wrong_settings_are_found_at_once(config: Any, given: dict[str, Any]) -> None:
    """When the environment is made."""
    with pytest.raises(ConfigError):
        JudgeEnv(config, {}, **given)


def test_mistakes_raise(coded: StandIn) -> None:
    """A step without a prompt, and an unknown rubric."""
    with pytest.raises(InvalidRequest, match="init"):
        JudgeEnv(url=coded.url, rubric="r").step("x")
    coded.says(Told(status=404, body=problem("unknown_rubric")))
    with pytest.raises(NotFound):
        env_of(coded).step("x")


def test_a_turn_that_is_too_long_has_lost(coded: StandIn) -> None:
    """A success with 0, without a request."""
    assert env_of(coded).step("x" * (1024 * 1024 + 1))["reward"] == 0.0
    assert not coded.requests


def test_the_readme_runs_as_pasted(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the service and a shipped rubric."""
    with shipped(provider, tmp_path) as service:
        monkeypatch.setenv("JUDGE_SERVICE_URL", service.url)
        paste("SkyRL")
        env = skyrl_gym.make("judge", env_config={}, extras={"reward_spec": {}})
        env.init([{"role": "user", "content": "What does basil need?"}])

        assert env.step(GOOD)["reward"] == 1.0
