"""Live figures: what enters them, and that all processes of a service are in them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_service.bias.board import PREFIX, BiasBoard
from judge_service.bias.history import PairHistory
from judge_service.bias.live import Score, ScoreHistory
from judge_service.bias.report import BiasReport
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.secret import ServiceSecret
from tests.cli.conftest import Cli, write_lines
from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.polling import until
from tests.provider import FakeProvider, behaviours

SECRET = ServiceSecret(current=b"a secret of this service, long enough")


@pytest.fixture
def rubrics(tmp_path: Path) -> Path:
    """A folder with a rubric for answers and one for pairs."""
    write_rubric(tmp_path)
    write_rubric(tmp_path, "pair", kind="compare")
    return tmp_path


@pytest.fixture
def alone(provider: FakeProvider, rubrics: Path) -> Iterator[RunningService]:
    """A service of one judge that nobody has asked yet."""
    with judged_by(Judges(provider).add("alpha"), rubrics) as running:
        yield running


def seen(service: RunningService) -> tuple[int, int]:
    """The pairs and the scored answers of the first judge."""
    report = BiasReport.model_validate(service.http.get("/v1/bias").json())
    return report.judges[0].pairs, report.judges[0].answers


def test_groups_are_in_the_figures(alone: RunningService) -> None:
    """A ranked group's scored members, and its pairs; equal answers were judged once."""
    texts = ["One good answer.", "Another answer.", "Another answer.", "A third good answer."]
    candidates = [{"text": text, "family": "candidate-family"} for text in texts]
    alone.post(
        "/v1/rank",
        {"rubric": "quality", "prompt": "p", "candidates": candidates, "strategy": "assess"},
    )
    assert seen(alone) == (0, 3)
    alone.post("/v1/rank", {"rubric": "pair", "prompt": "p", "candidates": candidates})
    assert seen(alone) == (3, 3)


def test_kept_verdicts_and_audits_are_not(alone: RunningService) -> None:
    """Nothing new was said of the judge, or it was asked to be looked at."""
    for _ in range(2):
        alone.assess("An answer.", prompt="The same?")
    alone.assess("An answer.", audit=True)

    assert seen(alone) == (0, 1)


