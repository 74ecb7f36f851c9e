"""Real GRPO steps: verdicts move the weights, failures do not, and groups stay whole."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judge_client.trl import JudgeReward
from service_process import real_service
from tiny_grpo import FOUR, GROUP, STEPS, by_place, train

from tests.clients.stand_in import SUCCESS, Told, failed


def failing(share: float, seed: int = 1) -> Callable[[Any], Told]:
    """Random rewards, and failures in the given share of each batch."""
    draw = random.Random(seed)

    def script(got: Any) -> Told:
        count = len(got.body["items"])
        lost = set(range(round(share * count)))
        made = [
            failed() if n in lost else {**SUCCESS, "reward": draw.random()} for n in range(count)
        ]
        return Told(body={"results": made})

    return script


def test_verdicts_move_the_weights() -> None:
    """Two steps, one POST each, and every sample has its reward."""
    done = train(failing(0.0))

    assert done.moved
    assert done.finite
    assert done.posts == STEPS
    assert [log["judge_tiny/judge_failed"] for log in done.logs[:STEPS]] == [0.0] * STEPS


def test_a_failure_is_left_out() -> None:
    """One of four failed: the mean is over the other three, and nothing becomes NaN."""
    done = train(failing(0.25))

    assert done.moved
    assert done.finite
    for rewards, log in zip(done.rewards, done.logs, strict=False):
        scored = [reward for reward in rewards if reward is not None]
        assert len(scored) == GROUP - 1
        assert math.isclose(log["rewards/judge_tiny/mean"], sum(scored) / 3, rel_tol=1e-5)
        assert log["judge_tiny/judge_failed"] == 0.25


@pytest.mark.parametrize("mode", ["each", "group"])
def test_an_outage_trains_nothing(mode: str) -> None:
    """With all samples failed the weights are the same to the last bit."""
    size = GROUP if mode == "group" else None

    done = train(failing(1.0), mode=mode, group_size=size)

    assert done.rewards == [[None] * GROUP] * STEPS
    assert not done.moved
    assert done.finite


def test_groups_are_ranked() -> None:
    """The members of a prompt are ranked together."""
    done = train(by_place, mode="group", group_size=GROUP)

    assert done.rewards == [[0.0, 0.25, 0.5, 0.75]] * STEPS
    assert done.moved


def on_two_processes(*told: str) -> list[dict[str, Any]]:
    """What each of two processes, joined by gloo, got in its half of a training."""
    here = Path(__file__).resolve().parent
    ran = subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2",
            "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0",
            str(here / "tiny_grpo.py"), *told,
        ],
        env={**os.environ, "PYTHONPATH": str(here)}, capture_output=True, text=True, timeout=280,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('{"rank"')]
    return sorted(found, key=lambda one: int(one["rank"]))


def test_a_group_on_two_processes_is_whole() -> None:
    """Each process has two of the four members and gets their rewards from the whole group."""
    first, second = on_two_processes("gather")

    assert first["rewards"] == [[0.0, 0.25]] * STEPS
    assert second["rewards"] == [[0.5, 0.75]] * STEPS


def test_the_service_puts_a_group_of_two_processes_together() -> None:
    """Both see one group's rewards, those of one prompt in four failed; the weights move, alike."""
    with real_service("w5 w6") as url:
        ranks = on_two_processes("server", url)
        alone = JudgeReward(url, rubric="pair", mode="group", group_size=GROUP, family="xi")
        for step in range(len(FOUR)):
            prompts, texts, rewards = (
                [one for rank in ranks for one in rank[name][step]]
                for name in ("prompts", "texts", "rewards")
            )
            assert len(set(prompts)) == 1
            assert rewards == alone(prompts, texts)
            assert (rewards == [None] * GROUP) is (prompts[0] == "w5 w6")

    assert all(rank["moved"] and rank["finite"] for rank in ranks)
    assert ranks[0]["weights"] == ranks[1]["weights"]
    lost = [log["judge_tiny/judge_failed"] for log in ranks[0]["logs"][: len(FOUR)]]
    assert sorted(lost) == [0.0, 0.0, 0.0, 1.0]


def test_an_outage_on_two_processes_trains_nothing() -> None:
    """With every group failed the weights are the same to the last bit, on both."""
    with real_service("w") as url:
        ranks = on_two_processes("server", url)

    for rank in ranks:
        assert rank["rewards"] == [[None] * 2] * len(FOUR)
        assert rank["finite"]
        assert not rank["moved"]
    assert ranks[0]["weights"] == ranks[1]["weights"]
