"""A service of two judges, with rubrics for one answer and for two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

SHORT = '[[rules]]\nrule = "max_chars"\nlimit = 400\nhard = true\n'


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """Where the judges live. A text with "good" in it is worth 5, others 2."""
    with FakeProvider() as fake:
        yield fake


@pytest.fixture
def folder(provider: FakeProvider, tmp_path: Path) -> Path:
    """A folder with two judges and two rubrics."""
    write_rubric(tmp_path, rules=SHORT)
    write_rubric(tmp_path, "pair", kind="compare", rules=SHORT)
    (tmp_path / "anchors").mkdir()
    two_judges(provider).write(tmp_path)
    return tmp_path


def two_judges(provider: FakeProvider) -> Judges:
    """``alpha`` is asked unless it is left out."""
    judges = Judges(provider).add("alpha", weight=1e12, price={"input": 1.0, "output": 2.0})
    return judges.add("beta", weight=1e-6)


@pytest.fixture
def service(provider: FakeProvider, folder: Path) -> Iterator[RunningService]:
    """A service of its own for every test, so that counts begin at 0."""
    with judged_by(two_judges(provider), folder) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> Iterator[None]:
    provider.reset()
    provider.oracle(lambda text: 5 if "good" in text else 2)
    yield
    assert not provider.problems
