"""A service with judges of several families, and a rubric for every panel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.panel.support import (
    GOOD,
    JUDGES,
    TWO_CRITERIA,
)
from tests.provider import FakeProvider


@pytest.fixture(scope="package")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges; its honest score is 4 of 1 to 5."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="package")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Judges of four families, one of them for validation, and a rubric for every panel."""
    folder = tmp_path_factory.mktemp("panel")
    write_rubric(folder)
    write_rubric(folder, "three", panel_size=3, quorum=2)
    write_rubric(folder, "all", panel_size=3, quorum=3)
    write_rubric(folder, "pair-of-two", kind="compare", panel_size=2, quorum=2)
    write_rubric(folder, "fallback", fallback="family")
    write_rubric(folder, "fallback-both", fallback="family", panel_size=2, quorum=2)
    write_rubric(folder, "fallback-two", criteria=TWO_CRITERIA, fallback="family")
    write_rubric(folder, "zero", on_unjudgeable="zero")
    write_rubric(folder, "zero-two", criteria=TWO_CRITERIA, on_unjudgeable="zero", ask="together")
    write_rubric(folder, "zero-panel", on_unjudgeable="zero", panel_size=2)
    judges = Judges(provider)
    for place, (judge, family) in enumerate(JUDGES.items()):
        purpose = "validate" if judge == "dora" else "train"
        judges.add(judge, family, purpose=purpose, weight=10.0 ** (40 - 8 * place))
    with judged_by(judges, folder, breaker=False) as service:
        yield service


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> None:
    """Honest judges, no requests yet."""
    provider.reset()
    provider.oracle({}, default=GOOD)
