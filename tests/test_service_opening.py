"""A service that is opened: what fails on the way leaves nothing open, and closing has an order."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from judge_service import service as opening
from judge_service.adapters.sqlite_store import SqliteStore
from judge_service.errors import ConfigError
from judge_service.judges.judge import JudgeSpec
from judge_service.rubric.folder import RubricFolder
from judge_service.service import open_service
from judge_service.settings import Settings
from judge_service.verdicts.source import VerdictSource
from tests.door.support import wait_for
from tests.harness import write_rubric

JUDGE = (
    '[[judges]]\nid = "a"\nfamily = "alpha"\nmodel = "openai/a"\napi_base = "http://127.0.0.1:9"\n'
)
SENTINEL = '[watch.sentinel]\nshare = 0.01\ndaily_cost_usd = 1.0\ngold = ["nowhere"]\n'


def settings(folder: Path, judges: str | None = JUDGE) -> Settings:
    """A service with a store in a file; the embedded judge where none are given."""
    write_rubric(folder)
    (folder / "anchors").mkdir(exist_ok=True)
    file = folder / "judges.toml"
    file.write_text(judges or "")
    return Settings(
        judges=None if judges is None else file,
        rubrics_dir=folder / "rubrics",
        anchors_dir=folder / "anchors",
        store=folder / "store.sqlite3",
    )


async def opened(chosen: Settings) -> None:
    """Open a service that watches, and close it."""
    async with open_service(chosen, {}, watched=True):
        pass


def is_open(file: Path) -> bool:
    """Whether this process has a file, or one beside it of the same name, open."""
    return any(one.path.startswith(str(file)) for one in psutil.Process().open_files())


def store_threads() -> int:
    """How many stores of this process are at work."""
    return sum(thread.name == "judge-service-store" for thread in threading.enumerate())


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('correction = "nowhere.json"\n', "correction"),
        ("[watch]\nno_such_setting = 1\n", "watch"),
        ('api_key_env = "NO_SUCH_KEY_HERE"\n', "NO_SUCH_KEY_HERE"),
        (SENTINEL, "nowhere"),
    ],
    ids=["a correction", "watching", "a key", "sentinels"],
)
def test_a_start_that_fails_leaves_nothing_open(tmp_path: Path, more: str, told: str) -> None:
    """Whatever it fails at: neither the store's file nor its thread is left."""
    before = store_threads()
    for _ in range(3):
        with pytest.raises(ConfigError, match=told):
            asyncio.run(opened(settings(tmp_path, JUDGE + more)))

    assert not is_open(tmp_path / "store.sqlite3")
    wait_for(lambda: store_threads() == before)


def test_the_store_is_closed_whatever_else_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One part that cannot be closed is told, and keeps no other from it."""

    async def fails(_: VerdictSource) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(VerdictSource, "aclose", fails)
    before = store_threads()
    with pytest.raises(RuntimeError, match="a bug"):
        asyncio.run(opened(settings(tmp_path)))

    assert not is_open(tmp_path / "store.sqlite3")
    wait_for(lambda: store_threads() == before)


def test_what_is_used_by_others_is_closed_after_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups and what follows first, then what asks, then the store, the embedded model last."""
    closed: list[str] = []

    def noted(part: Any, name: str = "aclose") -> None:
        close = getattr(part, name)

        def note(self: Any) -> Any:
            closed.append(part.__name__)
            return close(self)

        monkeypatch.setattr(part, name, note)

    for part in ("Cohorts", "BiasBoard", "Watching", "VerdictSource", "Gates", "BackendRouter"):
        noted(getattr(opening, part))
    noted(SqliteStore)
    noted(RubricFolder, "close")
    spec = JudgeSpec(id="local", model="openai/own", family="own", api_base="http://127.0.0.1:9")
    local = SimpleNamespace(spec=spec, key="k", close=lambda: closed.append("LocalModel"))
    monkeypatch.setattr(opening, "start_local_model", lambda *_: local)

    asyncio.run(opened(settings(tmp_path, None)))

    assert closed == [
        "Cohorts", "RubricFolder", "BiasBoard", "Watching", "VerdictSource", "Gates",
        "BackendRouter", "SqliteStore", "LocalModel",
    ]  # fmt: skip
