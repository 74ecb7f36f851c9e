"""A service for trainers: one judge, rubrics with and without references, rules and criteria."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness import CRITERION, Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider
from tests.waiting import seats, waiting

__all__ = ["seats", "waiting"]
RULES = '[[rules]]\nrule = "forbidden_text"\ntext = "forbidden"\nhard = true\n'
WEIGHED = """
[[rules]]
rule = "max_words"
limit = 3
weight = 1.0
[weights]
rule = 0.3
model = 0.7
"""
TWO = CRITERION.replace("weight = 1.0", "weight = 0.75") + CRITERION.replace(
    'name = "quality"\nweight = 1.0', 'name = "clarity"\nweight = 0.25'
)


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of the judge."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """The judge main, asked however often it fails."""
    folder = tmp_path_factory.mktemp("trainers")
    write_rubric(folder, rules=RULES)
    write_rubric(folder, "two", criteria=TWO)
    write_rubric(folder, "weighed", rules=WEIGHED)
    write_rubric(folder, "pair", kind="compare", rules=RULES)
    write_rubric(folder, "known", reference="required")
    write_rubric(folder, "blind", reference="forbidden")
    with judged_by(Judges(provider).add("main", "alpha"), folder, breaker=False) as service:
        yield service


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An honest judge: a text's score is the digit it begins with, 3 without one. No long pauses
    between tries.
    """
    monkeypatch.setattr("judge_service.api.trainers.hold.FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr("judge_service.api.trainers.hold.LAST_PAUSE_S", 0.2)
    provider.reset()
    provider.oracle(lambda text: int(text[0]) if text[:1].isdigit() else 3)
    yield
    assert provider.problems == []
