"""Several workers and daily restarts: no alarm is lost, no baseline learnt anew in silence, and a
reset is for all.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.secret import ServiceSecret
from judge_service.storage.signed import Signer
from judge_service.watch.board import WatchBoard
from judge_service.watch.failures import BATCH
from judge_service.watch.homogeneity import BUCKETS
from judge_service.watch.prompts import prompt_key
from judge_service.watch.resets import Resets
from tests.harness import Judges, RunningService, judged_by
from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours
from tests.watch.conftest import noisy
from tests.watch.support import alarms, assess, state, table, until_alarm, watched

LONG = 60.0


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_service.watch.board.EVERY_S", 0.02)


def learnt(service: RunningService, statistic: str = "score_mean") -> list[tuple[int, bool]]:
    """Observations of the baseline of a statistic, and whether it is there."""
    watch = state(service).watch
    assert watch is not None
    return [
        (chart.learnt, chart.baseline is not None)
        for chart in watch.charts
        if chart.statistic == statistic
    ]


def reset(service: RunningService, **about: str) -> dict[str, Any]:
    """The answer to a reset."""
    answer = service.http.post("/v1/watch/reset", json=about)
    assert answer.status_code == 202
    found: dict[str, Any] = answer.json()
    return found


def drifted(service: RunningService, provider: FakeProvider) -> None:
    """Until the mean score has an alarm."""
    provider.behave_by_default(noisy(2.0))
    assess(service, ["An answer."] * 80)
    provider.behave_by_default(noisy(4.5, seed=2))
    until_alarm(service, "score_mean", lambda: assess(service, ["x"] * 10), 15)


def test_an_alarm_is_there_before_anything_is_asked(provider: FakeProvider, folder: Path) -> None:
    """After a restart it is listed and in the metrics at once, and is not counted a second time."""
    store = folder / "store.sqlite3"
    with watched(provider, folder, store=store) as service:
        drifted(service, provider)
    with watched(provider, folder, store=store) as service:
        metrics = scrape(service.http)

        assert ("score_mean", None) in alarms(service)
        labels = {"judge": "alpha", "rubric": "quality", "statistic": "score_mean"}
        assert metrics.of("watch_alarm", **labels, kind="assess") == 1
        assert metrics.of("watch_alarms_total", **labels) == 0


def test_alarms_of_failures_outlive_a_restart(provider: FakeProvider, folder: Path) -> None:
    """The share of failed outcomes, and prompts that fail again and again."""
    honest, silent = behaviours.honest(), behaviours.says("No.")
    provider.behave_by_default(
        lambda seen: (silent if seen.candidate.startswith("Hard") else honest)(seen)
    )
    prompts = [f"Question {n}?" for n in range(2_000)]
    hard = [one for one in prompts if prompt_key(one) % BUCKETS == 3][:BATCH]
    plain = [one for one in prompts if prompt_key(one) % BUCKETS != 3][:120]
    items = [
        {"kind": "assess", "rubric": "quality", "prompt": prompt,
         "candidate": {"text": f"{word} words.", "family": "own"}}
        for word, some in (("Plain", plain), ("Hard", hard))
        for prompt in some
    ]  # fmt: skip
    store = folder / "store.sqlite3"
    raised = {("failed_share", None), ("failed_share", "unparsable"), ("failed_prompts", None)}
    with watched(provider, folder, store=store) as service:
        service.post("/v1/bulk", {"items": items, "timeout_s": 300})
        before = alarms(service)
        assert set(before) >= raised
    with watched(provider, folder, store=store) as service:
        after = alarms(service)
        assert {key: after[key]["raised_at"] for key in raised} == {
            key: before[key]["raised_at"] for key in raised
        }
        (failures,) = state(service).watch.failures  # type: ignore[union-attr]
        assert (failures.outcomes, failures.failed) == (len(items), BATCH)
        assert sum(one.failed for one in failures.by_prompt) == BATCH
        assert failures.length is not None


async def nothing(_: WatchBoard) -> None:
    """A process that is killed does nothing any more."""


def test_charts_of_a_process_that_died_are_taken_over(
    provider: FakeProvider, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It left no word: its alarm is listed meanwhile, and goes on in a process that lives."""
    store = folder / "store.sqlite3"
    with watched(provider, folder, store=store) as living:
        monkeypatch.setattr("judge_service.watch.board.LIVES_S", 1.0)
        with (
            monkeypatch.context() as killed,
            watched(provider, folder, store=store) as dying,
        ):
            drifted(dying, provider)
            assert provider.wait_until(lambda: bool(alarms(living)), LONG)
            killed.setattr("judge_service.watch.board.WatchBoard.aclose", nothing)
        assert ("score_mean", None) in alarms(living)

        def taken_over() -> bool:
            return scrape(living.http).of("watch_alarm", statistic="score_mean") == 1

        assert provider.wait_until(taken_over, LONG)
        assert alarms(living)["score_mean", None]["processes"] == 1


