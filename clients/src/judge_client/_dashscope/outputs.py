"""Outputs as the SDK wants them: a failure carries a placeholder, and says that it is one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from judge_client._dashscope.sdk import (
    GroupReward,
    GroupRewardOutput,
    Reward,
    RewardOutput,
    TaskStatus,
)
from judge_client.errors import JudgeClientError, RequestRefused

log = logging.getLogger("judge_client.dashscope")
MAX_MESSAGE = 500


class NoReward(JudgeClientError):
    """There is no reward for a sample; ``code`` and the message become its error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code

    def __str__(self) -> str:
        return f"{self.args[1]}"


def explained(error: BaseException) -> tuple[str, str]:
    """Code and message of whatever kept a reward from being there."""
    if isinstance(error, (NoReward, RequestRefused)):
        code, message = error.code, str(error)
    elif isinstance(error, (TimeoutError, asyncio.TimeoutError)):
        code, message = "timeout", "a score function took too long"
    elif isinstance(error, JudgeClientError):
        code, message = "config", str(error)
    else:
        code, message = "internal", f"{type(error).__name__} in the reward function"
        log.error("a reward function failed", exc_info=error)
    # The SDK cannot send half a surrogate pair, and a candidate may hold one.
    return code, message[:MAX_MESSAGE].encode("utf-8", "replace").decode() or code


def success(score: float, metrics: Mapping[str, float]) -> RewardOutput:
    """A reward."""
    return RewardOutput(
        reward=Reward(reward_score=score, reward_metrics=dict(metrics)), status=TaskStatus.SUCCESS
    )


def failure(error: BaseException) -> RewardOutput:
    """No reward: the score is a placeholder that the SDK demands."""
    code, message = explained(error)
    log.info("no reward: %s: %s", code, message)
    fields: dict[str, Any] = {"error": message, "error_code": code}
    return RewardOutput(reward=Reward(reward_score=0.0), status=TaskStatus.FAILED, **fields)


def group_success(
    rewards: Sequence[float], metrics: Sequence[Mapping[str, float]]
) -> GroupRewardOutput:
    """A reward for every member, in order."""
    made = [
        Reward(reward_score=score, reward_metrics=dict(own))
        for score, own in zip(rewards, metrics, strict=True)
    ]
    return GroupRewardOutput(reward=GroupReward(rewards=made), status=TaskStatus.SUCCESS)


def group_failure(error: BaseException, size: int) -> GroupRewardOutput:
    """No rewards: ``size`` placeholders that the SDK demands."""
    code, message = explained(error)
    log.info("no rewards for a group of %d: %s: %s", size, code, message)
    fields: dict[str, Any] = {"error": message, "error_code": code}
    made = [Reward(reward_score=0.0) for _ in range(size)]
    return GroupRewardOutput(reward=GroupReward(rewards=made), status=TaskStatus.FAILED, **fields)
