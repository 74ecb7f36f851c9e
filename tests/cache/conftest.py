"""A provider, and services that keep their verdicts in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider
from tests.waiting import waiting

__all__ = ["waiting"]
Open = Callable[..., AbstractContextManager[RunningService]]


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges; its honest score is 4 of 1 to 5."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> None:
    provider.reset()
    provider.oracle({}, default=4)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The file of the embedded store."""
    return tmp_path / "state" / "store.sqlite3"


@pytest.fixture
def opened(provider: FakeProvider, tmp_path: Path, store: Path) -> Open:
    """Opens a service with the judges main and other over the store; each time a new one."""
    write_rubric(tmp_path)
    write_rubric(tmp_path, "pair", kind="compare")

    def open_service(**more: Any) -> AbstractContextManager[RunningService]:
        spec = more.pop("main", {})
        judges = Judges(provider).add("main", "alpha", weight=1e9, **spec).add("other", "beta")
        return judged_by(judges, tmp_path, **{"store": store, **more})

    return open_service


@pytest.fixture
def service(opened: Open) -> Iterator[RunningService]:
    """One such service."""
    with opened() as service:
        yield service
