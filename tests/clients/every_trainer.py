"""Every trainer's module, each as one function: what its trainer would train on."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from dashscope.finetune.reinforcement import AgentOutput, GroupRewardInput, RewardInput
from judge_client import AsyncJudgeClient, JudgeClient, JudgingFailed, Rank
from judge_client.dashscope import (
    Dimension,
    JudgeGroupRewardProcessor,
    JudgeMultiRewardProcessor,
    JudgeRewardProcessor,
)
from judge_client.results import Assessed, Compared, Joined, Ranked
from judge_client.tinker import JudgePreferenceModel
from judge_client.trl import JudgeReward
from judge_client.verl import JudgeUnavailable, compute_score
from judge_client_verifiers import JudgeUnavailableError

from tests.clients import (
    slime_loop,
    stub_areal,
    stub_nemo_gym,
    stub_verl,
    test_art,
    test_ms_swift,
    test_skyrl,
    test_tinker,
    test_verifiers,
    test_verifiers_v0,
)
from tests.clients.dashscope.sdk_server import turns
from tests.clients.stand_in import StandIn
from tests.trainers.support import rollout

Trained = Sequence[float]
"""The numbers that reach a trainer; none where there is no verdict."""
Module = Callable[[StandIn, float], Trained]


def _in_the_place_of(trainer: str, stub: Any) -> None:
    """Put the stub where the trainer would be, once: modules that run at once share it."""
    if trainer not in sys.modules:
        stub.install(sys.modules.__setitem__)


def client_assess(to: StandIn, timeout_s: float) -> Trained:
    """The synchronous client."""
    result = JudgeClient(to.url, rubric="r", timeout_s=timeout_s).assess("p", "a")
    return [result.reward] if isinstance(result, Assessed) else []


def client_rank_many(to: StandIn, timeout_s: float) -> Trained:
    """The synchronous client, many at once."""
    asked = [Rank(prompt="p", candidates=["a", "b"])] * 2
    results = JudgeClient(to.url, rubric="r", timeout_s=timeout_s).rank_many(asked)
    return [n for one in results if isinstance(one, Ranked) for n in one.rewards]


def client_compare(to: StandIn, timeout_s: float) -> Trained:
    """The asynchronous client."""

    async def run() -> Trained:
        async with AsyncJudgeClient(to.url, rubric="r", timeout_s=timeout_s) as client:
            found = await client.compare("p", "a", "b")
        if not isinstance(found, Compared) or found.preference is None:
            return []
        return [found.preference]

    return asyncio.run(run())


def client_join(to: StandIn, timeout_s: float) -> Trained:
    """A member of a group."""
    client = JudgeClient(to.url, rubric="r", timeout_s=timeout_s)
    found = client.join("g", 2, "m", "p", "a", timeout_s=timeout_s)
    return [found.reward] if isinstance(found, Joined) else []


def trl(**more: Any) -> Module:
    """TRL's reward function, in one of its modes."""

    def rewards(to: StandIn, timeout_s: float) -> Trained:
        reward = JudgeReward(to.url, rubric="r", timeout_s=timeout_s, on_failed="none", **more)
        return [one for one in reward(["p"] * 2, ["a", "b"]) if one is not None]

    return rewards


def verl_sample(to: StandIn, timeout_s: float) -> Trained:
    """Verl's function for a sample."""
    asked = compute_score(
        "d", "a", "", {"question": "p"}, judge_url=to.url, rubric="r", timeout_s=timeout_s
    )
    try:
        return [asyncio.run(asked)["score"]]
    except JudgeUnavailable:
        return []


def verl_group(to: StandIn, timeout_s: float) -> Trained:
    """Verl's manager for groups."""
    _in_the_place_of("verl", stub_verl)
    from judge_client.verl import JudgeGroupRewardManager

    settings = {"url": to.url, "rubric": "r", "timeout_s": timeout_s, "deadline_s": timeout_s}
    manager = JudgeGroupRewardManager(stub_verl.config(2, **settings), stub_verl.Characters())
    data = stub_verl.sample("a", raw_prompt=[{"role": "user", "content": "p"}], uid="u")
    try:
        return [asyncio.run(manager.run_single(data))["reward_score"]]
    except JudgeUnavailable:
        return []


def verifiers_v1(**more: Any) -> Module:
    """The judge plugin."""

    def rewards(to: StandIn, timeout_s: float) -> Trained:
        judge = test_verifiers.judge_of(to, timeout_s=timeout_s, **more)
        try:
            return [test_verifiers.score(judge, "a")]
        except JudgeUnavailableError:
            return []

    return rewards


def verifiers_v0(mode: str) -> Module:
    """The rubric of the classic API."""

    def rewards(to: StandIn, timeout_s: float) -> Trained:
        rubric = test_verifiers_v0.rubric_of(to, timeout_s=timeout_s, mode=mode)
        states = test_verifiers_v0.scored(rubric, "a", "b")
        return [state["reward"] for state in states if state["error"] is None]

    return rewards


def ms_swift(mode: str) -> Module:
    """ms-swift's reward function."""

    def rewards(to: StandIn, timeout_s: float) -> Trained:
        orm = test_ms_swift.orm_of(to, timeout_s=timeout_s, mode=mode, group_size=2)
        try:
            return [one for one in orm(**test_ms_swift.rows("a", "b")) if one is not None]
        except JudgingFailed:
            return []

    return rewards


