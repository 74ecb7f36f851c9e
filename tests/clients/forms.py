"""The client in its three forms, each as a function that scores texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from judge_client import Assess, Assessed, AsyncJudgeClient, JudgeClient
from judge_client.trl import JudgeReward

PROMPT = "What is it worth?"
Rewards = list[float | None]


def asked(texts: Sequence[str]) -> list[Assess]:
    """An assessment of each text."""
    return [Assess(prompt=PROMPT, candidate=text) for text in texts]


def rewards(results: Sequence[object]) -> Rewards:
    """The rewards, None where there is no verdict."""
    return [one.reward if isinstance(one, Assessed) else None for one in results]


def by_client(client: JudgeClient, texts: Sequence[str]) -> Rewards:
    """The synchronous client."""
    return rewards(client.assess_many(asked(texts)))


def by_async_client(client: AsyncJudgeClient, texts: Sequence[str]) -> Rewards:
    """The asynchronous client, in a loop of its own."""
    return rewards(asyncio.run(client.assess_many(asked(texts))))


def by_reward(reward: JudgeReward, texts: Sequence[str]) -> Rewards:
    """TRL's reward function."""
    return reward([PROMPT] * len(texts), list(texts))


@dataclass(frozen=True)
class Form:
    """One form: how it is made, and how it scores."""

    make: Callable[..., Any]
    score: Callable[[Any, Sequence[str]], Rewards]


FORMS = {
    "JudgeClient": Form(JudgeClient, by_client),
    "AsyncJudgeClient": Form(AsyncJudgeClient, by_async_client),
    "JudgeReward": Form(JudgeReward, by_reward),
}
