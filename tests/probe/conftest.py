"""Judges on the fake provider who know the shipped items, and rubrics to probe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_service.probing.item import shipped_items
from tests.cli.conftest import _logging_as_before, cli, pytest_configure
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

__all__ = ["_logging_as_before", "cli", "pytest_configure"]

GOOD = {text for item in shipped_items() for text in (item.good, item.also_good) if text}
POOR = [text for item in shipped_items() for text in (item.weak, item.foreign) if text]
GUARDS = """
[[rules]]
rule = "opener_only"
hard = true
[[rules]]
rule = "refusal"
hard = true
[[rules]]
rule = "finished"
hard = true
"""


def honest(text: str) -> int:
    """5 for a good answer, 2 where a poor one is in the text whatever hangs on it, 1 for nothing.

    Markup is seen through, too.
    """
    if text in GOOD:
        return 5
    plain = text.replace("- ✅ **", "").replace("**\n", "\n")
    return 2 if any(poor in plain or poor in text for poor in POOR) else 1


@pytest.fixture(scope="session")
def provider() -> Iterator[FakeProvider]:
    """Where the judges live."""
    with FakeProvider() as fake:
        fake.oracle(honest)
        yield fake


@pytest.fixture(autouse=True)
def _forget(provider: FakeProvider) -> Iterator[None]:
    yield
    assert not provider.problems
    provider.reset()


@pytest.fixture(scope="session")
def folder(provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two judges and four rubrics: ``quality`` without rules, ``guarded`` with some
    and with length control, ``pair``, and ``panel``, which wants two judges.
    """
    made = tmp_path_factory.mktemp("probes")
    judges(provider).write(made)
    write_rubric(made)
    length = "[length]\nfree_chars = 400\nzero_chars = 1200"
    write_rubric(made, "guarded", rules=GUARDS, length=length)
    write_rubric(made, "pair", kind="compare")
    write_rubric(made, "panel", panel_size=2, quorum=2)
    (made / "anchors").mkdir()
    return made


def judges(provider: FakeProvider) -> Judges:
    """``alpha`` is asked unless it is left out; ``beta`` is there for validation."""
    made = Judges(provider).add("alpha", price={"input": 1.0, "output": 2.0})
    return made.add("beta", purpose="validate", price={"input": 1.0, "output": 2.0})


@pytest.fixture
def here(folder: Path) -> list[str]:
    """The options that make a command judge in process with what is in ``folder``."""
    return [
        "--judges-file", str(folder / "judges.toml"),
        "--rubrics-dir", str(folder / "rubrics"),
        "--anchors-dir", str(folder / "anchors"),
    ]  # fmt: skip


@pytest.fixture(scope="session")
def service(provider: FakeProvider, folder: Path) -> Iterator[RunningService]:
    """The same, as a running service."""
    with judged_by(judges(provider), folder, breaker=False) as running:
        yield running


@pytest.fixture(params=["in process", "over HTTP"])
def where(request: pytest.FixtureRequest, here: list[str]) -> list[str]:
    """Both ways of judging; a test that takes this runs both ways."""
    if request.param == "in process":
        return here
    running: RunningService = request.getfixturevalue("service")
    return ["--url", running.url]
