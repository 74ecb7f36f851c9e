"""Several dimensions with the client's own base: all of them, or FAILED."""

from typing import ClassVar

from dashscope.finetune.reinforcement import RewardInput
from judge_client.dashscope import Dimension, JudgeMultiRewardProcessor


def concise(input_data: RewardInput) -> float:
    """1.0 up to 600 characters, then less and less, without a cliff; saying nothing is worth 0."""
    messages = input_data.agent_output.messages or []
    said = [turn.get("content") for turn in messages if turn.get("role") == "assistant"]
    answer = str(said[-1] or "").strip() if said else ""
    return min(1.0, 600 / len(answer)) if answer else 0.0


class AnswerReward(JudgeMultiRewardProcessor):
    """Right first, then helpful, then short."""

    dimensions: ClassVar = {
        "right": Dimension(rubric="correctness", weight=0.6),
        "helpful": Dimension(rubric="helpfulness", weight=0.3),
        "concise": Dimension(score=concise, weight=0.1),
    }
