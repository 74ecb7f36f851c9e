"""A harness for verifiers that is one chat completion, without a program of its own."""

from __future__ import annotations

from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.runtimes import ProgramResult


class OneCall(vf.Harness[vf.HarnessConfig]):
    """Asks the model the task's prompt, and that is the rollout."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def setup(self, runtime: Any) -> None:
        """Nothing to install."""

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, *_: Any, **__: Any
    ) -> ProgramResult:
        """The call, by way of the interception server that records it."""
        asked = {"role": "user", "content": trace.task.data.prompt_text}
        async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
            answer = await http.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": [asked]},
            )
        return ProgramResult(int(answer.status_code != 200), "", answer.text)


__all__ = ["OneCall"]
