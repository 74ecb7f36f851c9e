"""The SDK's decorator style, shown right: an aggregate that looks at every part's status.

The SDK turns a part that raises into the score 0.0 and its default aggregate answers SUCCESS, so
that a judge's timeout would train as a bad answer. Two things prevent that: parts never raise but
return FAILED, and the aggregate passes a FAILED part on.
"""

import os

from dashscope.finetune.reinforcement import (
    AbstractRewardProcessor,
    Reward,
    RewardInput,
    RewardOutput,
    TaskStatus,
    aggregate_func,
    reward_func,
    sub_reward_func,
)
from judge_client.dashscope import JudgeRewardProcessor


@reward_func("AnswerReward")
class DecoratedReward(AbstractRewardProcessor):
    """Two parts, judged and computed; the weights are multiplied by the aggregate below."""

    def __init__(self) -> None:
        # Without this the SDK finds no part, and every sample is a SUCCESS with 0.
        super().__init__()
        self._judge = JudgeRewardProcessor(
            rubric=os.environ.get("JUDGE_SERVICE_RUBRIC", "helpfulness")
        )

    async def setup(self) -> None:
        """The judge's settings are checked when the server starts."""
        await self._judge.setup()

    @sub_reward_func("judged", sub_weight=0.8)
    async def judged(self, input_data: RewardInput) -> RewardOutput:
        """The judge's verdict: FAILED where there is none."""
        return await self._judge.process(input_data)

    @sub_reward_func("short", sub_weight=0.2)
    async def short(self, input_data: RewardInput) -> RewardOutput:
        """A check of one's own."""
        messages = input_data.agent_output.messages or []
        said = [turn.get("content") for turn in messages if turn.get("role") == "assistant"]
        answer = str(said[-1] or "").strip() if said else ""
        score = 1.0 if 0 < len(answer) <= 600 else 0.0
        return RewardOutput(reward=Reward(reward_score=score), status=TaskStatus.SUCCESS)

    @aggregate_func
    async def aggregate(self, sub_rewards: dict[str, RewardOutput]) -> RewardOutput:
        """The weighted sum, or FAILED when a part failed or is missing."""
        weights = self.get_weights()
        for name in weights:
            part = sub_rewards.get(name)
            # A part that raised has an error, whatever its status says.
            if part is None or part.status != TaskStatus.SUCCESS or part.error:
                return RewardOutput(
                    reward=Reward(reward_score=0.0),
                    status=TaskStatus.FAILED,
                    error=f"{name}: {part.error if part is not None else 'no result'}",
                    error_code=str(getattr(part, "error_code", None) or "part_failed"),
                )
        scores = self.get_scores(sub_rewards)
        return RewardOutput(
            reward=Reward(
                reward_score=sum(scores[name] * weights[name] for name in weights),
                reward_metrics=self.get_reward_metrics(sub_rewards),
            ),
            status=TaskStatus.SUCCESS,
        )
