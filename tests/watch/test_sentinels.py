"""Sentinel items among live traffic: how often, on whose bill, out of whose way, and what for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Judges, RunningService, judged_by
from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours, faults
from tests.watch.conftest import noisy
from tests.watch.gold import write_gold
from tests.watch.support import alarms, assess, state, table, watched


def sentinel(**more: object) -> str:
    """A ``[watch]`` table with sentinels in every other verdict."""
    settings = {"gold": ["quality"], "share": 0.5, "daily_cost_usd": 1.0, "baseline": 20, **more}
    return table(sentinel={k: v for k, v in settings.items() if v is not None})


def asked(provider: FakeProvider) -> int:
    """How many sentinels the judge was asked and has answered."""
    return sum(
        "Gold answer" in r.seen.candidate and r.complete for r in provider.requests if r.seen
    )


def one_by_one(
    service: RunningService, provider: FakeProvider, n: int, every: int = 2
) -> list[dict[str, Any]]:
    """Live verdicts, waiting after each ``every`` of them for the sentinel that is due."""
    before = _told(service)
    found = []
    for number in range(1, n + 1):
        found.append(service.assess())
        due = before + number // every
        assert provider.wait_until(partial(_has_told, service, due))
    return found


def _has_told(service: RunningService, due: int) -> bool:
    return _told(service) == due


def _told(service: RunningService) -> int:
    watch = service.http.get("/v1/judges").json()["watch"]
    return sum(figures["asked"] for figures in watch["sentinel"]["figures"])


@pytest.fixture
def service(provider: FakeProvider, folder: Path) -> Iterator[RunningService]:
    """One judge, sentinels in every other verdict."""
    write_gold(folder)
    with watched(provider, folder, watch=sentinel()) as running:
        yield running


def test_their_rate_and_their_bill(service: RunningService, provider: FakeProvider) -> None:
    """Every other live verdict brings one; no caller pays for it, and the bill stands apart."""
    found = one_by_one(service, provider, 10)

    assert provider.wait_until(lambda: asked(provider) == 5)
    assert {one["usage"]["upstream_requests"] for one in found} == {1}
    told = state(service).watch
    assert told is not None
    assert told.sentinel is not None
    (bill,) = told.sentinel.usage
    assert (bill.judge, bill.upstream_requests) == ("alpha", 5)
    assert bill.cost_usd == pytest.approx(5 * (900 * 1.0 + 60 * 2.0) / 1e6)
    (figures,) = told.sentinel.figures
    assert (figures.gold, figures.asked, figures.failed, figures.agreement) == (
        "quality",
        5,
        0,
        1.0,
    )
    metrics = scrape(service.http)
    labels = {"watch": "sentinel", "judge": "alpha"}
    assert metrics.of("watch_requests_total", **labels) == 5
    assert metrics.of("watch_cost_usd_total", **labels) == pytest.approx(bill.cost_usd)
    assert metrics.of("outcomes_total") == 10  # none of them an outcome of anybody's
    assert metrics.of("upstream_attempts_total") == 15
    assert metrics.of("sentinels_total", judge="alpha", result="agrees") == 5


def test_they_are_asked_past_the_cache_in_turn(
    service: RunningService, provider: FakeProvider
) -> None:
    """Every item once, then the first again; what is asked again is asked anew."""
    one_by_one(service, provider, 26)

    texts = [r.seen.candidate for r in provider.requests if r.seen]
    gold = [text for text in texts if text.startswith("Gold")]
    assert gold == [f"Gold answer {n % 12}." for n in range(13)]


def test_a_silent_upgrade_is_seen(service: RunningService, provider: FakeProvider) -> None:
    """The name is the old one; the items are the same, so it is the judge that has changed."""
    one_by_one(service, provider, 70)
    assert not {"sentinel_shift", "sentinel_agreement"} & {name for name, _ in alarms(service)}

    provider.oracle(lambda _: 4)
    for _ in range(60):
        one_by_one(service, provider, 2)
        if ("sentinel_shift", None) in alarms(service):
            break

    alarm = alarms(service)["sentinel_shift", None]
    assert (alarm["judge"], alarm["rubric"]) == ("alpha", "quality")
    assert abs(alarm["baseline"]) < 0.05
    assert alarm["current"] > 0.05
    assert alarm["run_length"] == 20_000


def test_failures_of_theirs_are_counted_and_harm_nobody(
    service: RunningService, provider: FakeProvider
) -> None:
    """Not in anybody's failed share."""
    provider.behave_by_default(
        behaviours.when(
            lambda seen: "Gold" in seen.candidate, behaviours.says("No."), behaviours.honest()
        )
    )
    one_by_one(service, provider, 4)

    told = state(service).watch
    assert told is not None
    assert told.sentinel is not None
    assert told.sentinel.figures[0].failed == 2
    assert [one.failed for one in told.failures] == [0]
    assert scrape(service.http).of("sentinels_total", result="failed") == 2


