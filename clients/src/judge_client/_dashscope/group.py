"""Several agent outputs for one problem, a reward for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from judge_client._dashscope.configured import Configured
from judge_client._dashscope.outputs import NoReward, group_failure, group_success
from judge_client._dashscope.sdk import (
    AbstractGroupRewardProcessor,
    GroupRewardInput,
    GroupRewardOutput,
)
from judge_client.candidate import Candidate
from judge_client.errors import ConfigError
from judge_client.requests import Assess, Rank
from judge_client.results import Assessed, Ranked
from judge_client.shared import one_of
from judge_client.turns import Conversation, Turn, conversation

Strategy = Literal["auto", "assess", "pairwise", "listwise"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


class JudgeGroupRewardProcessor(Configured, AbstractGroupRewardProcessor):
    """Ranks the answers to one problem: a score in [0, 1] for each, in order, not normalised in
    the group.

    Empty answers get 0 among the others. A failed rollout is nobody's rival: its 0 is a placeholder
    beside the metric ``rollout_failed``, and the others are ranked without it. One member that
    could not be judged fails the group, and so does a group of failed rollouts only. One member
    alone is assessed, for which a rubric for pairs will not do.
    """

    strategy: ClassVar[Strategy] = "auto"
    max_calls: ClassVar[int | None] = None

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self.configure(given)

    def _check(self) -> None:
        super()._check()
        one_of("strategy", self.strategy, *STRATEGIES)
        calls = self.max_calls
        if calls is not None and (type(calls) is not int or calls < 1):
            raise ConfigError("max_calls: a number of calls, or None")

    async def process(self, input_data: GroupRewardInput) -> GroupRewardOutput:
        """The rewards of one group; no exception leaves."""
        try:
            return await self.judged(input_data)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a 500 would cost two more judgements, and the reason
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
        prompt = _common([talks[at].prompt for at in alive])
        extras = [outputs[at].rollout_extra for at in alive]
        reference = self._group_reference(input_data.ground_truth, extras)
        members = [_member(str(at), talks[at], len(prompt)) for at in alive]
        if len(members) == 1:
            alone = Assess(prompt=prompt or "", candidate=members[0], reference=reference)
            shares = await self._alone(alone)
        else:
            shares = await self._together(
                Rank(
                    prompt=prompt or "", candidates=members, reference=reference,
                    strategy=self.strategy, max_calls=self.max_calls,
                )
            )  # fmt: skip
        found = dict(zip(alive, shares, strict=True))
        last = {**shares[0].metrics, "rank": len(alive) + 1.0, "rollout_failed": 1.0}
        placeholder = _Share(reward=0.0, metrics=last)
        told = [found.get(at, placeholder) for at in range(len(talks))]
        return group_success([one.reward for one in told], [one.metrics for one in told])

    def _group_reference(self, ground_truth: object, extras: Sequence[object]) -> str | None:
        found = (self._reference(ground_truth, extra) for extra in extras)
        return next((reference for reference in found if reference is not None), None)

    async def _alone(self, request: Assess) -> list[_Share]:
        result = await self._client.ask(request)
        if not isinstance(result, Assessed):
            raise NoReward(result.error.code, f"{result.error.code}: {result.error.message}")
        return [_Share(reward=result.reward, metrics=_metrics(1, True, {}))]

    async def _together(self, request: Rank) -> list[_Share]:
        result = await self._client.ask(request)
        if not isinstance(result, Ranked):
            blamed = _blamed(result.candidates, request)
            raise NoReward(
                result.error.code, f"{result.error.code}: {result.error.message}{blamed}"
            )
        ranks = result.ranks or [1 + sum(o > r for o in result.rewards) for r in result.rewards]
        pairs = result.raw.get("pairs")
        told = pairs if isinstance(pairs, dict) else {}
        return [
            _Share(reward=reward, metrics=_metrics(rank, result.zero_advantage, told))
            for reward, rank in zip(result.rewards, ranks, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """A member's reward, in [0, 1], and the numbers beside it."""

    reward: float
    metrics: Mapping[str, float]


def _common(heads: Sequence[list[Turn]]) -> list[Turn]:
    """What all members were asked: the turns with which all their conversations begin."""
    asked = [head for head in heads if head]
    shared = 0
    while asked and all(shared < len(head) and head[shared] == asked[0][shared] for head in asked):
        shared += 1
    return asked[0][:shared] if asked else []


def _member(name: str, talk: Conversation, shared: int) -> Candidate:
    """A member with its turns; what only it was asked stands before them."""
    turns = [*talk.prompt[shared:], *talk.turns]
    return Candidate(id=name, messages=turns, finish_reason=talk.finish_reason)


def _blamed(entries: Sequence[Mapping[str, Any]], request: Rank) -> str:
    """The places in the group of the members that could not be judged."""
    failed = [
        str(member.id)
        for entry, member in zip(entries, request.candidates, strict=False)
        if entry.get("status") == "failed" and isinstance(member, Candidate)
    ]
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
        "rollout_failed": 0.0,
    }
