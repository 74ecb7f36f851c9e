"""Rewards for the trajectory groups of ART, in the place of its RULER call.

    from judge_client.art import judge_group

    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(model, scenario) for _ in range(8)) for scenario in scenarios),
        after_each=judge_group(rubric="agent-trajectory"),
    )

A group that could not be judged becomes ``None``, which ART leaves out. ART itself is not imported:
groups and trajectories are copied, not built.
"""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judge_client import shared
from judge_client.errors import InvalidRequest, JudgingFailed
from judge_client.pace import Deadline
from judge_client.requests import Assess, Rank
from judge_client.results import Assessed, AssessFailed, Failure, Ranked, RankFailed
from judge_client.rollouts import candidate_of
from judge_client.rows import row_of
from judge_client.settings import Settings
from judge_client.trainer_numbers import numbers

log = logging.getLogger("judge_client.art")
DEFAULT_TIMEOUT_S = 120.0
Strategy = Literal["auto", "assess", "pairwise", "listwise"]
Result = Ranked | RankFailed | Assessed | AssessFailed


def judge_group(
    url: str | None = None,
    *,
    rubric: str | None = None,
    on_fail: Literal["drop", "raise"] = "drop",
    strategy: Strategy = "auto",
    timeout_s: float | str | None = None,
    api_key: str | None = None,
    family: str | Sequence[str] | None = None,
    policy_model: str | None = None,
    purpose: str | None = None,
) -> GroupJudge:
    """What ``after_each`` calls with a group: it gives a copy whose trajectories have rewards in
    [0, 1], or ``None`` where the group could not be judged (with ``on_fail="raise"`` it raises
    JudgingFailed). Raises ConfigError at once for a setting that cannot be right.
    """
    shared.one_of("on_fail", on_fail, "drop", "raise")
    shared.one_of("strategy", strategy, "auto", "assess", "pairwise", "listwise")
    loaded = shared.load(
        default_timeout_s=DEFAULT_TIMEOUT_S, url=url, api_key=api_key, rubric=rubric,
        timeout_s=timeout_s, family=family, policy_model=policy_model, purpose=purpose,
    )  # fmt: skip
    return GroupJudge(loaded, drops=on_fail == "drop", strategy=strategy)


class GroupJudge:
    """Ranks the trajectories of one group. Picklable, and right in every event loop."""

    def __init__(self, settings: Settings, *, drops: bool, strategy: Strategy) -> None:
        self.settings = settings
        self._drops = drops
        self._strategy = strategy

    def __repr__(self) -> str:
        return f"judge_group({self.settings!r})"

    async def __call__(self, group: Any) -> Any:
        """The group with rewards, or None. Raises RequestRefused for mistakes."""
        trajectories = list(group.trajectories)
        if not trajectories:
            return group
        told = await self._judged([_told_by(trajectory) for trajectory in trajectories])
        if isinstance(told, Failure):
            if not self._drops:
                raise JudgingFailed(told)
            log.warning(
                "a group of %d was dropped: %s: %s", len(trajectories), told.code, told.message
            )
            return None
        judged = copy.copy(group)
        judged.trajectories = [
            _rewarded(trajectory, own) for trajectory, own in zip(trajectories, told, strict=True)
        ]
        return judged

    async def _judged(self, members: Sequence[_Told]) -> list[_Share] | Failure:
        unreadable = next((m.unreadable for m in members if m.unreadable is not None), None)
        if unreadable is not None:
            return Failure(code="unreadable", message=unreadable, retryable=False, at="client")
        request = _request(members, self._strategy)
        try:
            result = await self._asked(request)
        except InvalidRequest as wrong:
            if len(members) > 1 or wrong.field != "rubric":
                raise
            # What is left of a group whose other rollouts broke off has nobody to be compared with.
            return Failure(code="group_of_one", message=str(wrong), retryable=False, at="client")
        return _shares(result)

    async def _asked(self, request: Rank | Assess) -> Result:
        """The result; an answer of another shape, such as seven rewards for eight, is asked for
        once more.
        """
        client = shared.client_of(self.settings)
        deadline = Deadline(self.settings.timeout_s)
        result: Result = await client.ask(request)
        if isinstance(result, (RankFailed, AssessFailed)) and result.error.code == "protocol":
            left = deadline.left()
            return await client.ask(request, timeout_s=left) if left > 0 else result
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What a trajectory holds: its turns, where the policy's begin, and the tools it had."""

    turns: list[Any]
    start: int
    tools: Any = None
    finish_reason: object = None
    unreadable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    reward: float
    swap_consistency: float
    explanation: str