def test_a_busy_judge_is_left_alone(provider: FakeProvider, folder: Path) -> None:
    """While others wait for it, none is asked; each that was due is counted as skipped."""
    write_gold(folder)
    gate = threading.Event()
    provider.behave_by_default(behaviours.held(behaviours.honest(), gate))
    with (
        watched(provider, folder, watch=sentinel(share=1.0), limit=2) as service,
        ThreadPoolExecutor(1) as threads,
    ):
        asking = threads.submit(assess, service, ["An answer."] * 100)
        queued = provider.wait_until(lambda: state(service).judges[0].queue.waiting == 98)
        gate.set()
        found = asking.result()
        assert queued
        assert {one["status"] for one in found} == {"success"}
        told = state(service).watch

    assert told is not None
    assert told.sentinel is not None
    assert sum(told.sentinel.skipped.values()) > 80
    assert told.sentinel.skipped["busy"] > 0
    assert asked(provider) < 20


def test_nothing_beyond_the_ceiling(provider: FakeProvider, folder: Path) -> None:
    """A day's money, or requests where the price is not known."""
    write_gold(folder)
    with watched(provider, folder, watch=sentinel(share=1.0, daily_requests=3)) as service:
        one_by_one(service, provider, 3, every=1)
        for _ in range(5):
            service.assess()
        skipped = provider.wait_until(
            lambda: scrape(service.http).of("watch_skipped_total", reason="ceiling") >= 1
        )

    assert skipped
    assert asked(provider) == 3


def test_they_stop_at_shutdown(provider: FakeProvider, folder: Path) -> None:
    """One that hangs does not hold the service up."""
    write_gold(folder)
    hanging = behaviours.when(
        lambda seen: "Gold" in seen.candidate, faults.hang(), behaviours.honest()
    )
    provider.behave_by_default(hanging)
    with watched(provider, folder, watch=sentinel(share=1.0)) as service:
        service.assess()
        assert provider.wait_until(lambda: len(provider.requests) == 2)

    assert provider.wait_until(lambda: provider.requests[-1].hung_up_at is not None)


def test_their_figures_outlive_a_restart(provider: FakeProvider, folder: Path) -> None:
    """Of the same judge; where another model is behind its name, they are not its."""
    write_gold(folder)
    store = folder / "store.sqlite3"
    for model, asked_of_it in (("openai/alpha", 2), ("openai/alpha", 4), ("openai/other", 2)):
        judges = Judges(provider).add("alpha", model=model, served_models=["*"])
        judges.tables.append(sentinel())
        with judged_by(judges, folder, store=store) as service:
            one_by_one(service, provider, 4)
            assert _told(service) == asked_of_it


def test_pairs_can_be_sentinels(provider: FakeProvider, folder: Path) -> None:
    """Asked in both orders; people's choice is what they are compared with."""
    candidates = ["One gold answer.", "Another gold answer."]
    write_gold(folder, "pair", candidates=candidates, choice=["first", "first"])
    provider.behave_by_default(behaviours.first_position())
    with watched(provider, folder, watch=sentinel(gold=["pair"], share=1.0)) as service:
        service.compare("An answer.", "Another one.")
        assert provider.wait_until(lambda: _told(service) == 1)
        told = state(service).watch

    assert told is not None
    assert told.sentinel is not None
    (figures,) = told.sentinel.figures
    assert (figures.rubric, figures.agreement) == ("pair", 0.0)  # inconsistent is no "first"
    assert told.sentinel.usage[0].upstream_requests == 2


class Clock:
    """Ticks when it is told to."""

    def __init__(self) -> None:
        self._ticks: asyncio.Queue[None] = asyncio.Queue()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Until the next tick."""
        self.slept.append(seconds)
        await self._ticks.get()

    def tick(self) -> None:
        """Let the sleeper go on."""
        self._ticks.put_nowait(None)


def test_so_many_an_hour(
    provider: FakeProvider, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the clock, whatever the traffic; only where there was some, and by all processes once."""
    write_gold(folder)
    clock: list[Clock] = []

    async def sleep(seconds: float) -> None:
        if not clock:
            clock.append(Clock())
        await clock[0].sleep(seconds)

    monkeypatch.setattr("judge_service.watch.opening.SLEEP", sleep)
    watch = sentinel(share=None, per_hour=60)
    with watched(provider, folder, watch=watch) as service:
        assert provider.wait_until(lambda: bool(clock) and bool(clock[0].slept))
        clock[0].tick()
        assert provider.wait_until(lambda: len(clock[0].slept) == 2)
        assert asked(provider) == 0  # nothing was judged yet
        service.assess()
        assert state(service).watch is not None  # what waits to be looked at is looked at first
        clock[0].tick()
        assert provider.wait_until(lambda: _told(service) == 1)

    assert clock[0].slept[0] == 60.0
    assert asked(provider) == 1


def test_noise_of_a_judge_is_no_upgrade(provider: FakeProvider, folder: Path) -> None:
    """Its own scatter on the items is learnt first."""
    write_gold(folder)
    provider.behave_by_default(noisy(3.0, seed=8))
    with watched(provider, folder, watch=sentinel(share=1.0)) as service:
        one_by_one(service, provider, 150, every=1)

        assert alarms(service) == {}
