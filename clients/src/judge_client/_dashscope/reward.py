"""One agent output, one reward."""

from __future__ import annotations

from typing import Any, ClassVar

from judge_client._dashscope.configured import Configured, is_share
from judge_client._dashscope.outputs import NoReward, failure, success
from judge_client._dashscope.sdk import (
    AbstractRewardProcessor,
    AgentOutput,
    RewardInput,
    RewardOutput,
)
from judge_client.candidate import Candidate
from judge_client.errors import ConfigError
from judge_client.requests import Assess
from judge_client.results import Assessed
from judge_client.turns import Conversation, conversation

_BASE = ("rule_score", "model_score", "agreement", "short_circuited", "length_chars")
UNTOLD = frozenset({"judge_failed", "cached", "length_factor"})
"""Metrics that say nothing about a success, or little; a curve for each of the rest."""


class JudgeRewardProcessor(Configured, AbstractRewardProcessor):
    """Assesses an agent's last turn (or its trajectory, where the rubric says so) on a rubric.

    A verdict, and a failed rule, are ``SUCCESS`` with a score in [0, 1]; whatever kept a verdict
    away is ``FAILED`` with its reason, for the framework to try again or to drop.

    ``preset_weight`` lets the rollout's own ``reward_score`` count as a rule score:
    ``preset_weight · reward_score + (1 - preset_weight) · reward``, and 0 where a hard rule of the
    rubric failed. With ``preset_gate`` a ``reward_score`` of 0 is such a hard rule, for which no
    judge is asked.
    """

    preset_weight: ClassVar[float] = 0.0
    preset_gate: ClassVar[bool] = False

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self.configure(given)
        self._metric_names: tuple[str, ...] = _BASE

    async def setup(self) -> None:
        """Check the settings. Raises ConfigError and RequestRefused."""
        if not is_share(self.preset_weight):
            raise ConfigError("preset_weight: not a number in [0, 1]")
        await super().setup()

    async def process(self, input_data: RewardInput) -> RewardOutput:
        """The reward of one agent output; no exception leaves."""
        try:
            return await self.judged(input_data)
        except Exception as error:  # noqa: BLE001 - a 500 would cost two more judgements, and the reason
            return failure(error)

    async def judged(self, input_data: RewardInput) -> RewardOutput:
        """The reward. Raises where there is none."""
        output = input_data.agent_output
        talk = self._conversation(output)
        preset = self._preset(output)
        if preset == 0 and self.preset_gate:
            return success(0.0, self._metrics({"short_circuited": 1.0}))
        result = await self._assess(
            talk, self._reference(input_data.ground_truth, output.rollout_extra)
        )
        score = result.reward
        if preset is not None and not result.short_circuited:
            score = self.preset_weight * preset + (1 - self.preset_weight) * score
        return success(score, self._metrics(result.metrics))

    def _conversation(self, output: AgentOutput) -> Conversation:
        talk = conversation(output.messages, self.rollout_error_marker)
        if talk.error is not None:
            raise NoReward("rollout_failed", f"the rollout failed: {talk.error}")
        return talk

    async def _assess(
        self, talk: Conversation, reference: str | None, rubric: str | None = None
    ) -> Assessed:
        request = Assess(
            prompt=talk.prompt or "",
            candidate=Candidate(messages=talk.turns, finish_reason=talk.finish_reason),
            reference=reference,
            rubric=rubric,
        )
        result = await self._client.ask(request)
        if not isinstance(result, Assessed):
            raise NoReward(result.error.code, f"{result.error.code}: {result.error.message}")
        return result

    def _preset(self, output: AgentOutput) -> float | None:
        """The rollout's own score, where it counts. Raises NoReward when it is not there."""
        if not self.preset_weight and not self.preset_gate:
            return None
        score = output.reward_score
        if score is None or not is_share(score):
            raise NoReward("no_preset", "the rollout set no reward_score in [0, 1]")
        return float(score)

    def _learn(self, rubric: str, shown: dict[str, Any]) -> None:
        listed = shown.get("criteria")
        criteria = listed if isinstance(listed, list) else []
        names = [criterion.get("name") for criterion in criteria if isinstance(criterion, dict)]
        self._metric_names = (*_BASE, *(f"criterion/{name}" for name in names))

    def _metrics(self, metrics: Any) -> dict[str, float]:
        """The metrics of a success: the same names every time, also where no judge was asked."""
        if len(metrics) > len(self._metric_names):
            self._metric_names = tuple(metrics)
        names = [name for name in self._metric_names if name not in UNTOLD]
        return {name.replace("/", "."): metrics.get(name, 0.0) for name in names}