def test_a_reset_is_for_all_processes(provider: FakeProvider, folder: Path) -> None:
    """Whichever answers: baselines and alarms are gone in all, in the metrics, too."""
    store = folder / "store.sqlite3"
    with (
        watched(provider, folder, store=store) as one,
        watched(provider, folder, store=store) as two,
    ):
        drifted(one, provider)
        assert provider.wait_until(lambda: bool(alarms(two)), LONG)
        answer = reset(two, judge="alpha")

        assert answer == {"alarms": 1, "processes": 2, "note": None}
        assert alarms(two) == {}
        assert alarms(one) == {}
        assert learnt(one) == []
        assert scrape(one.http).of("watch_alarm") == 0
        assess(one, ["An answer."] * 100)
        assert alarms(one) == {}
        assert learnt(one) == [(60, True)]


def test_a_reset_reaches_who_was_not_there(provider: FakeProvider, folder: Path) -> None:
    """A process that comes later goes on with nothing of what was reset meanwhile."""
    store = folder / "store.sqlite3"
    with watched(provider, folder, store=store) as one:
        with watched(provider, folder, store=store) as two:
            assess(two, ["An answer."] * 80)
            assert provider.wait_until(lambda: learnt(two) == [(60, True)], LONG)
        reset(one, rubric="quality")
        with watched(provider, folder, store=store) as again:
            assess(again, ["An answer."])
            assert learnt(again) == [(1, False)]


def test_without_a_shared_store_a_reset_says_so(provider: FakeProvider, folder: Path) -> None:
    """It is this process's alone."""
    with watched(provider, folder) as service:
        answer = reset(service)

    assert answer["processes"] == 1
    assert "share no store" in answer["note"]


def test_a_new_replica_does_not_learn_a_replaced_model(
    provider: FakeProvider, folder: Path
) -> None:
    """What the others know to be right is right for it, from its first reply on."""
    store = folder / "store.sqlite3"
    provider.behave("alpha", behaviours.served_as(behaviours.honest(), "alpha-1"))
    with (
        watched(provider, folder, store=store) as one,
        watched(provider, folder, store=store) as two,
    ):
        assess(one, ["An answer."] * 25)

        def knows() -> bool:
            served = state(two).watch.served  # type: ignore[union-attr]
            return [(each.names, each.replies) for each in served] == [(["alpha-1"], 20)]

        assert provider.wait_until(knows, LONG)
        provider.behave("alpha", behaviours.served_as(behaviours.honest(), "alpha-2"))
        assess(two, ["An answer."])

        assert alarms(two)["served_model", None]["current"] == "alpha-2"
        with watched(provider, folder, store=store) as three:
            assess(three, ["An answer."])
            assert alarms(three)["served_model", None]["processes"] == 2


def test_another_model_behind_a_judge_is_no_replaced_one(
    provider: FakeProvider, folder: Path
) -> None:
    """Who changes the model in judges.toml has meant it."""
    store = folder / "store.sqlite3"
    for model in ("openai/first", "openai/second"):
        judges = Judges(provider).add("alpha", model=model)
        judges.tables.append(table())
        with judged_by(judges, folder, store=store) as service:
            assess(service, ["An answer."] * 25)
            assert alarms(service) == {}


def test_resets_are_numbered_across_an_emptied_store() -> None:
    """One that comes after the store was emptied still counts, and what others wrote does not."""

    async def course() -> list[list[tuple[str | None, str | None]]]:
        store, now = MemoryStore(), [1_000.0]
        signer = Signer(ServiceSecret(current=b"x" * 40), "watch board")
        one = Resets(store, signer, lambda: now[0])
        other = Resets(store, signer, lambda: now[0])
        seen = []
        assert await one.add("a", None)
        seen.append([(r.judge, r.rubric) for r in await other.read()])
        seen.append([(r.judge, r.rubric) for r in await other.read()])
        await store.delete("jw:2:resets")
        now[0] -= 500.0  # a clock that is set back
        assert await other.add(None, "r")
        seen.append([(r.judge, r.rubric) for r in await other.read()])
        assert other.are_void(1, "b", "r")
        assert not other.are_void(other.seen, "b", "r")
        assert not other.are_void(1, "b", "s")
        await store.put("jw:2:resets", b"[[9e99, null, null]]" * 9, 60.0)
        seen.append([(r.judge, r.rubric) for r in await other.read()])
        return seen

    assert asyncio.run(course()) == [[("a", None)], [], [(None, "r")], []]
