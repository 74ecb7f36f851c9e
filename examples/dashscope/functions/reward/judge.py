"""A deployable reward function: settings come from the function's environment."""

from judge_client.dashscope import JudgeRewardProcessor

__all__ = ["JudgeRewardProcessor"]
