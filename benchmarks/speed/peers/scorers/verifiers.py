"""verifiers 0.4: its reusable ``Judge`` with a prompt and a reader, which opens a client a call."""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf


def make(asked: Any) -> Any:
    """Judge one pair with ``evaluate``."""
    scale = "\n".join(f"{n}: {means}" for n, means in enumerate(asked.points, 1))

    class Quality(vf.Judge[float]):
        prompt = (
            "Question:\n{question}\n\nResponse:\n{response}\n\n"
            f"{asked.question} Say in a sentence why, then give the number of one of these on the "
            f"last line:\n{scale}"
        )

        def parse(self, response: Any) -> float:
            return int(response.text.rpartition("\n")[2])

    config = vf.JudgeConfig(
        model=asked.model,
        base_url=asked.base_url,
        api_key_var="SPEED_API_KEY",
        sampling=vf.SamplingConfig(temperature=0.0, max_tokens=1024),
    )
    quality = Quality(config)

    async def judge(prompt: str, candidate: str) -> float:
        return (await quality.evaluate(question=prompt, response=candidate)).parsed

    return judge
