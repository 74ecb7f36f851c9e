"""Members of cohorts as clients post them, in this process or in others."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import httpx

TEXTS = [f"{1 + n % 5} text {n}" for n in range(8)]
POINTS = [n % 5 / 4 for n in range(8)]
PAUSE_S = 0.3
TRIES = 200


async def join(http: httpx.AsyncClient, url: str, number: int, **more: Any) -> dict[str, Any]:
    """The answer to one member of eight; tried again where the connection is lost."""
    body = {
        "group": more.get("prompt"), "size": 8, "member": str(number), "rubric": "quality",
        "candidate": {"text": TEXTS[number], "family": "x"}, "deadline_s": 30.0,
        "timeout_s": 30.0, **more,
    }  # fmt: skip
    answer = await posted(http, [f"{url}/v1/groups/join"], body)
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()
    return data


async def posted(http: httpx.AsyncClient, urls: Sequence[str], body: Any) -> httpx.Response:
    """The answer to a post; where a connection is lost it is posted again, to the next address."""
    for number in range(TRIES):
        try:
            return await http.post(urls[number % len(urls)], json=body)
        except httpx.TransportError:
            await asyncio.sleep(PAUSE_S)
    raise AssertionError("nobody answers")


def client() -> httpx.AsyncClient:
    """A client that opens a connection for each request."""
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=0)
    return httpx.AsyncClient(trust_env=False, timeout=60.0, limits=limits)


async def _share(url: str, numbers: Sequence[int], more: dict[str, Any]) -> list[Any]:
    async with client() as http:
        return list(await asyncio.gather(*(join(http, url, n, **more) for n in numbers)))


def share(url: str, numbers: Sequence[int], more: dict[str, Any]) -> list[Any]:
    """What one process brings: its members, to one replica."""
    return asyncio.run(_share(url, numbers, more))


def from_two_processes(urls: Sequence[str], **more: Any) -> list[dict[str, Any]]:
    """All eight, four of them from each of two processes, each to a replica of its own."""
    halves = [range(0, 8, 2), range(1, 8, 2)]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as processes:
        found = [
            processes.submit(share, url, half, more) for url, half in zip(urls, halves, strict=True)
        ]
        shares = [one.result(timeout=90) for one in found]
    return [shares[n % 2][n // 2] for n in range(8)]
