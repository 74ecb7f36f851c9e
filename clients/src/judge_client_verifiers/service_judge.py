"""The plugin: one reward in [0, 1] for each trace, or an error on it."""

from __future__ import annotations

from typing import Any

from judge_client import shared
from judge_client.requests import Join, Request
from judge_client.results import Assessed, Joined
from judge_client.rollouts import assess_of, candidate_of, metrics_of
from judge_client.rows import Row

from judge_client_verifiers.config import ServiceJudgeConfig
from judge_client_verifiers.errors import JudgeUnavailableError
from judge_client_verifiers.framework import Judge
from judge_client_verifiers.traces import row_of_trace, told_by


class ServiceJudge(Judge[float, ServiceJudgeConfig]):
    """Assesses a trace on a rubric of a judge_service, or ranks the traces of a task (with
    ``group_size``).

    It records the metrics ``<reward>/judge_failed`` and its neighbours, the same for every trace,
    and the service's whole answer in ``trace.info["judge_service"]``.
    """

    async def score(self, task: Any, trace: Any) -> float:
        """The reward. Raises JudgeUnavailableError where there is none, and RequestRefused for
        mistakes.
        """
        name = self.reward_name
        self._record(trace, metrics_of(None))
        settings = self.config.settings()
        client = shared.client_of(settings)
        row = row_of_trace(task, trace, self.config.reference_field)
        result = await client.ask(self._request(row, trace, told_by(trace, settings)))
        self._record(trace, metrics_of(result))
        trace.info.setdefault("judge_service", {})[name] = dict(result.raw)
        if not isinstance(result, (Assessed, Joined)):
            raise JudgeUnavailableError.of(result.error)
        return result.reward

    def _request(self, row: Row, trace: Any, told: dict[str, Any]) -> Request[Any]:
        if self.config.group_size is None:
            return assess_of(row, **told)
        return Join(
            group=str(trace.task.key or trace.task.hash),
            size=self.config.group_size,
            member=str(trace.id),
            run=self.config.run,
            prompt=row.prompt or "",
            candidate=candidate_of(row, **told),
            reference=row.reference,
        )

    def _record(self, trace: Any, metrics: dict[str, float]) -> None:
        trace.record_metrics({f"{self.reward_name}/{name}": n for name, n in metrics.items()})


async def judge(task: Any, trace: Any) -> float:
    """The same as a plain reward function, with all settings from the environment."""
    return await ServiceJudge(ServiceJudgeConfig(name="judge")).score(task, trace)
