"""OpenJudge: an ``LLMGrader`` with a template of its own, over its OpenAI chat model."""

from __future__ import annotations

from typing import Any

from openjudge.graders.llm_grader import LLMGrader
from openjudge.models.openai_chat_model import OpenAIChatModel


def make(asked: Any) -> Any:
    """Judge one pair with ``aevaluate``."""
    scale = "\n".join(f"{n}: {means}" for n, means in enumerate(asked.points, 1))
    grader = LLMGrader(
        model=OpenAIChatModel(
            model=asked.model, api_key=asked.api_key, base_url=asked.base_url, temperature=0.0
        ),
        name="quality",
        template=(
            f"{asked.question}\n{scale}\n\nQuestion:\n{{query}}\n\nResponse:\n{{response}}\n\n"
            'Reply with JSON only: {{"reason": "<why>", "score": <1 to 5>}}'
        ),
    )

    async def judge(prompt: str, candidate: str) -> float:
        return (await grader.aevaluate(query=prompt, response=candidate)).score

    return judge
