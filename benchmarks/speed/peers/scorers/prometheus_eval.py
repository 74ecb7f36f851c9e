"""prometheus-eval: ``absolute_grade`` over its asynchronous LiteLLM model, in batches."""

from __future__ import annotations

import asyncio
from typing import Any

import uvloop
from prometheus_eval import PrometheusEval
from prometheus_eval.litellm import AsyncLiteLLM
from prometheus_eval.prompts import ABSOLUTE_PROMPT_WO_REF, SCORE_RUBRIC_TEMPLATE

UNLIMITED = 10_000_000


def make(asked: Any) -> Any:
    """Judge a list; the rate limit that is on by default is as good as off."""
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    model = AsyncLiteLLM(
        f"openai/{asked.model}",
        batch_size=asked.in_flight,
        requests_per_minute=UNLIMITED,
        api_base=asked.base_url,
    )
    grader = PrometheusEval(model=model, absolute_grade_template=ABSOLUTE_PROMPT_WO_REF)
    texts = {f"score{n}_description": means for n, means in enumerate(asked.points, 1)}
    rubric = SCORE_RUBRIC_TEMPLATE.format(criteria=asked.question, **texts)

    def judge(pairs: list[tuple[str, str]]) -> list[float]:
        prompts, candidates = zip(*pairs, strict=True)
        _, scores = grader.absolute_grade(
            instructions=list(prompts), responses=list(candidates), rubric=rubric
        )
        return scores

    return judge
