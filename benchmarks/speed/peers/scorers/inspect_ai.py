"""Inspect: its scorer ``model_graded_qa``, called on finished samples outside an evaluation."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from inspect_ai.scorer import Target, model_graded_qa
from inspect_ai.solver import TaskState


def make(asked: Any) -> Any:
    """Judge one pair; the grade is a number from 1 to 5."""
    model = get_model(
        f"openai-api/speed/{asked.model}",
        base_url=asked.base_url,
        api_key=asked.api_key,
        config=GenerateConfig(max_connections=asked.in_flight, temperature=0.0, max_tokens=1024),
    )
    scale = "\n".join(f"{n}: {means}" for n, means in enumerate(asked.points, 1))
    score = model_graded_qa(
        instructions=f"{asked.question}\n{scale}\nSay in a sentence why, then 'GRADE: $NUMBER'.",
        grade_pattern=r"GRADE:\s*([1-5])",
        model=model,
    )

    async def judge(prompt: str, candidate: str) -> float:
        state = TaskState(
            model="policy/none",
            sample_id=1,
            epoch=1,
            input=prompt,
            messages=[],
            output=ModelOutput.from_content("policy/none", candidate),
        )
        return int((await score(state, Target(""))).value)

    return judge
