"""One agent output, one reward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from judge_client._dashscope.configured import SETUP_CHECK_S, Configured, is_share
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
from judge_client.results import Assessed, Failure
from judge_client.shared import yes_or_no
from judge_client.turns import Conversation, conversation

_BASE = ("rule_score", "model_score", "agreement", "short_circuited", "length_chars")
_CRITERION = "criterion/"
"""The metrics that are told, beside one for each criterion: a curve for each."""


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
        self._criteria: tuple[str, ...] | None = None

    def _check(self) -> None:
        super()._check()
        if not is_share(self.preset_weight):
            raise ConfigError("preset_weight: not a number in [0, 1]")
        yes_or_no("preset_gate", self.preset_gate)

    async def process(self, input_data: RewardInput) -> RewardOutput:
        """The reward of one agent output; no exception leaves."""
        try:
            return await self.judged(input_data)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a 500 would cost two more judgements, and the reason
            return failure(error)

    async def judged(self, input_data: RewardInput) -> RewardOutput:
        """The reward. Raises where there is none."""
        output = input_data.agent_output
        talk = self._conversation(output)
        preset = self._preset(output)
        if preset == 0 and self.preset_gate:
            return success(0.0, await self._metrics({"short_circuited": 1.0}))
        result = await self._assess(
            talk, self._reference(input_data.ground_truth, output.rollout_extra)
        )
        score = result.reward
        if preset is not None and not result.short_circuited:
            score = self.preset_weight * preset + (1 - self.preset_weight) * score
        return success(score, await self._metrics(result.metrics))

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
        if shown.get("kind") == "compare":
            raise ConfigError(f"rubric: {rubric!r} compares, and one answer has nobody beside it")
        listed = shown.get("criteria")
        criteria = listed if isinstance(listed, list) else []
        named = [criterion.get("name") for criterion in criteria if isinstance(criterion, dict)]
        self._criteria = tuple(_CRITERION + name for name in named if isinstance(name, str))

    async def _metrics(self, metrics: Mapping[str, float]) -> dict[str, float]:
        """The metrics of a success: the same names every time, also where no judge was asked."""
        told = tuple(name for name in metrics if name.startswith(_CRITERION))
        if told or (self._criteria is None and not metrics.get("short_circuited")):
            # What the service says now: a rubric may change while this server runs.
            self._criteria = told
        if self._criteria is None and self.check_rubric:
            # The service was not there at the start, and has not said the names since.
            for rubric in self._rubrics():
                shown = await self._client.rubric(rubric, timeout_s=SETUP_CHECK_S)
                if not isinstance(shown, Failure):
                    self._learn(rubric, shown)
        names = (*_BASE, *(self._criteria or ()))
        return {name.replace("/", "."): metrics.get(name, 0.0) for name in names}
