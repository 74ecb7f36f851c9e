"""Members of groups that form on the server, and their requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx

from judge_service.api.answers import JoinAnswer
from tests.harness import RunningService

TEXTS = ["4 a", "2 b", "5 c", "1 d"]


def body(number: int, text: str, **more: Any) -> dict[str, Any]:
    """One member's request; a prompt's group has its name unless another is given."""
    return {
        "group": str(more.get("prompt", "A question?")), "size": 4, "member": str(number),
        "rubric": "quality", "judges": ["main"], "prompt": "A question?", "deadline_s": 20.0,
        "timeout_s": 20.0, "candidate": {"text": text, "family": "x"}, **more,
    }  # fmt: skip


async def join(http: httpx.AsyncClient, member: int, text: str, **more: Any) -> dict[str, Any]:
    """The answer to one member."""
    answer = await http.post("/v1/groups/join", json=body(member, text, **more))
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()
    JoinAnswer.model_validate(data)
    assert (data["reward"] is None) == (data["status"] == "failed") == (data["error"] is not None)
    return data


def client(service: RunningService) -> httpx.AsyncClient:
    """A client of one service."""
    return httpx.AsyncClient(base_url=service.url, timeout=60.0, trust_env=False)


def all_join(*services: RunningService, texts: list[str] = TEXTS, **more: Any) -> list[Any]:
    """All members at once, spread over the services."""

    async def run() -> list[Any]:
        async with clients_of(services) as clients:
            return list(
                await asyncio.gather(
                    *(
                        join(clients[n % len(clients)], member=n, text=text, **more)
                        for n, text in enumerate(texts)
                    )
                )
            )

    return asyncio.run(run())


@asynccontextmanager
async def clients_of(services: Sequence[RunningService]) -> AsyncIterator[list[httpx.AsyncClient]]:
    """A client for each service."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(client(service)) for service in services]
