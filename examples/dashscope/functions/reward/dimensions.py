"""Several dimensions with the client's own base: all of them, or FAILED."""

from typing import ClassVar

from dashscope.finetune.reinforcement import RewardInput
from judge_client.dashscope import Dimension, JudgeMultiRewardProcessor


def concise(input_data: RewardInput) -> float:
    """1.0 up to 600 characters, then less and less; no cliff."""
    messages = input_data.agent_output.messages or []
    answer = str(messages[-1].get("content") or "") if messages else ""
    return 1.0 if not answer else min(1.0, 600 / len(answer))


class AnswerReward(JudgeMultiRewardProcessor):
    """Right first, then helpful, then short."""

    dimensions: ClassVar = {
        "right": Dimension(rubric="correctness", weight=0.6),
        "helpful": Dimension(rubric="helpfulness", weight=0.3),
        "concise": Dimension(score=concise, weight=0.1),
    }
