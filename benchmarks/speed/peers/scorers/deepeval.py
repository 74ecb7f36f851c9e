"""DeepEval: ``GEval`` with written steps, so one call, over its model for local endpoints."""

from __future__ import annotations

from typing import Any

from deepeval.metrics import GEval
from deepeval.metrics.g_eval import Rubric
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase, SingleTurnParams


def make(asked: Any) -> Any:
    """Judge one pair with ``a_measure``; a metric holds its result, so each pair has its own."""
    model = LocalModel(
        model=asked.model, api_key=asked.api_key, base_url=asked.base_url, temperature=0.0
    )
    rubric = [
        Rubric(score_range=(n, n), expected_outcome=means)
        for n, means in enumerate(asked.points, 1)
    ]

    async def judge(prompt: str, candidate: str) -> float:
        metric = GEval(
            name="quality",
            evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
            evaluation_steps=[asked.question],
            rubric=rubric,
            model=model,
        )
        case = LLMTestCase(input=prompt, actual_output=candidate)
        scored = await metric.a_measure(case, _show_indicator=False)
        return 1 + scored * 4

    return judge
