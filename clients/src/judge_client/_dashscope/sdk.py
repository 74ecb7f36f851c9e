"""The names of the SDK that are used, from 1.25.19 on."""

from __future__ import annotations

try:
    from dashscope.finetune.reinforcement import (
        AbstractGroupRewardProcessor,
        AbstractRewardProcessor,
        AgentOutput,
        GroupReward,
        GroupRewardInput,
        GroupRewardOutput,
        Reward,
        RewardInput,
        RewardOutput,
        TaskStatus,
    )
except ImportError as missing:
    raise ImportError(
        "judge_client.dashscope needs the DashScope SDK, 1.25.19 or newer: "
        f"pip install './clients[dashscope]' in a checkout of judge_service ({missing})"
    ) from missing

__all__ = [
    "AbstractGroupRewardProcessor",
    "AbstractRewardProcessor",
    "AgentOutput",
    "GroupReward",
    "GroupRewardInput",
    "GroupRewardOutput",
    "Reward",
    "RewardInput",
    "RewardOutput",
    "TaskStatus",
]