def test_processes_that_share_a_store_tell_of_both(
    provider: FakeProvider, rubrics: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever is asked; one that has ended is no longer in the figures."""
    monkeypatch.setattr("judge_service.bias.board.POST_EVERY_S", 0.02)
    judges, store = Judges(provider).add("alpha"), rubrics / "store.sqlite"

    def wait_for(service: RunningService, processes: int) -> BiasReport:
        reports: list[BiasReport] = []

        def there() -> bool:
            reports.append(BiasReport.model_validate(service.http.get("/v1/bias").json()))
            return reports[-1].processes == processes

        until(there, f"never {processes} processes")
        return reports[-1]

    with judged_by(judges, rubrics, store=store) as one:
        with judged_by(judges, rubrics, store=store) as other:
            one.compare("A good answer.", "Another answer.")
            other.compare("A third good answer.", "A fourth answer.")
            reports = [wait_for(service, 2) for service in (one, other)]
        left = wait_for(one, 1)

    assert [report.judges[0].pairs for report in reports] == [2, 2]
    assert left.judges[0].pairs == 1
    assert left.notes == []


class SharedStore(MemoryStore):
    """A store in memory that says that others see it."""

    @property
    def shared(self) -> bool:
        """As Redis would."""
        return True


def board(store: MemoryStore, secret: ServiceSecret = SECRET) -> BiasBoard:
    """A process with one pair and one scored answer."""
    pairs, scores = PairHistory(), ScoreHistory()
    pairs.add("alpha", "first", "first", (10, 20), (1, 0))
    scores.add("alpha", Score("rubric", 0.5, 10, 1))
    return BiasBoard(store, secret, pairs, scores)


def test_what_was_posted_comes_back_as_it_was() -> None:
    """Another process reads the very same records."""

    async def scenario() -> None:
        store = SharedStore()
        one, other = board(store), board(store)
        await one.post()

        gathered = await other.gather()

        assert gathered.note is None
        own, others = gathered.snapshots
        assert (dict(own.pairs), dict(own.scores)) == (
            {name: tuple(kept) for name, kept in others.pairs.items()},
            {name: tuple(kept) for name, kept in others.scores.items()},
        )

    asyncio.run(scenario())


@pytest.mark.parametrize("forged", [b"", b"{}", b"x" * 200], ids=["empty", "unsigned", "noise"])
def test_what_others_write_into_the_store_counts_for_nothing(forged: bytes) -> None:
    """Only what this service signed is read, and only in a form that it knows."""

    async def scenario() -> None:
        store = SharedStore()
        await board(store, ServiceSecret(current=b"the secret of another service, long")).post()
        await store.hold(f"{PREFIX}processes", "forger", 256, 60)
        await store.put(f"{PREFIX}forger", forged, 60)

        gathered = await board(store).gather()

        assert len(gathered.snapshots) == 1

    asyncio.run(scenario())


def test_a_store_that_cannot_say_leaves_a_process_its_own() -> None:
    """And the report says what may be missing."""

    class Silent(SharedStore):
        async def holders(self, key: str) -> list[str] | None:
            return None

    async def scenario() -> None:
        report = await board(Silent()).report({"alpha": "alpha"})

        assert (report.processes, report.judges[0].pairs) == (1, 1)
        assert "cannot say" in report.notes[0]

    asyncio.run(scenario())


def test_a_mistake_in_telling_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is in the log, and the others know of the process a look later."""
    monkeypatch.setattr("judge_service.bias.board.POST_EVERY_S", 0.0)

    class Mistaken(SharedStore):
        def __init__(self) -> None:
            super().__init__()
            self.looks = 0
            self.told = asyncio.Event()

        async def put(self, key: str, value: bytes, ttl_s: float) -> bool:
            self.looks += 1
            if self.looks == 1:
                raise RuntimeError("a mistake")
            return await super().put(key, value, ttl_s)

        async def hold(self, key: str, name: str, limit: int, ttl_s: float) -> bool | None:
            held = await super().hold(key, name, limit, ttl_s)
            self.told.set()
            return held

    async def scenario() -> int:
        store = Mistaken()
        one = board(store)
        one.follow()
        async with asyncio.timeout(60):
            await store.told.wait()
        gathered = await board(store).gather()
        await one.aclose()
        return len(gathered.snapshots)

    assert asyncio.run(scenario()) == 2
    assert "could not be left in the store" in caplog.text


def test_a_store_of_its_own_is_told() -> None:
    """Whoever reads the figures knows that other processes are not in them."""
    report = asyncio.run(board(MemoryStore()).report({"alpha": "alpha"}))

    assert "share no store" in report.notes[0]


def test_live_figures_are_those_of_the_files(
    cli: Cli, provider: FakeProvider, rubrics: Path
) -> None:
    """The same outcomes, looked at live and later from files, have the same figures."""
    provider.behave("alpha", behaviours.longer_wins())
    provider.behave("beta", behaviours.first_position())
    styled, items, results = "# Good\n\n- with **many** marks", [], []
    for number in range(14):
        first, second = "A good answer." + "!" * (number % 5), styled + "." * (7 * number % 11)
        pair = [{"text": first, "family": "x"}, {"text": second, "family": "y"}]
        body = {"rubric": "pair", "prompt": new_prompt(), "candidates": pair, "panel_size": 2}
        items.append(body)
    with judged_by(Judges(provider).add("alpha").add("beta"), rubrics) as service:
        for number, body in enumerate(items):
            results.append({"index": number, **service.post("/v1/compare", body)})
        live = cli("bias", "--url", service.url, "--json").json["judges"]
    batch = write_lines(rubrics / "items.jsonl", *items)
    file = write_lines(rubrics / "results.jsonl", *results)
    later = cli("bias", file, "--items", batch, "--json").json["judges"]

    assert [one["judge"] for one in live] == ["alpha", "beta"]
    for one in live:
        other = next(judge for judge in later if judge["judge"] == one["judge"])
        assert one["pairs"] == other["pairs"] == 14
        for part in ("position", "length", "style"):
            for figure, said in one[part].items():
                known = other[part][figure]
                assert (said and said["value"]) == (known and known["value"]), (part, figure)
                assert (said and said["n"]) == (known and known["n"]), (part, figure)
