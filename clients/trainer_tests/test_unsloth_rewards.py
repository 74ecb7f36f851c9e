"""Unsloth's own handling of reward functions: the metrics that it names in the trainer it writes,
and its GRPO on MLX, which has code of its own for rewards and advantages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wheels
from judge_client import JudgingFailed
from judge_client.trl import JudgeReward
from judge_client.trl_trainers import on_failed_of

from tests.clients.coded_judge import judged
from tests.clients.stand_in import StandIn

UNSLOTH, ZOO = "unsloth==2026.10.9", "unsloth_zoo==2026.10.9"
MLX = "unsloth_zoo.mlx.grpo"


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is in the wheel of its helpers."""
    return wheels.unpacked(ZOO, tmp_path_factory.mktemp("zoo"))


@pytest.fixture
def service() -> Any:
    """A stand-in whose verdicts are in the texts."""
    with StandIn() as stand_in:
        stand_in.script = judged
        yield stand_in


def mlx(zoo: Path) -> dict[str, Any]:
    """Rewards and advantages as Unsloth makes them on MLX."""
    wanted = ["calculate_rewards", "group_advantages", "reward_function_name"]
    return wheels.functions(MLX, wanted, zoo, np=np, warnings=__import__("warnings"))


def rewards(found: dict[str, Any], reward: JudgeReward, *texts: str) -> Any:
    """One group's rewards."""
    rows = [{"prompt": "p", "solution": "72"}] * len(texts)
    return found["calculate_rewards"](
        [reward], rows, prompts=["p"] * len(texts), completions=list(texts),
        completion_ids=[[1]] * len(texts), trainer_state=object(),
    )  # fmt: skip


def test_rewards_reach_the_advantages(zoo: Path, service: StandIn) -> None:
    """0.0 among them."""
    found = mlx(zoo)
    reward = JudgeReward(service.url, rubric="r", timeout_s=10, reference_column="solution")

    scored = rewards(found, reward, "0", "1", "0.5", "0.5")
    advantages, told = found["group_advantages"](scored, [1.0], 4, "none")

    assert advantages.tolist() == [-0.5, 0.5, 0.0, 0.0]
    assert told["reward"] == 0.5


def test_a_failure_is_no_zero(zoo: Path, service: StandIn) -> None:
    """``None`` would be the worst of its group there, so that the call raises instead."""
    found = mlx(zoo)
    missing = np.array([[0.5], [1.0], [np.nan], [0.5]], dtype=np.float32)
    assert found["group_advantages"](missing, [1.0], 4, "none")[0].argmin() == 2

    with pytest.raises(JudgingFailed):
        rewards(found, JudgeReward(service.url, rubric="r", timeout_s=0.5), "1", "fail")


def test_its_trainer_names_the_metrics(tmp_path: Path) -> None:
    """The code that it writes into TRL's trainer reads the function's name."""
    files = wheels.unpacked(UNSLOTH, tmp_path)
    write = wheels.functions("unsloth.models.rl_replacements", ["grpo_trainer_metrics"], files)
    source = "reward_funcs rewards/{reward_func_name}/mean rewards/{reward_func_name}/std"
    written = write["grpo_trainer_metrics"](source, "")
    space: dict[str, Any] = {
        "reward_funcs": [JudgeReward(rubric="r", name="judge_helpful")], "other_metrics": [],
    }  # fmt: skip
    exec(written, space)  # noqa: S102 - what it writes is there to be run

    assert space["other_metrics"] == ["rewards/judge_helpful/mean", "rewards/judge_helpful/std"]

    # Otherwise it is the TRL beneath: from some of those that it takes a failure is an exception.
    (metadata,) = files.glob("unsloth-*.dist-info/METADATA")
    newest = re.search(r"Requires-Dist: trl\S*<=([\d.]+)", metadata.read_text(encoding="utf-8"))
    assert newest is not None
    assert on_failed_of(newest[1]) == "none"
