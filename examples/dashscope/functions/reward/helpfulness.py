"""The same with settings in the file, for instances that are registered without an environment."""

from judge_client.dashscope import JudgeRewardProcessor


class HelpfulnessReward(JudgeRewardProcessor):
    """Helpfulness; a rollout's own reward_score counts for a fifth."""

    rubric = "helpfulness"
    policy_model = "qwen3-4b-instruct-2507"
    preset_weight = 0.2
