"""Several dimensions, one reward: all of them, or none."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from judge_client._dashscope.configured import is_share
from judge_client._dashscope.outputs import NoReward, explained, success
from judge_client._dashscope.reward import JudgeRewardProcessor
from judge_client._dashscope.sdk import RewardInput, RewardOutput
from judge_client.errors import ConfigError
from judge_client.turns import Conversation

Score = Callable[[RewardInput], float | Awaitable[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One dimension: judged on a ``rubric``, or computed by a function ``score`` of the input,
    which gives a number in [0, 1] and raises where it cannot. ``weight`` is its share.
    """

    weight: float
    rubric: str | None = None
    score: Score | None = None


class JudgeMultiRewardProcessor(JudgeRewardProcessor):
    """Scores by several dimensions at once; the weights sum to 1.

    One dimension without a score fails the whole: a reward with a part missing would be another
    reward. The others' verdicts stay in the service's cache for the next try.
    """

    dimensions: ClassVar[Mapping[str, Dimension]] = {}

    def _rubrics(self) -> list[str]:
        check(self.dimensions)
        return sorted({d.rubric for d in self.dimensions.values() if d.rubric is not None})

    async def judged(self, input_data: RewardInput) -> RewardOutput:
        """The weighted sum of all dimensions, each a metric of its own. Raises where one failed."""
        check(self.dimensions)
        talk = self._conversation(input_data.agent_output)
        names = list(self.dimensions)
        parts = await asyncio.gather(
            *(self._part(self.dimensions[name], input_data, talk) for name in names)
        )
        found = dict(zip(names, parts, strict=True))
        failed = {name: part for name, part in found.items() if isinstance(part, NoReward)}
        if failed:
            told = "; ".join(f"{name}: {error}" for name, error in failed.items())
            raise NoReward(next(iter(failed.values())).code, f"no score for {told}")
        scores = {name: part for name, part in found.items() if isinstance(part, float)}
        total = math.fsum(self.dimensions[name].weight * score for name, score in scores.items())
        return success(min(total, 1.0), scores)

    async def _part(
        self, dimension: Dimension, input_data: RewardInput, talk: Conversation
    ) -> float | NoReward:
        try:
            if dimension.score is not None:
                return await self._computed(dimension.score, input_data)
            reference = self._reference(
                input_data.ground_truth, input_data.agent_output.rollout_extra
            )
            return (await self._assess(talk, reference, dimension.rubric)).reward
        except Exception as error:  # noqa: BLE001 - one dimension's failure waits for the others
            return NoReward(*explained(error))

    async def _computed(self, score: Score, input_data: RewardInput) -> float:
        found = score(input_data)
        if inspect.isawaitable(found):
            found = await asyncio.wait_for(found, self._client.settings.timeout_s)
        # Yes and no are scores here, for a function that checks something.
        score_found = float(found) if isinstance(found, bool) else found
        if not is_share(score_found):
            raise NoReward("off_scale", "a score that is no number in [0, 1]")
        return float(score_found)


def check(dimensions: Mapping[str, Dimension]) -> None:
    """Raises ConfigError when the dimensions cannot make a reward in [0, 1]."""
    if not dimensions:
        raise ConfigError("dimensions: none; set the class attribute")
    for name, dimension in dimensions.items():
        if (dimension.rubric is None) == (dimension.score is None):
            raise ConfigError(f"dimensions: {name!r} needs a rubric or a score, not both")
        if not is_share(dimension.weight):
            raise ConfigError(f"dimensions: the weight of {name!r} is not in [0, 1]")
    total = math.fsum(dimension.weight for dimension in dimensions.values())
    if abs(total - 1.0) > 1e-6:
        raise ConfigError(f"dimensions: the weights sum to {total:g}, not to 1")
