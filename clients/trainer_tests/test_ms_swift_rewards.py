"""ms-swift's own scoring and advantages, from its wheel, over the reward function."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import swift_wheel
import torch
from judge_client import ConfigError, JudgingFailed
from judge_client.ms_swift import make_orm
from service_process import real_service

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import paste
from tests.clients.stand_in import StandIn

CPU = torch.device("cpu")


@pytest.fixture(scope="module", autouse=True)
def _swift(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Modules of the wheel can be imported."""
    swift_wheel.install(tmp_path_factory.mktemp("swift"))


@pytest.fixture
def service() -> Any:
    """A stand-in whose verdicts are in the texts."""
    with StandIn() as stand_in:
        stand_in.script = judged
        yield stand_in


def sample(text: str, prompt: str = "p") -> Any:
    """A rollout, as far as scoring sees it."""
    row = {
        "messages": [{"role": "user", "content": prompt}, {"role": "assistant", "content": text}],
        "prompt_id": f"prompt_{prompt}", "request_id": "r", "finish_reason": "stop",
        "is_truncated": False, "solution": "72",
    }  # fmt: skip
    return SimpleNamespace(messages=row["messages"], to_reward_row=lambda: row)


def scores(args: Any, texts: list[str], *more: Any, **settings: Any) -> torch.Tensor:
    """The column of scores of one group, as the trainer has it."""
    from swift.rl_core.grpo_algorithm import compute_rewards_per_func

    orm = make_orm(**{"rubric": "r", "timeout_s": 5.0, **settings})(args=args)
    return compute_rewards_per_func(
        [sample(text) for text in texts], [orm, *more], None, CPU, trainer_state=object()
    )


def args_of(scale_rewards: str = "group", size: int = 4) -> Any:
    """The trainer's arguments."""
    return SimpleNamespace(num_generations=size, scale_rewards=scale_rewards)


def advantages(rewards: torch.Tensor, args: Any) -> list[float]:
    """The advantages of one group."""
    from swift.rl_core.advantage import compute_advantages

    found, _ = compute_advantages(
        rewards, torch.ones(rewards.shape[1]), args.num_generations,
        scale_rewards=args.scale_rewards,
    )  # fmt: skip
    return [round(value, 3) for value in found.tolist()]


@pytest.mark.parametrize("mode", ["each", "group"])
def test_scores_reach_the_advantages(service: StandIn, mode: str) -> None:
    """0.0 among them."""
    args = args_of()

    found = scores(args, ["0", "1", "0.5", "0.5"], url=service.url, mode=mode)

    assert found.tolist() == [[0.0], [1.0], [0.5], [0.5]]
    assert advantages(found, args) == [-1.224, 1.224, 0.0, 0.0]
    assert len(service.requests) == 1


@pytest.mark.parametrize("texts", [["1", "0", "1", "fail"], ["fail"] * 4], ids=["partial", "all"])
@pytest.mark.parametrize("mode", ["each", "group"])
def test_a_failure_never_yields_a_score(service: StandIn, texts: list[str], mode: str) -> None:
    """The call raises, and there is no tensor."""
    with pytest.raises(JudgingFailed):
        scores(args_of(), texts, url=service.url, mode=mode, timeout_s=1.0)


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_never_yields_a_score(service: StandIn, outage: str) -> None:
    """Whatever the answer is."""
    service.says(OUTAGES[outage])
    with pytest.raises(JudgingFailed):
        scores(args_of(), ["1", "0", "1", "0"], url=service.url, timeout_s=0.8)


def test_gdpo_leaves_a_sample_out(service: StandIn) -> None:
    """Its advantage is none, and the others' are as if it were not there."""
    args = args_of("gdpo")

    found = scores(args, ["0", "1", "0.5", "never"], url=service.url, on_fail="none")

    assert math.isnan(found[3, 0])
    *others, left_out = advantages(found, args)
    assert left_out == 0.0
    assert others[0] == -others[1]
    assert others[2] == 0.0


def test_why_none_is_refused_elsewhere(service: StandIn) -> None:
    """Anywhere else ms-swift would make the worst of the group out of it."""
    args = args_of()
    with_none = torch.tensor([[0.5], [1.0], [0.5], [math.nan]])

    assert min(advantages(with_none, args)) == advantages(with_none, args)[3] < -1.0
    with pytest.raises(ConfigError, match="gdpo"):
        scores(args, ["1"], url=service.url, on_fail="none")


def test_beside_an_asynchronous_function(service: StandIn) -> None:
    """Which ms-swift runs in a new loop at every step."""

    class Other:
        """A function of one's own."""

        async def __call__(self, completions: Any, **columns: Any) -> list[float]:
            """One for each."""
            return [1.0] * len(completions)

    for _ in range(2):
        found = scores(args_of(size=2), ["0", "1"], Other(), url=service.url)
        assert found.tolist() == [[0.0, 1.0], [1.0, 1.0]]


def test_the_readme_runs_as_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a real service."""
    from swift.rl_core.grpo_algorithm import compute_rewards_per_func

    texts = ["A good answer, with what was asked for.", "A bad one that misses it."]
    with real_service() as url:
        monkeypatch.setenv("JUDGE_SERVICE_URL", url)
        orm = paste("ms-swift")["orms"]["judge"](args=args_of(size=2))

        found = compute_rewards_per_func([sample(t) for t in texts], [orm], None, CPU)

    assert found.tolist() == [[1.0], [0.0]]


def test_the_registry_is_the_wheels() -> None:
    """The registry that the plugin writes into is ms-swift's own."""
    from swift.rewards import ORM, orms

    assert "accuracy" in orms
    assert issubclass(orms["accuracy"], ORM)
