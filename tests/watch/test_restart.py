"""What outlives a process, what several of them show together, and how to begin anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_service.access.keys_file import key_hash, pepper_of
from tests.cli.conftest import Cli, cli
from tests.harness import RunningService
from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours
from tests.watch.conftest import noisy
from tests.watch.support import alarms, assess, state, table, until_alarm, watched

__all__ = ["cli"]
SECRET = "a secret of this service, long enough"
LONG = 30.0
ADMIN, JUDGE = "canary-key-0123456789", "canary-key-9876543210"


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_service.watch.board.EVERY_S", 0.02)


def charts(service: RunningService) -> dict[str, int]:
    """How many observations there are of each statistic, learnt ones and watched ones."""
    watch = state(service).watch
    assert watch is not None
    return {
        c.statistic: c.observations + (c.learnt if c.baseline or not c.observations else 0)
        for c in watch.charts
    }


def test_a_restart_goes_on_where_it_was(provider: FakeProvider, folder: Path) -> None:
    """Baselines, sums and alarms; a baseline half learnt, too."""
    provider.behave_by_default(noisy(3.0))
    store = folder / "store.sqlite3"
    with watched(provider, folder, store=store) as service:
        assess(service, ["An answer."] * 40)
    with watched(provider, folder, store=store) as service:
        assess(service, ["An answer."] * 60)
        assert charts(service)["score_mean"] == 100
        assert alarms(service) == {}
        provider.behave_by_default(noisy(4.2, seed=2))
        before = until_alarm(service, "score_mean", lambda: assess(service, ["x"] * 10), 15)
    with watched(provider, folder, store=store) as service:
        assess(service, ["An answer."])
        after = alarms(service)["score_mean", None]

    assert (after["since"], after["raised_at"]) == (before["since"], before["raised_at"])
    assert after["baseline"] == before["baseline"]


def test_a_model_that_was_replaced_in_between_is_told(provider: FakeProvider, folder: Path) -> None:
    """The names are kept."""
    store = folder / "store.sqlite3"
    provider.behave("alpha", behaviours.served_as(behaviours.honest(), "alpha-1"))
    with watched(provider, folder, store=store) as service:
        assess(service, ["An answer."] * 25)
    provider.behave("alpha", behaviours.served_as(behaviours.honest(), "alpha-2"))
    with watched(provider, folder, store=store) as service:
        assess(service, ["An answer."])

        assert alarms(service)["served_model", None]["current"] == "alpha-2"


def test_another_rubric_has_another_baseline(provider: FakeProvider, folder: Path) -> None:
    """What was usual under the old wording says nothing about the new one."""
    store = folder / "store.sqlite3"
    with watched(provider, folder, store=store) as service:
        assess(service, ["An answer."] * 80)
    file = folder / "rubrics" / "quality.toml"
    file.write_text(file.read_text().replace("How good", "How very good"), encoding="utf-8")
    with watched(provider, folder, store=store) as service:
        assess(service, ["An answer."])

        assert charts(service)["score_mean"] == 1


def test_processes_show_each_others_alarms(provider: FakeProvider, folder: Path) -> None:
    """And a new one need not learn what is usual anew."""
    provider.behave_by_default(noisy(3.0))
    store = folder / "store.sqlite3"
    with (
        watched(provider, folder, store=store) as one,
        watched(provider, folder, store=store) as two,
    ):
        assess(one, ["An answer."] * 80)
        assess(two, ["An answer."] * 5)
        assert provider.wait_until(lambda: charts(two)["score_mean"] == 60, LONG)
        provider.behave_by_default(noisy(5.0, seed=2))
        until_alarm(one, "score_mean", lambda: assess(one, ["x"] * 10), 15)

        assert provider.wait_until(lambda: bool(alarms(two)), LONG)
        alarm = alarms(two)["score_mean", None]
        watch = state(two).watch
        assert watch is not None
        assert (alarm["processes"], watch.processes, watch.note) == (1, 2, None)
        assert [one.statistic for one in state(two).judges[0].alarms] == ["score_mean"]


def test_a_store_that_somebody_else_wrote_to_is_not_believed(
    provider: FakeProvider, folder: Path
) -> None:
    """What is not signed is not read, and nothing breaks."""
    import sqlite3

    store = folder / "store.sqlite3"
    with watched(provider, folder, store=store) as service:
        assess(service, ["An answer."] * 70)
    with sqlite3.connect(store) as db:
        forged = db.execute("UPDATE entries SET value = ? WHERE key LIKE 'jw:2:%'", (b"{}" * 40,))
        changed = forged.rowcount
    assert changed
    with watched(provider, folder, store=store) as service:
        assess(service, ["An answer."])

        assert charts(service)["score_mean"] == 1


def test_without_a_shared_store_it_says_so(provider: FakeProvider, folder: Path) -> None:
    """Charts end with the process then, and other processes are not seen."""
    with watched(provider, folder) as service:
        watch = state(service).watch

    assert watch is not None
    assert watch.note is not None
    assert "share no store" in watch.note


def test_learning_begins_anew_when_it_is_meant(provider: FakeProvider, folder: Path) -> None:
    """Alarms go with it, in the metrics as well; the new judge is what is usual from then on."""
    provider.behave_by_default(noisy(2.0))
    with watched(provider, folder, store=folder / "store.sqlite3") as service:
        assess(service, ["An answer."] * 100)
        provider.behave_by_default(noisy(4.0))
        until_alarm(service, "score_mean", lambda: assess(service, ["x"] * 10), 10)

        answer = service.http.post("/v1/watch/reset", json={"judge": "alpha"})
        assert answer.status_code == 202
        assert answer.json() == {"alarms": 1, "processes": 1, "note": None}
        assert alarms(service) == {}
        assert scrape(service.http).of("watch_alarm") == 0
        assess(service, ["An answer."] * 100)

        assert alarms(service) == {}
        assert charts(service)["score_mean"] == 100


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"judge": "nobody"}, 422, "judge"), ({"rubric": "nothing"}, 422, "rubric"),
        ({"judges": "alpha"}, 422, "judges"), ({"judge": 3}, 422, "judge"), ({}, 202, None),
    ],
    ids=["judge", "rubric", "field", "type", "all"],
)  # fmt: skip
def test_what_a_reset_may_say(
    provider: FakeProvider, folder: Path, body: object, status: int, field: str | None
) -> None:
    """Ids that there are."""
    with watched(provider, folder) as service:
        answer = service.http.post("/v1/watch/reset", json=body)

    assert answer.status_code == status
    assert field is None or answer.json()["error"]["field"] == field


@pytest.fixture
def keyed(provider: FakeProvider, folder: Path) -> Iterator[RunningService]:
    """A service with a key for admins and one for judging."""
    keys = folder / "keys.toml"
    entries = [("admin", ADMIN, '["judge", "admin"]'), ("trainer", JUDGE, '["judge"]')]
    keys.write_text(
        "".join(
            f'[[keys]]\nname = "{name}"\nsha256 = "{key_hash(pepper_of(SECRET), key)}"\n'
            f"scopes = {scopes}\n"
            for name, key, scopes in entries
        )
    )
    with watched(provider, folder, api_keys_file=keys, secret=SECRET) as running:
        yield running


@pytest.mark.parametrize(
    ("key", "status"), [(ADMIN, 202), (JUDGE, 403), ("wrong", 401), (None, 401)]
)
def test_a_reset_is_for_admins(keyed: RunningService, key: str | None, status: int) -> None:
    """It hides alarms."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}

    assert keyed.http.post("/v1/watch/reset", json={}, headers=headers).status_code == status


