"""slime as far as a reward function and a filter see it: samples, and the loop of a rollout.

It follows slime 0.3.1; on PyPI another package has that name, so there is none to install.
"""

from __future__ import annotations

import asyncio
import importlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Status(Enum):
    """How a sample's generation ended."""

    COMPLETED = "completed"
    TRUNCATED = "truncated"
    ABORTED = "aborted"
    FAILED = "failed"


@dataclass
class Sample:
    """What slime hands out."""

    prompt: Any = ""
    response: str = ""
    label: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    status: Status = Status.COMPLETED
    reward: Any = None
    remove_sample: bool = False
    group_index: int | None = None
    index: int | None = None


@dataclass
class Args:
    """Of slime's arguments those that matter here."""

    group_rm: bool = True
    custom_rm_path: str = "judge_client.slime.group_rm"
    dynamic_sampling_filter_path: str | None = "judge_client.slime.drop_failed_groups"
    reward_key: str | None = None
    eval_reward_key: str | None = None


@dataclass
class DynamicFilterOutput:
    """slime's answer of a filter."""

    keep: Any
    reason: str | None = None
    keep_when_insufficient: bool = False


def load(path: str) -> Any:
    """A function at an import path, as slime loads it."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def value(args: Args, sample: Sample) -> float:
    """The number that training takes from a sample."""
    reward = sample.reward[args.reward_key] if args.reward_key else sample.reward
    # Here slime makes a tensor, for which None is an error.
    if reward is None:
        raise TypeError("must be real number, not NoneType")
    return float(reward)


async def rewarded(args: Args, group: list[Sample]) -> list[Sample]:
    """A group with its rewards."""
    function = load(args.custom_rm_path)
    if args.group_rm:
        rewards = await function(args, group)
    else:
        rewards = await asyncio.gather(*(function(args, sample) for sample in group))
    for sample, reward in zip(group, rewards, strict=False):
        sample.reward = reward
    return group


def rollout(args: Args, groups: Sequence[list[Sample]]) -> tuple[list[list[float]], dict[str, int]]:
    """What training takes from each group that is kept, and how many were dropped for what."""

    async def run() -> list[list[Sample]]:
        return list(await asyncio.gather(*(rewarded(args, group) for group in groups)))

    kept, drops = [], Counter[str]()
    path = args.dynamic_sampling_filter_path
    for group in asyncio.run(run()):
        output = load(path)(args, group) if path else DynamicFilterOutput(keep=True)
        if not isinstance(output, DynamicFilterOutput):
            output = DynamicFilterOutput(keep=output)
        if output.keep:
            kept.append([value(args, sample) for sample in group])
        else:
            drops[f"rollout/dynamic_filter/drop_{output.reason}"] += 1
    return kept, dict(drops)
