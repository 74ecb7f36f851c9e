"""A judge for verifiers: ``id = "judge_client_verifiers"`` in an entry of a task's ``judges``.

    [[env.taskset.task.judges]]
    id = "judge_client_verifiers"
    service_url = "http://judge:8080"
    rubric = "helpfulness"

A trace that could not be judged is not ok: it ends with a ``JudgeUnavailableError``, for retry
rules and for a trainer to drop. As a plain function, with settings from the environment:
``rewards = {judge = {fn = "judge_client_verifiers:judge"}}``.
"""

from __future__ import annotations

from judge_client_verifiers.config import ServiceJudgeConfig
from judge_client_verifiers.errors import JudgeUnavailableError
from judge_client_verifiers.service_judge import ServiceJudge, judge

__all__ = ["JudgeUnavailableError", "ServiceJudge", "ServiceJudgeConfig", "judge"]