def test_the_command_shows_alarms(cli: Cli, provider: FakeProvider, folder: Path) -> None:
    """As a table or as JSON, with an exit code for each case."""
    provider.behave_by_default(noisy(2.0))
    with watched(provider, folder) as service:
        nothing = cli("watch", "--url", service.url)
        assess(service, ["An answer."] * 100)
        quiet = cli("watch", "--url", service.url)
        provider.behave_by_default(noisy(4.0))
        until_alarm(service, "score_mean", lambda: assess(service, ["x"] * 10), 10)
        alarm = cli("watch", "--url", service.url, "--json")
        shown = cli("watch", "--url", service.url)
        other = cli("watch", "--url", service.url, "--judge", "beta")
        reset = cli("watch", "--url", service.url, "--reset", "--judge", "alpha")
        after = cli("watch", "--url", service.url)

    assert (nothing.code, quiet.code, alarm.code, shown.code) == (3, 0, 2, 2)
    assert "nothing was judged yet" in nothing.err
    assert "no alarm" in quiet.out
    assert [one["statistic"] for one in alarm.json["alarms"]] == ["score_mean"]
    assert "score_mean" in shown.flat
    assert "one false alarm in 20,000" in shown.flat
    assert other.code == 3
    assert (reset.code, after.code) == (0, 3)
    assert "1 alarm went with it" in reset.err


def test_the_command_where_watching_is_off(cli: Cli, provider: FakeProvider, folder: Path) -> None:
    """Nothing to show is not the same as no alarm."""
    with watched(provider, folder, watch="[watch]\nenabled = false") as service:
        off = cli("watch", "--url", service.url)

    assert off.code == 3
    assert "watching is off" in off.err


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        ((), 1, "missing: --url"),
        (("--url", "http://127.0.0.1:9"), 1, "cannot connect"),
        (("--nothing",), 1, "No such option"),
    ],
    ids=["no url", "nobody there", "usage"],
)
def test_the_commands_mistakes(cli: Cli, args: tuple[str, ...], code: int, told: str) -> None:
    """Wrong usage ends with 1, for 2 is an alarm."""
    ran = cli("watch", *args)

    assert ran.code == code
    assert told in ran.err


def test_half_a_table(provider: FakeProvider, folder: Path) -> None:
    """A process that judged nothing shows an empty list of everything."""
    with watched(provider, folder, watch=table()) as service:
        watch = state(service).watch

    assert watch is not None
    assert (watch.alarms, watch.charts, watch.failures) == ([], [], [])