def art(to: StandIn, timeout_s: float) -> Trained:
    """ART's groups."""
    group = test_art.judge(to, test_art.said("a", "b"), timeout_s=timeout_s)
    return [] if group is None else [one.reward for one in group.trajectories]


def tinker(to: StandIn, timeout_s: float) -> Trained:
    """The cookbook's preferences; an inconsistent pair is a verdict there."""
    model = JudgePreferenceModel(to.url, rubric="r", timeout_s=timeout_s, on_inconsistent="raise")
    try:
        return [test_tinker.prefer(model, "a", "b")]
    except JudgingFailed:
        return []


def skyrl(to: StandIn, timeout_s: float) -> Trained:
    """SkyRL's environment."""
    env = test_skyrl.env_of(to, timeout_s=timeout_s)
    try:
        return [test_skyrl.step(env, "a")]
    except JudgingFailed:
        return []


def slime(mode: str) -> Module:
    """Slime's reward functions, with its filter."""

    def rewards(to: StandIn, timeout_s: float) -> Trained:
        from judge_client.slime import JudgeRM, drop_failed_groups

        made = JudgeRM(to.url, rubric="r", mode=mode, timeout_s=timeout_s)  # type: ignore[arg-type]
        samples = [slime_loop.Sample(prompt="p", response=text) for text in ("a", "b")]
        args = slime_loop.Args(group_rm=mode == "group")
        found = asyncio.run(made(args, samples))
        for sample, reward in zip(samples, found, strict=True):
            sample.reward = reward
        kept = drop_failed_groups(args, samples)
        return [one for one in found if one is not None] if kept.keep else []

    return rewards


def nemo_gym(**more: Any) -> Module:
    """NeMo Gym's server; what is masked trains nothing."""

    def rewards(to: StandIn, timeout_s: float) -> Trained:
        _in_the_place_of("nemo_gym", stub_nemo_gym)
        from judge_client.nemo_gym import JudgeResourcesServer, JudgeResourcesServerConfig
        from judge_client.nemo_gym.server import JudgeVerifyRequest

        config = JudgeResourcesServerConfig(
            judge_url=to.url, rubric="r", timeout_s=timeout_s, **more
        )
        server = JudgeResourcesServer(config=config)
        body = JudgeVerifyRequest(**rollout("a", "p"))
        row: Mapping[str, Any] = asyncio.run(server.verify(body)).model_dump()
        failed = row["mask_sample"] and "_ng_failure_class" in row
        return [] if failed else [row["reward"]]

    return rewards


def areal(to: StandIn, timeout_s: float) -> Trained:
    """AReaL's workflow."""
    _in_the_place_of("areal", stub_areal)
    made = stub_areal._imported("judge_client.areal.JudgeRLVRWorkflow")
    workflow = made(
        gconfig=stub_areal.Config(), tokenizer=stub_areal.Characters(), url=to.url, rubric="r",
        timeout_s=timeout_s,
    )  # fmt: skip
    data = {"messages": [{"role": "user", "content": "p"}]}
    found = asyncio.run(workflow.arun_episode(stub_areal.Engine(["a"]), data))
    return [] if found is None else [1.0]


def dashscope(processor: Any) -> Module:
    """The SDK's processor of one output."""

    def rewards(to: StandIn, timeout_s: float) -> Trained:
        made = processor(url=to.url, rubric="r", timeout_s=timeout_s)
        asked = RewardInput(agent_output=AgentOutput(messages=turns("a")))
        output = asyncio.run(made.process(asked))
        return [output.reward.reward_score] if output.status.value == "success" else []

    return rewards


def dashscope_group(to: StandIn, timeout_s: float) -> Trained:
    """The SDK's processor of groups."""
    made = JudgeGroupRewardProcessor(url=to.url, rubric="r", timeout_s=timeout_s)
    outputs = [AgentOutput(messages=turns(text)) for text in ("a", "b")]
    output = asyncio.run(made.process(GroupRewardInput(agent_outputs=outputs)))
    if output.status.value != "success":
        return []
    return [one.reward_score for one in output.reward.rewards]


class TwoDimensions(JudgeMultiRewardProcessor):
    """One is computed, and alone is no reward."""

    dimensions: ClassVar[dict[str, Dimension]] = {
        "judged": Dimension(weight=0.5, rubric="r"),
        "computed": Dimension(weight=0.5, score=lambda _: 1.0),
    }


MODULES: dict[str, Module] = {
    "client assess": client_assess,
    "client rank_many": client_rank_many,
    "client compare": client_compare,
    "client join": client_join,
    "trl": trl(),
    "trl groups": trl(mode="group", group_size=2),
    "trl groups over ranks": trl(mode="group", group_size=4, across_ranks="server"),
    "verl": verl_sample,
    "verl groups": verl_group,
    "verifiers": verifiers_v1(),
    "verifiers groups": verifiers_v1(group_size=2),
    "verifiers before 0.4": verifiers_v0("each"),
    "verifiers before 0.4, groups": verifiers_v0("group"),
    "ms-swift": ms_swift("each"),
    "ms-swift groups": ms_swift("group"),
    "art": art,
    "tinker": tinker,
    "skyrl": skyrl,
    "slime": slime("each"),
    "slime groups": slime("group"),
    "nemo gym": nemo_gym(),
    "nemo gym cohorts": nemo_gym(num_rollouts_per_prompt=2, cohort_deadline_s=1.0),
    "areal": areal,
    "dashscope": dashscope(JudgeRewardProcessor),
    "dashscope dimensions": dashscope(TwoDimensions),
    "dashscope groups": dashscope_group,
}
