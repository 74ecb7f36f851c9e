"""Register the functions with their settings, and test each once. Needs DASHSCOPE_API_KEY."""

import asyncio
import json
import os
from pathlib import Path

from dashscope.finetune.agentic_rl import AgenticRL
from dashscope.finetune.reinforcement import (
    FunctionComponentModel,
    FunctionComponentRuntime,
    FunctionType,
    GroupRewardFunctionComponent,
    RewardFunctionComponent,
    RolloutFunctionComponent,
)

HERE = Path(__file__).resolve().parent
ENVIRONMENT = {
    "JUDGE_SERVICE_URL": os.environ.get("JUDGE_SERVICE_URL", ""),
    "JUDGE_SERVICE_API_KEY": os.environ.get("JUDGE_SERVICE_API_KEY", ""),
    "JUDGE_SERVICE_POLICY_MODEL": "qwen3-4b-instruct-2507",
    # Below the components' timeout of 120 seconds.
    "JUDGE_SERVICE_TIMEOUT_S": "90",
}


def runtime(rubric: str) -> FunctionComponentRuntime:
    """Every component needs a runtime of its own, or it gets its neighbour's."""
    return FunctionComponentRuntime(env={**ENVIRONMENT, "JUDGE_SERVICE_RUBRIC": rubric})


def functions() -> list[RewardFunctionComponent | GroupRewardFunctionComponent]:
    """Two rewards and a group reward. Names are curves in the console: keep them."""
    return [
        RewardFunctionComponent(
            name="helpfulness",
            weight=0.6,
            timeout=120,
            fcmodel=FunctionComponentModel(classpath="functions.reward.judge.JudgeRewardProcessor"),
            runtime=runtime("helpfulness"),
        ),
        RewardFunctionComponent(
            name="answer",
            weight=0.4,
            timeout=120,
            fcmodel=FunctionComponentModel(classpath="functions.reward.dimensions.AnswerReward"),
            runtime=runtime("correctness"),
        ),
        GroupRewardFunctionComponent(
            name="writing",
            weight=1.0,
            timeout=120,
            fcmodel=FunctionComponentModel(
                classpath="functions.group_reward.judge.JudgeGroupRewardProcessor"
            ),
            runtime=runtime("pairwise-writing"),
        ),
    ]


def rollout() -> RolloutFunctionComponent:
    """The one rollout that a job must have; it asks the model that the platform tells it."""
    return RolloutFunctionComponent(
        name="ask",
        timeout=600,
        fcmodel=FunctionComponentModel(classpath="functions.rollout.ask.AskPolicy"),
        runtime=FunctionComponentRuntime(env={}),
    )


async def main() -> None:
    """Register, then send each test input to its instance."""
    client = AgenticRL()
    rollouts, rewards, groups, *instances = await client.register_functions(
        functions=[rollout(), *functions()], lazy_load=False
    )
    print("registered:", rollouts, rewards, groups)
    rollout_instances, reward_instances, group_instances = instances
    tests = [
        (FunctionType.ROLLOUT, rollout_instances, "rollout_input.json"),
        (FunctionType.REWARD, reward_instances, "reward_input.json"),
        (FunctionType.GROUP_REWARD, group_instances, "group_reward_input.json"),
    ]
    for kind, instances, file in tests:
        body = json.loads((HERE / "resources" / file).read_text(encoding="utf-8"))
        for instance in instances or []:
            answer = await AgenticRL.test_functions(
                instance_id=instance, functype=kind, input_data=body
            )
            print(instance, answer)


if __name__ == "__main__":
    asyncio.run(main())
