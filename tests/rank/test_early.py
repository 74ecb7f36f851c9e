"""Judging that begins while members of a group still come."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours, faults
from tests.rank.joining import TEXTS, client, join
from tests.rank.support import rank


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_service.cohort.watch.EARLY_S", 0.1)
    monkeypatch.setattr("judge_service.cohort.watch.CHECK_S", 0.1)


def one_is_late(
    service: RunningService,
    provider: FakeProvider,
    early: int,
    texts: Sequence[str] = TEXTS,
    **more: Any,
) -> list[dict[str, Any]]:
    """All but the last join; the last one does when ``early`` requests were answered."""
    prompt = new_prompt()

    def asked() -> bool:
        return sum(r.finished_at is not None for r in provider.requests) >= early

    async def run() -> list[dict[str, Any]]:
        async with client(service) as http:
            tasks = [
                asyncio.create_task(
                    join(http, n, text, prompt=prompt, size=len(texts), **more)
                )
                for n, text in enumerate(texts[:-1])
            ]  # fmt: skip
            assert await asyncio.to_thread(provider.wait_until, asked, 10.0)
            last = await join(
                http, len(texts) - 1, texts[-1], prompt=prompt, size=len(texts), **more
            )
            return [*await asyncio.gather(*tasks), last]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("rubric", "early", "whole"), [("pair", 6, 12), ("quality", 3, 4)], ids=["pairs", "points"]
)
def test_the_last_member_waits_for_its_own_part_only(
    service: RunningService, provider: FakeProvider, rubric: str, early: int, whole: int
) -> None:
    """What can be asked before it comes is asked; the result is that of the whole group, nothing is
    asked twice, and every request stands in one member's bill.
    """
    answers = one_is_late(service, provider, early, rubric=rubric)
    ranked = rank(service, TEXTS, rubric=rubric)

    assert [a["reward"] for a in answers] == ranked["rewards"]
    assert [a["rank"] for a in answers] == ranked["ranks"]
    asked = provider.requests[: -ranked["usage"]["upstream_requests"]]
    assert len(asked) == whole
    assert sum(a["usage"]["upstream_requests"] for a in answers) == whole
    assert sum(a["usage"]["cost_usd"] for a in answers) == pytest.approx(
        whole * ranked["usage"]["cost_usd"] / ranked["usage"]["upstream_requests"]
    )


def test_a_pair_that_was_asked_ahead_is_noted_once(
    service: RunningService, provider: FakeProvider
) -> None:
    """The live figures of the judge count six pairs, whoever asked them."""
    before = pairs_of(service)
    one_is_late(service, provider, 6, rubric="pair")

    assert pairs_of(service) == before + 6


def pairs_of(service: RunningService) -> float:
    """How many pairs main was asked, by the service's metrics."""
    lines = service.http.get("/metrics").text.splitlines()
    return sum(
        float(line.rsplit(" ", 1)[1])
        for line in lines
        if line.startswith("judge_service_pairs_total") and 'judge="main"' in line
    )


def test_copies_and_broken_rules_are_not_asked_ahead(
    service: RunningService, provider: FakeProvider
) -> None:
    """Nobody meets them in the end."""
    texts = ["4 a", "4 a", "", "5 forbidden", "2 b", "3 c"]
    answers = one_is_late(service, provider, 2, texts, rubric="pair")

    assert [a["reward"] for a in answers] == [1.0, 1.0, 0.0, 0.0, 0.0, 0.5]
    assert len(provider.requests) == 6


def test_a_judge_that_fails_is_asked_ahead_once(
    service: RunningService, provider: FakeProvider
) -> None:
    """One try, and what follows is left to the ranking, with all its tries."""
    texts = ["4 a", "2 b", "3 c"]
    provider.behave("main", [faults.status_error(503), behaviours.honest()])
    answers = one_is_late(service, provider, 2, texts)

    assert [a["reward"] for a in answers] == [0.75, 0.25, 0.5]
    assert len(provider.requests) == 4
    assert sum(a["usage"]["upstream_requests"] for a in answers) == 4


def test_a_group_that_stays_incomplete_costs_what_was_asked_ahead(
    service: RunningService, provider: FakeProvider
) -> None:
    """It is told, and nobody has a number."""
    prompt = new_prompt()

    async def run() -> list[dict[str, Any]]:
        async with client(service) as http:
            return list(
                await asyncio.gather(
                    *(join(http, n, text, prompt=prompt, rubric="pair", deadline_s=2.0)
                      for n, text in enumerate(TEXTS[:3]))
                )
            )  # fmt: skip

    answers = asyncio.run(run())

    assert {a["error"]["code"] for a in answers} == {"cohort_incomplete"}
    assert len(provider.requests) == 6
    assert sum(a["usage"]["upstream_requests"] for a in answers) == 6


@pytest.mark.parametrize("size", [9, 17])
def test_no_pair_is_asked_in_vain(
    service: RunningService, provider: FakeProvider, size: int
) -> None:
    """In groups so large that not all pairs meet, nobody knows yet which do."""
    texts = [f"{1 + n % 5} text {n}" for n in range(size)]
    prompt = new_prompt()

    async def run() -> int:
        async with client(service) as http:
            tasks = [
                asyncio.create_task(
                    join(http, n, text, prompt=prompt, rubric="pair", size=size)
                )
                for n, text in enumerate(texts[:-1])
            ]  # fmt: skip
            await asyncio.wait(tasks, timeout=1.0)
            asked = len(provider.requests)
            await asyncio.gather(
                *tasks, join(http, size - 1, texts[-1], prompt=prompt, rubric="pair", size=size)
            )
            return asked

    assert asyncio.run(run()) == 0
