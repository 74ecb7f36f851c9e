"""One input to a processor, in a loop of its own, and a service for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from dashscope.finetune.reinforcement import (
    AgentOutput,
    RewardInput,
    RewardOutput,
)

from tests.clients.dashscope.sdk_server import turns
from tests.clients.stand_in import SUCCESS, Got, Told


def given(text: object = "An answer.", **output: Any) -> RewardInput:
    """An input as the SDK makes it."""
    return RewardInput(agent_output=AgentOutput(messages=turns(text), **output))


def truth(value: Any, **output: Any) -> RewardInput:
    """An input with a known answer."""
    return RewardInput(agent_output=given(**output).agent_output, ground_truth=value)


def run(processor: Any, input_data: RewardInput | None = None) -> RewardOutput:
    """Set up and process, in a loop of their own."""

    async def both() -> RewardOutput:
        await processor.setup()
        found: RewardOutput = await processor.process(input_data or given())
        return found

    return asyncio.run(both())


def by_rubric(rewards: dict[str, Any]) -> Callable[[Got], Told]:
    """A service whose rubrics have these rewards, or these answers."""

    def script(got: Got) -> Told:
        if got.method == "GET":
            return Told(body={"criteria": [{"name": "a"}]})
        found = rewards[got.body["rubric"]]
        return Told(body=found if isinstance(found, dict) else {**SUCCESS, "reward": found})

    return script
