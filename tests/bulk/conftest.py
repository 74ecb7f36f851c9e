"""A service of two judges for the tests of bulks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

REFERENCE_RULE = '[[rules]]\nrule = "matches_reference"\nmode = "multiple_choice"\nhard = true'


@pytest.fixture(scope="session")
def bulk_provider() -> Iterator[FakeProvider]:
    """The provider of all judges."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="session")
def bulk_service(
    bulk_provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Ann judges; Slow only where it is asked for."""
    folder = tmp_path_factory.mktemp("bulk")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "letters", rules=REFERENCE_RULE)
    write_rubric(folder, "needs", reference="required")
    judges = Judges(bulk_provider).add("ann", "alpha", weight=1e30).add("slow", "beta")
    with judged_by(judges, folder) as running:
        running.assess()  # the first request of all is slower
        yield running


@pytest.fixture
def provider(bulk_provider: FakeProvider) -> FakeProvider:
    """The provider with honest judges and no requests yet: texts say what they are worth."""
    bulk_provider.reset()
    bulk_provider.oracle(lambda text: int(text[0]) if text[:1] in "12345" else 3)
    return bulk_provider


@pytest.fixture
def service(bulk_service: RunningService, provider: FakeProvider) -> RunningService:
    """The service, its provider fresh."""
    assert provider is not None
    return bulk_service
