"""Several agent outputs for one problem, a reward for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from judge_client._dashscope.configured import Configured
from judge_client._dashscope.outputs import NoReward, group_failure, group_success
from judge_client._dashscope.sdk import (
    AbstractGroupRewardProcessor,
    GroupRewardInput,
    GroupRewardOutput,
)
from judge_client.candidate import Candidate
from judge_client.requests import Assess, Rank
from judge_client.results import Assessed, Ranked
from judge_client.turns import Conversation, conversation


class JudgeGroupRewardProcessor(Configured, AbstractGroupRewardProcessor):
    """Ranks the answers to one problem: a score in [0, 1] for each, in order, not normalised in
    the group.

    Empty answers and failed rollouts get 0 among the others. One member that could not be judged
    fails the group, and so does a group of failed rollouts only. A group of one is assessed, for
    which a rubric for pairs will not do.
    """

    strategy: ClassVar[Literal["auto", "assess", "pairwise", "listwise"]] = "auto"
    max_calls: ClassVar[int | None] = None

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self.configure(given)

    async def process(self, input_data: GroupRewardInput) -> GroupRewardOutput:
        """The rewards of one group; no exception leaves."""
        try:
            return await self.judged(input_data)
        except Exception as error:  # noqa: BLE001 - a 500 would cost two more judgements, and the reason
            return group_failure(error, len(input_data.agent_outputs))

    async def judged(self, input_data: GroupRewardInput) -> GroupRewardOutput:
        """The rewards. Raises where there are none."""
        outputs = input_data.agent_outputs
        talks = [conversation(output.messages, self.rollout_error_marker) for output in outputs]
        if not talks:
            return group_success([], [])
        alive = [at for at, talk in enumerate(talks) if talk.error is None]
        if not alive:
            raise NoReward("rollout_failed", f"every rollout failed: {talks[0].error}")
        prompt = next((talks[at].prompt for at in alive if talks[at].prompt), None) or ""
        extras = [outputs[at].rollout_extra for at in alive]
        reference = self._group_reference(input_data.ground_truth, extras)
        members = [_member(str(at), talk) for at, talk in enumerate(talks)]
        if len(members) == 1:
            return await self._alone(
                Assess(prompt=prompt, candidate=members[0], reference=reference)
            )
        return await self._together(
            Rank(
                prompt=prompt, candidates=members, reference=reference, strategy=self.strategy,
                max_calls=self.max_calls,
            )
        )  # fmt: skip

    def _group_reference(self, ground_truth: object, extras: Sequence[object]) -> str | None:
        found = (self._reference(ground_truth, extra) for extra in extras)
        return next((reference for reference in found if reference is not None), None)

    async def _alone(self, request: Assess) -> GroupRewardOutput:
        result = await self._client.ask(request)
        if not isinstance(result, Assessed):
            raise NoReward(result.error.code, f"{result.error.code}: {result.error.message}")
        return group_success([result.reward], [_metrics(1, True, {})])

    async def _together(self, request: Rank) -> GroupRewardOutput:
        result = await self._client.ask(request)
        if not isinstance(result, Ranked):
            raise NoReward(
                result.error.code,
                f"{result.error.code}: {result.error.message}{_blamed(result.candidates)}",
            )
        ranks = result.ranks or [1 + sum(o > r for o in result.rewards) for r in result.rewards]
        pairs = result.raw.get("pairs")
        told = pairs if isinstance(pairs, dict) else {}
        metrics = [_metrics(rank, result.zero_advantage, told) for rank in ranks]
        return group_success(result.rewards, metrics)


def _member(name: str, talk: Conversation) -> Candidate:
    if talk.error is not None:
        return Candidate(id=name, text="")
    return Candidate(id=name, messages=talk.turns, finish_reason=talk.finish_reason)


def _blamed(members: Sequence[Mapping[str, Any]]) -> str:
    failed = [str(at) for at, member in enumerate(members) if member.get("status") == "failed"]
    return f" (members {', '.join(failed)})" if failed else ""


def _metrics(rank: int, zero_advantage: bool, pairs: Mapping[str, Any]) -> dict[str, float]:
    def count(name: str) -> float:
        value = pairs.get(name)
        # Not NaN, not an integer too long for a float.
        right = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9
        return float(value) if right and value is not None else 0.0

    return {
        "rank": float(rank),
        "zero_advantage": float(zero_advantage),
        "pairs_asked": count("asked"),
        "pairs_inconsistent": count("inconsistent"),
    }
