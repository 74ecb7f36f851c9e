"""Rewards for DashScope's agentic RL: a file of one line makes them deployable functions.

    from judge_client.dashscope import JudgeRewardProcessor

The SDK comes from the function's runtime, or from ``pip install './clients[dashscope]'`` in a
checkout of the service.
"""

from __future__ import annotations

from judge_client._dashscope.configured import Configured
from judge_client._dashscope.group import JudgeGroupRewardProcessor
from judge_client._dashscope.multi import Dimension, JudgeMultiRewardProcessor
from judge_client._dashscope.reward import JudgeRewardProcessor

__all__ = [
    "Configured",
    "Dimension",
    "JudgeGroupRewardProcessor",
    "JudgeMultiRewardProcessor",
    "JudgeRewardProcessor",
]
