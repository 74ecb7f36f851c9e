"""Several dimensions, one reward: all of them, or none."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from judge_client import settings
from judge_client._dashscope.configured import is_share
from judge_client._dashscope.outputs import NoReward, explained, success
from judge_client._dashscope.reward import JudgeRewardProcessor
from judge_client._dashscope.sdk import RewardInput, RewardOutput
from judge_client.errors import ConfigError
from judge_client.shared import yes_or_no
from judge_client.turns import Conversation

SHORT_CIRCUITED = "short_circuited"
Score = Callable[[RewardInput], float | Awaitable[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One dimension: judged on a ``rubric``, or computed by a function ``score`` of the input,
    which gives a number in [0, 1] and raises where it cannot. ``weight`` is its share.
    ``use_reference`` is false for a rubric that takes none.
    """

    weight: float
    rubric: str | None = None
    score: Score | None = None
    use_reference: bool = True


class JudgeMultiRewardProcessor(JudgeRewardProcessor):
    """Scores by several dimensions at once; the weights sum to 1.

    One dimension without a score fails the whole: a reward with a part missing would be another
    reward. The others' verdicts stay in the service's cache for the next try.

    A hard rule of any of the rubrics (an empty answer, a refusal, …) makes the whole 0: no other
    dimension may pay for what must not be. A rollout's ``reward_score`` counts as a dimension
    whose ``score`` is a function that returns it, not as a preset.
    """

    dimensions: ClassVar[Mapping[str, Dimension]] = {}

    def _check(self) -> None:
        super()._check()
        check(self.dimensions)
        if self.preset_weight or self.preset_gate:
            raise ConfigError(
                "preset_weight, preset_gate: of one rubric; let a dimension's score be "
                "lambda given: given.agent_output.reward_score"
            )

    def _rubrics(self) -> list[str]:
        return sorted({d.rubric for d in self.dimensions.values() if d.rubric is not None})

    async def judged(self, input_data: RewardInput) -> RewardOutput:
        """The weighted sum of all dimensions, each a metric of its own beside
        ``short_circuited``. Raises where one failed.
        """
        self._check()
        talk = self._conversation(input_data.agent_output)
        names = list(self.dimensions)
        results = await asyncio.gather(
            *(self._part(self.dimensions[name], input_data, talk) for name in names)
        )
        found = dict(zip(names, results, strict=True))
        failed = {name: part for name, part in found.items() if isinstance(part, NoReward)}
        if failed:
            told = "; ".join(f"{name}: {error}" for name, error in failed.items())
            raise NoReward(next(iter(failed.values())).code, f"no score for {told}")
        parts = {name: part for name, part in found.items() if isinstance(part, _Part)}
        ended = any(part.short_circuited for part in parts.values())
        metrics = {name: part.score for name, part in parts.items()}
        return success(
            0.0 if ended else weighted(self.dimensions, metrics),
            {SHORT_CIRCUITED: float(ended), **metrics},
        )

    async def _part(
        self, dimension: Dimension, input_data: RewardInput, talk: Conversation
    ) -> _Part | NoReward:
        try:
            if dimension.score is not None:
                return _Part(score=await self._computed(dimension.score, input_data))
            reference = None
            if dimension.use_reference:
                extra = input_data.agent_output.rollout_extra
                reference = self._reference(input_data.ground_truth, extra)
            found = await self._assess(talk, reference, dimension.rubric)
            return _Part(score=found.reward, short_circuited=found.short_circuited)
        # One dimension's failure waits for the others; an exit would end the SDK's server.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            return NoReward(*explained(error))

    async def _computed(self, score: Score, input_data: RewardInput) -> float:
        found = score(input_data)
        if inspect.isawaitable(found):
            found = await asyncio.wait_for(_contained(found), self._client.settings.timeout_s)
        # Yes and no are scores here, for a function that checks something.
        score_found = float(found) if isinstance(found, bool) else found
        if not is_share(score_found):
            raise NoReward("off_scale", "a score that is no number in [0, 1]")
        return float(score_found)


async def _contained(score: Awaitable[float]) -> float:
    """The score; what exits fails here, for a loop passes an exit of a task on to its server."""
    try:
        return await score
    except SystemExit as error:
        raise NoReward(*explained(error)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One dimension's score, in [0, 1], and whether a hard rule gave it."""

    score: float
    short_circuited: bool = False


def weighted(dimensions: Mapping[str, Dimension], scores: Mapping[str, float]) -> float:
    """The mean of all scores by their weights, which sum to 1 but for rounding, in [0, 1]."""
    total = math.fsum(dimensions[name].weight * score for name, score in scores.items())
    return total / math.fsum(dimension.weight for dimension in dimensions.values())


def check(dimensions: Any) -> None:
    """Raises ConfigError when the dimensions cannot make a reward in [0, 1]."""
    if not isinstance(dimensions, Mapping) or not dimensions:
        raise ConfigError("dimensions: none; set the class attribute, names with a Dimension each")
    for name, dimension in dimensions.items():
        if not isinstance(name, str) or not isinstance(dimension, Dimension):
            raise ConfigError(f"dimensions: {str(name)[:40]!r} is no name with a Dimension")
        if name == SHORT_CIRCUITED:
            raise ConfigError(f"dimensions: {name!r} is another metric's name")
        if (dimension.rubric is None) == (dimension.score is None):
            raise ConfigError(f"dimensions: {name!r} needs a rubric or a score, not both")
        if not is_share(dimension.weight):
            raise ConfigError(f"dimensions: the weight of {name!r} is not in [0, 1]")
        if dimension.score is not None and not callable(dimension.score):
            raise ConfigError(f"dimensions: the score of {name!r} is no function")
        yes_or_no(f"dimensions: use_reference of {name!r}", dimension.use_reference)
        settings.load(rubric=dimension.rubric, environ={})
    total = math.fsum(dimension.weight for dimension in dimensions.values())
    if abs(total - 1.0) > 1e-6:
        raise ConfigError(f"dimensions: the weights sum to {total:g}, not to 1")
