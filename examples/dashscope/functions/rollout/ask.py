"""A rollout of one turn: the policy answers, and what went wrong is said."""

import math
import time
from typing import Any

import httpx
from dashscope.finetune.reinforcement import (
    AbstractRolloutProcessor,
    AgentOutput,
    RolloutInput,
    RolloutOutput,
    TaskStatus,
)

TIMEOUT_S = 300.0


class AskPolicy(AbstractRolloutProcessor):
    """Asks the model under training, at any OpenAI-compatible address."""

    async def setup(self) -> None:
        """One pool of connections for each worker process."""
        self._http = httpx.AsyncClient()

    async def process(self, input_data: RolloutInput) -> RolloutOutput:
        """The messages with the policy's answer; FAILED with the reason where there is none."""
        started = time.monotonic()
        try:
            turn = await self._answer(input_data)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError) as error:
            return RolloutOutput(
                agent_output=AgentOutput(messages=[]),
                status=TaskStatus.FAILED,
                error=f"the policy did not answer: {type(error).__name__}: {error}"[:300],
            )
        output = AgentOutput(
            messages=[*input_data.messages, turn],
            # The reward sees of the data what the rollout passes on.
            rollout_extra=input_data.rollout_extra,
            rollout_metrics={
                "latency_s": round(time.monotonic() - started, 3),
                "length_chars": float(len(turn["content"])),
            },
            reward_score=exact(turn["content"], input_data.ground_truth),
        )
        return RolloutOutput(agent_output=output, status=TaskStatus.SUCCESS)

    async def _answer(self, input_data: RolloutInput) -> dict[str, Any]:
        params = input_data.sampling_params or {}
        model = input_data.model_resource
        answer = await self._http.post(
            f"{model.base_url.rstrip('/')}/chat/completions",
            headers={"Authorization": f"Bearer {model.api_key.get_secret_value()}"},
            json={
                "model": model.model_name,
                "messages": input_data.messages,
                "temperature": params.get("temperature", 0.7),
                "max_tokens": params.get("max_tokens", 256),
            },
            timeout=_seconds(params.get("timeout")),
        )
        answer.raise_for_status()
        choice = answer.json()["choices"][0]
        content = choice["message"]["content"]
        if not isinstance(content, str):
            raise ValueError("an answer without text")
        # How the turn ended goes along: an answer that was cut off is a hard rule of most rubrics.
        finish_reason = choice.get("finish_reason") or "stop"
        return {"role": "assistant", "content": content, "finish_reason": finish_reason}


def exact(answer: str, ground_truth: object) -> float | None:
    """Inline scoring: 1.0 or 0.0 where there is a text to be found, None where there is none."""
    if ground_truth in (None, ""):
        return None
    return float(str(ground_truth) in answer)


def _seconds(value: object) -> float:
    right = isinstance(value, (int, float)) and math.isfinite(value) and value > 0
    return min(float(value), TIMEOUT_S) if right else TIMEOUT_S  # type: ignore[arg-type]
