"""A client that behaves like OpenRLHF's: five tries a second apart, whatever the answer was."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, faults
from tests.trainers.support import DROP, openrlhf_url, queries

# LiteLLM prepares a call in a thread; one that is given up meanwhile is never begun.
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)

TRIES, PAUSE_S, TIMEOUT_S = 5, 1.0, 180.0
AWAY_S = 3.0


async def fetch(url: str, body: dict[str, Any], pause_s: float = PAUSE_S) -> Any:
    """The answer, or None when all tries were in vain. ``url`` is the whole address."""
    for _ in range(TRIES):
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S) as http:
                answer = await http.post(url, json=body)
                answer.raise_for_status()
                return answer.json()
        except httpx.HTTPError:
            await asyncio.sleep(pause_s)
    return None


def fetch_all(
    service: RunningService, texts: Sequence[str], query: str = "", pause_s: float = PAUSE_S
) -> list[Any]:
    """Every response by itself, all at once."""
    url = f"{service.url}{openrlhf_url(query=query)}"

    async def run() -> list[Any]:
        return list(await asyncio.gather(*(fetch(url, queries([t]), pause_s) for t in texts)))

    return asyncio.run(run())


def test_eight_at_once(service: RunningService, provider: FakeProvider) -> None:
    """Each response has its own reward, zero included."""
    found = fetch_all(service, [f"{1 + n % 5} x" for n in range(8)])

    assert [one["rewards"] for one in found] == [[(n % 5) / 4] for n in range(8)]


def test_a_judge_that_is_away_for_a_while(service: RunningService, provider: FakeProvider) -> None:
    """The client notices nothing: its first try is held until the judge is back."""
    back = time.monotonic() + AWAY_S
    provider.behave(
        "main",
        behaviours.when(
            lambda _: time.monotonic() < back, faults.status_error(503), behaviours.honest()
        ),
    )
    found = fetch_all(service, ["4 x"] * 8, pause_s=60.0)

    assert [one["rewards"] for one in found] == [[0.75]] * 8


def test_a_judge_that_stays_away(service: RunningService, provider: FakeProvider) -> None:
    """No reward at all, or one that the trainer's filter drops: never one that it trains on."""
    provider.behave("main", faults.status_error(503))
    assert fetch_all(service, ["4 x"], "budget_s=0.3", pause_s=0.0) == [None]

    texts = ["4 x", "5 y"]
    for one in fetch_all(service, texts, f"{DROP}&budget_s=0.3", pause_s=0.0):
        # The filter keeps a group whose mean score lies between 0 and 1.
        assert one["scores"] == [-1e6]
        assert not 0.0 < (one["scores"][0] + 7 * 1.0) / 8 < 1.0


def test_the_names_of_all_numbers_are_the_same(
    service: RunningService, provider: FakeProvider
) -> None:
    """The trainer puts one experience's numbers beside another's."""
    provider.behave("main", behaviours.chokes_on("y"))
    found = fetch_all(service, ["4 x", "5 y", "", "forbidden", "1 z"], f"{DROP}&budget_s=4")

    assert len({tuple(one["extra_logs"]) for one in found}) == 1
    assert [one["extra_logs"]["judge_failed"] for one in found] == [[0.0], [1.0], [0.0], [0.0],
                                                                     [0.0]]  # fmt: skip
    assert [one["rewards"][0] for one in found] == [0.75, 0.0, 0.0, 0.0, 0.0]
    assert [one["scores"][0] for one in found] == [0.75, -1e6, 0.0, 0.0, 0.0]
