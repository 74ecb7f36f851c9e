"""A deployable group reward function: settings come from the function's environment."""

from judge_client.dashscope import JudgeGroupRewardProcessor

__all__ = ["JudgeGroupRewardProcessor"]
