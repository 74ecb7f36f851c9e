"""A service with the shipped rubrics, and where its judges live."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness import RunningService
from tests.http_api import shipped_service
from tests.provider import FakeProvider


@pytest.fixture(scope="package")
def live(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningService, FakeProvider]]:
    """A service with the shipped rubrics, and where its judges live."""
    with shipped_service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture
def provider(live: tuple[RunningService, FakeProvider]) -> FakeProvider:
    """Where the judges live; they are honest and have seen nothing yet."""
    live[1].reset()
    return live[1]


@pytest.fixture
def service(live: tuple[RunningService, FakeProvider], provider: FakeProvider) -> RunningService:
    """The service that is asked."""
    assert not provider.requests
    return live[0]
