"""autorubric: a ``CriterionGrader`` with one ordinal criterion of five options."""

from __future__ import annotations

from typing import Any

from autorubric import Criterion, CriterionOption, LLMConfig, Rubric
from autorubric.graders import CriterionGrader


def make(asked: Any) -> Any:
    """Judge one pair with the rubric's ``grade``, options in their order."""
    grader = CriterionGrader(
        judge_model_config=LLMConfig(
            model=f"openai/{asked.model}",
            api_base=asked.base_url,
            api_key=asked.api_key,
            temperature=0.0,
            max_tokens=1024,
        ),
        shuffle_options=False,
    )
    options = [CriterionOption(label=means, value=n / 4) for n, means in enumerate(asked.points)]
    rubric = Rubric([Criterion(name="quality", requirement=asked.question, options=options)])

    async def judge(prompt: str, candidate: str) -> float:
        graded = await rubric.grade(candidate, grader, query=prompt)
        return 1 + graded.score * 4

    return judge
