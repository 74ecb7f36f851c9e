"""verifiers before 0.4: a ``JudgeRubric`` with one AsyncOpenAI client for all calls."""

from __future__ import annotations

from typing import Any

import verifiers
from openai import AsyncOpenAI

PROMPT = """Question:
{question}

Response:
{response}

%s Say in a sentence why, then give the number of one of these on the last line:
%s"""


def make(asked: Any) -> Any:
    """Judge one pair with the rubric's own ``judge``."""
    scale = "\n".join(f"{n}: {means}" for n, means in enumerate(asked.points, 1))
    rubric = verifiers.JudgeRubric(
        judge_client=AsyncOpenAI(base_url=asked.base_url, api_key=asked.api_key),
        judge_model=asked.model,
        judge_sampling_args={"temperature": 0.0, "max_tokens": 1024},
        judge_prompt=PROMPT % (asked.question, scale),
    )

    async def judge(prompt: str, candidate: str) -> float:
        said = await rubric.judge(
            [{"role": "user", "content": prompt}],
            [{"role": "assistant", "content": candidate}],
            "",
            {},
        )
        return int(said.rpartition("\n")[2])

    return judge
