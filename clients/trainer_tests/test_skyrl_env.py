"""SkyRL's own registry makes the environment, and its metrics are averaged."""

from __future__ import annotations

from typing import Any

import pytest
import skyrl_gym
from judge_client import JudgingFailed
from omegaconf import OmegaConf
from service_process import real_service
from skyrl_gym.envs import deregister, register
from skyrl_gym.metrics import aggregate_for_environment

from tests.clients.coded_judge import judged
from tests.clients.readme import paste
from tests.clients.stand_in import StandIn

PROMPT = [{"role": "user", "content": "What does basil need?"}]


@pytest.fixture(autouse=True)
def _registry() -> Any:
    """Registered by a test, forgotten after it."""
    yield
    if "judge" in skyrl_gym.registry:
        deregister("judge")


def test_episodes_of_the_registered_environment() -> None:
    """Settings by OmegaConf and by ``register``; rewards, a failure, and the means of metrics."""
    with StandIn() as service:
        service.script = judged
        register(
            id="judge", entry_point="judge_client.skyrl:JudgeEnv",
            kwargs={"url": service.url, "timeout_s": 4},
        )  # fmt: skip
        config = OmegaConf.create({"rubric": "r", "family": ["a", "b"], "api_key": None})
        told = []
        for text in ("1", "0", "fail"):
            extras = {"reward_spec": {"method": "judge", "ground_truth": "72"}, "max_turns": 1}
            env = skyrl_gym.make("judge", env_config=config, extras=extras)
            env.init(PROMPT)
            if text == "fail":
                with pytest.raises(JudgingFailed):
                    env.step(text)
            else:
                step = env.step(text)
                assert (step["reward"], step["done"]) == (float(text), True)
            told.append(env.get_metrics())
            env.close()

        (item,) = service.requests[0].body["items"]
    assert item["candidate"]["family"] == ["a", "b"]
    assert item["reference"] == "72"
    assert aggregate_for_environment("judge", told)["judge_failed"] == pytest.approx(1 / 3)


def test_the_readme_runs_as_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a real service."""
    with real_service() as url:
        monkeypatch.setenv("JUDGE_SERVICE_URL", url)
        paste("SkyRL")
        env = skyrl_gym.make("judge", env_config={}, extras={})
        env.init(PROMPT)

        assert env.step("A good answer, with what was asked for.")["reward"] == 1.0
