"""Axolotl's own way to find a reward function, and the process in which it calls one."""

from __future__ import annotations

import importlib
import inspect
import multiprocessing
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import wheels
from judge_client import JudgingFailed
from judge_client.trl import JudgeReward
from judge_client.trl_trainers import COUNTS_AS_ZERO

from tests.clients.coded_judge import judged
from tests.clients.readme import paste
from tests.clients.stand_in import StandIn

AXOLOTL = "axolotl==0.19.0"
STRATEGY = "axolotl.core.trainers.grpo"
WORKER = "axolotl.core.trainers.grpo.fast_async_trainer"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is in the wheel."""
    return wheels.unpacked(AXOLOTL, tmp_path_factory.mktemp("axolotl"))


@pytest.fixture
def service() -> Any:
    """A stand-in whose verdicts are in the texts."""
    with StandIn() as stand_in:
        stand_in.script = judged
        yield stand_in


def test_a_dotted_name_is_found(
    files: Path, service: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``trl.reward_funcs: [judge_rewards.helpful]`` names an object in a module, as pasted."""
    found = wheels.functions(
        STRATEGY, ["get_reward_func"], files, importlib=importlib, inspect=inspect, os=os,
        RewardFunc=Any, HTTPError=OSError,
    )  # fmt: skip
    (tmp_path / "judge_rewards.py").write_text(
        "from judge_client.trl import JudgeReward\n"
        'helpful = JudgeReward(rubric="r", name="judge_helpful")\n'
    )
    monkeypatch.setenv("JUDGE_SERVICE_URL", service.url)
    monkeypatch.syspath_prepend(str(tmp_path))

    reward = found["get_reward_func"](None, "judge_rewards.helpful")

    assert isinstance(reward, JudgeReward)
    assert reward(prompts=["p"] * 2, completions=["1", "0"]) == [1.0, 0.0]


def in_worker(files: Path, reward: JudgeReward, texts: list[str]) -> Any:
    """What Axolotl's reward worker sends back, the function having come through its pipe."""
    worker = wheels.module(WORKER, files)._persistent_reward_worker
    here, there = multiprocessing.Pipe()
    thread = threading.Thread(target=worker, args=(there,), daemon=True)
    thread.start()
    rows = [{"prompt": "p", "solution": "72"} for _ in texts]
    here.send(([reward], ["p"] * len(texts), texts, [[1]] * len(texts), rows, ["judge"]))
    assert here.poll(30)
    answer = here.recv()
    here.send(None)
    thread.join(10)
    return answer


def test_a_worker_scores(files: Path, service: StandIn) -> None:
    """The object is pickled into the worker and called there by Axolotl's own code."""
    reward = JudgeReward(service.url, rubric="r", timeout_s=10, reference_column="solution")

    assert in_worker(files, reward, ["1", "0", "0.5"]) == [[1.0, 0.0, 0.5]]


def test_a_failure_in_a_worker_is_no_score(files: Path, service: StandIn) -> None:
    """Its trainer would add a missing reward up as 0. So the worker has nothing to send, after
    which Axolotl asks again on its main thread, where it raises as well.
    """
    reward = JudgeReward(service.url, rubric="r", timeout_s=0.5)

    assert in_worker(files, reward, ["1", "fail"]) is None
    assert reward(["p"] * 2, ["1", "fail"]) == [1.0, None]  # TRL's own trainer leaves it out


def test_the_main_thread_raises(files: Path, service: StandIn) -> None:
    """The asynchronous trainer's own method calls TRL's, which calls the function."""
    trainer = wheels.module(WORKER, files).FastAsyncGRPOTrainer
    reward = JudgeReward(service.url, rubric="r", timeout_s=0.5)

    class Trainer:
        """As much of a trainer as the method needs."""

        def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, ids: Any) -> Any:
            return reward(prompts, completions)

    collect = trainer._collect_reward_workers
    assert collect(Trainer(), [], ["p"] * 2, ["1", "0"], []) == [1.0, 0.0]
    with pytest.raises(JudgingFailed):
        collect(Trainer(), [], ["p"] * 2, ["1", "fail"], [])


def test_which_trainers_add_up_what_is_there(files: Path) -> None:
    """Where ``nansum`` makes 0 of a missing reward, the client knows the module, and no other."""
    folder = files / "axolotl" / "core" / "trainers"
    adding = {
        ".".join(path.relative_to(files).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if "nansum" in path.read_text(encoding="utf-8")
    }

    # The third calls the functions for the first.
    known = {name for name in COUNTS_AS_ZERO if name.startswith("axolotl.")}
    assert known == adding | {WORKER}


def test_the_readme_runs_as_pasted(service: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module that the name points into."""
    monkeypatch.setenv("JUDGE_SERVICE_URL", service.url)

    assert isinstance(paste("Unsloth and Axolotl")["helpful"], JudgeReward)