def _told_by(trajectory: Any) -> _Told:
    """Raises InvalidRequest where there are additional histories, which nobody ranks."""
    if getattr(trajectory, "additional_histories", None):
        raise InvalidRequest(
            "additional_histories: a trajectory with several histories is not ranked",
            field="additional_histories",
        )
    items = list(trajectory.messages_and_choices)
    choices = [at for at, item in enumerate(items) if hasattr(item, "finish_reason")]
    try:
        turns, tools = _history(trajectory)
    except ValueError as odd:
        # Exchanges that are no single conversation.
        return _Told(turns=[], start=0, unreadable=str(odd)[:300])
    said = [at for at, turn in enumerate(turns) if turn.get("role") == "assistant"]
    return _Told(
        turns=turns,
        start=choices[0] if choices else next(iter(said), len(turns)),
        tools=tools,
        finish_reason=items[choices[-1]].finish_reason if choices else None,
    )


def _history(trajectory: Any) -> tuple[list[Any], Any]:
    """Messages and tools, of a trajectory of messages and of one of recorded exchanges."""
    if callable(getattr(trajectory, "history", None)):
        history = trajectory.history().as_chat_completions_history()
        return list(history.messages), history.tools
    return list(trajectory.messages()), trajectory.tools


def _request(members: Sequence[_Told], strategy: Strategy) -> Rank | Assess:
    """The prompt is what all have before the policy's first turn."""
    heads = [told.turns[: told.start] for told in members]
    common = 0
    while all(common < len(head) and head[common] == heads[0][common] for head in heads):
        common += 1
    rows = [row_of(told.turns[:common], told.turns[common:]) for told in members]
    prompt = [*_tools(members[0].tools), *rows[0].prompt] or ""
    candidates = [
        candidate_of(row, finish_reason=told.finish_reason)
        for row, told in zip(rows, members, strict=True)
    ]
    if len(candidates) == 1:
        return Assess(prompt=prompt, candidate=candidates[0])
    return Rank(prompt=prompt, candidates=candidates, strategy=strategy)


def _tools(tools: Any) -> list[Any]:
    """The tools an agent had, for a judge of how it used them."""
    if not tools:
        return []
    listed = json.dumps(tools, ensure_ascii=False, default=str)
    return [*row_of([{"role": "system", "content": f"Tools the agent has: {listed}"}], "").prompt]


def _shares(result: Result) -> list[_Share] | Failure:
    if isinstance(result, (RankFailed, AssessFailed)):
        return result.error
    if isinstance(result, Assessed):
        return [_Share(reward=result.reward, swap_consistency=1.0, explanation="assessed alone")]
    ranks = result.ranks or [1 + sum(o > r for o in result.rewards) for r in result.rewards]
    return [
        _Share(
            reward=reward,
            swap_consistency=numbers(result, reward)["judge_swap_consistent"],
            explanation=f"rank {rank} of {len(ranks)}, reward {reward:.3f}{_points(result, at)}",
        )
        for at, (reward, rank) in enumerate(zip(result.rewards, ranks, strict=True))
    ]


def _points(result: Ranked, at: int) -> str:
    """A member's points on each criterion, where it was assessed."""
    entry = result.candidates[at] if at < len(result.candidates) else {}
    criteria = entry.get("criteria")
    told = criteria.items() if isinstance(criteria, dict) else ()
    points = [f"{name} {c['point']}" for name, c in told if isinstance(c, dict) and "point" in c]
    return f" ({', '.join(points)})" if points else ""


def _rewarded(trajectory: Any, own: _Share) -> Any:
    """A copy with the reward, and RULER's names for the metrics."""
    metrics = {
        **trajectory.metrics,
        "independent_reward": trajectory.reward,
        "ruler_score": own.reward,
        "judge/swap_consistency": own.swap_consistency,
    }
    logs = [*trajectory.logs, f"Judge: {own.explanation}"]
    return trajectory.model_copy(update={"reward": own.reward, "metrics": metrics, "logs": logs})
