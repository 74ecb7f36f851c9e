"""verl's own reward loop: its configuration, its managers, and its workers in Ray."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import ray
from conftest import ROOT
from judge_client.verl import JudgeUnavailable
from service_process import real_service
from verl.experimental.reward_loop.reward_loop import RewardLoopManager, RewardLoopWorker
from verl.experimental.reward_loop.reward_manager import NaiveRewardManager
from verl_batch import configuration, rollouts, save_tokenizer

from tests.clients.overrides import printed
from tests.clients.readme import code
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, failed

KEYS = ["score", "judge_score_raw", "judge_failed", "judge_swap_consistent", "judge_cached"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the policy's tokenizer is."""
    found = tmp_path_factory.mktemp("policy")
    save_tokenizer(found)
    return found


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A Ray of two processors, whose workers know the client."""
    path = os.pathsep.join([str(ROOT / "clients" / "src"), str(ROOT)])
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""}},
    )  # fmt: skip
    yield
    ray.shutdown()


@pytest.fixture
def judged() -> Iterator[StandIn]:
    """A service whose verdict is the number that a text says."""

    def script(got: Got) -> Told:
        text = got.body["candidate"]["text"]
        return Told(body=failed() if text == "fail" else {**SUCCESS, "reward": float(text)})

    with StandIn() as service:
        service.script = script
        yield service


def pasted(which: str) -> list[str]:
    """The overrides of the README's command, as a shell passes them."""
    block = code("verl", "sh").replace('"${each[@]}"', f'"${{{which}[@]}}"')
    return printed(block)[2:]


def settings(which: str, url: str, **more: Any) -> list[str]:
    """The same and some more."""
    place = "custom_reward_function.reward_kwargs" if which == "each" else "judge"
    name = "judge_url" if which == "each" else "url"
    told = {name: url, "family": "[xi,psi]", "timeout_s": 20, **more}
    return pasted(which) + [f"++reward.{place}.{key}={value}" for key, value in told.items()]


def test_the_readme_as_pasted_scores_samples(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loader of verl finds the function, and its manager awaits it; a real service judges."""
    with real_service() as url:
        monkeypatch.setenv("JUDGE_SERVICE_URL", url)
        worker = RewardLoopWorker(configuration(folder, pasted("each")))
        assert type(worker.reward_manager) is NaiveRewardManager
        assert worker.reward_manager.is_async_reward_score

        # verl's manager belongs to the loop it was made in.
        found = worker.loop.run_until_complete(
            worker.compute_score_batch(rollouts(["good", "bad", "good"]))
        )

    assert [one["reward_score"] for one in found] == [1.0, 0.0, 1.0]
    assert [list(one["reward_extra_info"]) for one in found] == [KEYS] * 3


def test_failures_raise_and_nothing_else_does(folder: Path, judged: StandIn) -> None:
    """64 at once through verl's manager, a quarter without a verdict."""
    worker = RewardLoopWorker(configuration(folder, settings("each", judged.url, rubric="r")))
    texts = ["fail" if n % 4 == 0 else str(n / 100) for n in range(64)]
    batch = rollouts(texts)

    async def run() -> list[Any]:
        calls = (worker.compute_score(batch[n : n + 1]) for n in range(64))
        return await asyncio.gather(*calls, return_exceptions=True)

    for n, found in enumerate(worker.loop.run_until_complete(run())):
        if n % 4 == 0:
            assert isinstance(found, JudgeUnavailable)
        else:
            assert (found["reward_score"], list(found["reward_extra_info"])) == (n / 100, KEYS)
    assert judged.requests[0].body["candidate"]["family"] == ["xi", "psi"]


@contextmanager
def reward_loop(config: Any) -> Iterator[RewardLoopManager]:
    """The manager of two Ray actors, which have names and so must end before the next two."""
    manager = RewardLoopManager(config)
    yield manager
    for worker in manager.reward_loop_workers:
        ray.kill(worker)


@pytest.mark.usefixtures("cluster")
def test_workers_in_ray_score_a_batch(folder: Path, judged: StandIn) -> None:
    """The batch that a step takes: scores at the last token, one array for each number; one sample
    without a verdict is an exception, not a number.
    """
    with reward_loop(configuration(folder, settings("each", judged.url, rubric="r"))) as manager:
        scored = manager.compute_rm_score(rollouts(["0.0", "1.0", "0.25", "0.5"]))
        with pytest.raises(JudgeUnavailable, match="timeout"):
            manager.compute_rm_score(rollouts(["0.0", "fail", "0.25", "0.5"]))

    assert scored.batch["rm_scores"].sum(dim=1).tolist() == [0.0, 1.0, 0.25, 0.5]
    assert scored.meta_info["reward_extra_keys"] == KEYS
    assert scored.non_tensor_batch["judge_failed"].tolist() == [0.0] * 4


def spread(manager: RewardLoopManager, batch: Any) -> list[Any]:
    """Each rollout to one of the workers, in turn, as agent loops send them; errors among them."""
    workers = manager.reward_loop_worker_handles
    calls = [
        workers[n % len(workers)].compute_score.remote(batch[n : n + 1]) for n in range(len(batch))
    ]
    found: list[Any] = []
    for call in calls:
        try:
            found.append(ray.get(call, timeout=60))
        except JudgeUnavailable as error:
            found.append(error.error.code)
    return found


@pytest.mark.usefixtures("cluster")
def test_two_workers_complete_one_group(folder: Path) -> None:
    """The README's command: eight rollouts, four in each of two Ray actors, one ranking of the
    service; with one missing, none has a number; a validation is judged alone.
    """
    texts = ["good", "bad"] * 4
    with real_service() as url:
        overrides = settings("group", url, deadline_s=5, val_rubric="helpfulness")
        with reward_loop(configuration(folder, overrides, rollouts=8)) as manager:
            whole = spread(manager, rollouts(texts, uid="whole"))
            missing = spread(manager, rollouts(texts[:7], uid="missing"))
            alone = spread(manager, rollouts(["good"], extra_info={"split": "test"}))

    high, low = (whole[at]["reward_score"] for at in (0, 1))
    assert [one["reward_score"] for one in whole] == [high, low] * 4
    assert high > 0.5 > low
    assert {tuple(one["reward_extra_info"]) for one in whole + alone} == {tuple(KEYS)}
    assert missing == ["cohort_incomplete"] * 7
    assert alone[0]["reward_score"] == 1.0


@pytest.mark.usefixtures("cluster")
def test_an_outage_in_ray(folder: Path) -> None:
    """Nobody listens: an exception within the time, and no number."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        overrides = settings("group", url, timeout_s=1, deadline_s=1)
        with reward_loop(configuration(folder, overrides, rollouts=2)) as manager:
            found = spread(manager, rollouts(["good", "bad"], uid="u"))

    assert found == ["unreachable"] * 2
