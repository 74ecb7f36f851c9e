"""A provider, and a folder with rubrics for one answer and for two."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import write_rubric
from tests.provider import Behaviour, FakeProvider, behaviours


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """Where the judges live."""
    with FakeProvider() as fake:
        yield fake


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> Iterator[None]:
    provider.reset()
    provider.oracle(lambda text: 5 if "good" in text else 3)
    yield
    assert not provider.problems


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two rubrics."""
    write_rubric(tmp_path)
    write_rubric(tmp_path, "pair", kind="compare")
    return tmp_path


def noisy(mean: float, *, seed: int = 1, spread: float = 1.0) -> Behaviour:
    """A judge whose points scatter around a mean, whatever it is shown."""
    draw = random.Random(seed)  # noqa: S311 - a repeatable draw, no secret
    return behaviours.decides(lambda _: min(5, max(1, round(draw.gauss(mean, spread)))))
