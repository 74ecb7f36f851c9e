"""Requests as trainers send them, and their answers, checked whole."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from tests.harness import RunningService, new_prompt
from tests.http_api import strict_json

REWARDS = {1: 0.0, 2: 0.25, 3: 0.5, 4: 0.75, 5: 1.0}
DROP = "on_fail=drop&filtering=on"


def chatml(question: str, system: str = "Be brief.") -> str:
    """A prompt as trainers send it: the template applied, the assistant's turn open."""
    return (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def queries(
    texts: Sequence[str], *, prompt: str | None = None, labels: Sequence[Any] | None = None
) -> dict[str, Any]:
    """OpenRLHF's body: responses to one prompt, with the token that ended them."""
    templated = chatml(prompt or new_prompt())
    return {
        "query": [f"{templated}{text}<|im_end|>" for text in texts],
        "prompts": [templated for _ in texts],
        "labels": list(labels) if labels is not None else [None for _ in texts],
    }


def openrlhf_url(rubric: str = "quality", query: str = "") -> str:
    """The address of OpenRLHF's rewards."""
    return f"/adapters/openrlhf/{rubric}/get_reward?{query}"


def openrlhf(
    service: RunningService, body: Mapping[str, Any], rubric: str = "quality", query: str = ""
) -> dict[str, list[float]]:
    """The answer to lists: as long as the request's, all numbers finite."""
    answer = checked(service.http.post(openrlhf_url(rubric, query), json=body))
    length = len(body["query"])
    assert set(answer) == {"rewards", "scores", "extra_logs"}
    lists = [answer["rewards"], answer["scores"], *answer["extra_logs"].values()]
    for values in lists:
        assert len(values) == length
        assert all(isinstance(value, float) and math.isfinite(value) for value in values)
    return {**answer["extra_logs"], "rewards": answer["rewards"], "scores": answer["scores"]}


def checked(answer: httpx.Response) -> Any:
    """The JSON of HTTP 200; NaN fails."""
    assert answer.status_code == 200, answer.text[:500]
    return strict_json(answer)


def rollout(text: str, prompt: str | None = None, **more: Any) -> dict[str, Any]:
    """NeMo Gym's body."""
    return {
        "responses_create_params": {
            "input": [{"role": "user", "content": prompt or new_prompt()}], "temperature": 1.0,
        },
        "response": {
            "id": "resp_1", "object": "response", "created_at": 1.0, "model": "policy",
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
            "output": [{"id": "msg_1", "type": "message", "role": "assistant",
                        "status": "completed",
                        "content": [{"type": "output_text", "text": text, "annotations": []}]}],
        },
        **more,
    }  # fmt: skip


class Clock:
    """How long a block took, in seconds."""

    def __enter__(self) -> Clock:
        """Start."""
        self._began = time.monotonic()
        self.seconds = 0.0
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.seconds = time.monotonic() - self._began
