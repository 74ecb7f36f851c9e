"""A service with judges and rubrics for every situation of a pair."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compare.support import (
    HARD_RULE,
    JUDGES,
    score,
)
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Judges of four families; without ``judges`` the first one is asked."""
    folder = tmp_path_factory.mktemp("compare")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "ruled", kind="compare", rules=HARD_RULE)
    write_rubric(folder, "three", kind="compare", panel_size=3, quorum=2)
    write_rubric(folder, "fallback", kind="compare", fallback="family")
    write_rubric(folder, "escalate", kind="compare", on_inconsistent="escalate")
    write_rubric(folder, "plain", kind="compare", normalize_formatting=True)
    write_rubric(folder, "trajectory", kind="compare", judged="trajectory")
    judges = Judges(provider)
    for place, (judge, family) in enumerate(JUDGES.items()):
        judges.add(judge, family, weight=10.0 ** (40 - 8 * place))
    judges.add("fussy", "epsilon", weight=0.001)
    judges.add("small", "zeta", weight=0.001, context_tokens=1000)
    judges.add("narrow", "eta", weight=0.001)
    for number in range(2):
        judges.add(f"wordy-{number}", f"wordy-{number}", weight=0.001)
    with judged_by(judges, folder, breaker=False) as service:
        yield service


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> Iterator[None]:
    """Honest judges, no requests yet; and no envelope that a reader of its own cannot read."""
    provider.reset()
    provider.oracle(score)
    yield
    assert provider.problems == []
