"""A small service, and where its judges live."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness import RunningService
from tests.http_bodies import (
    small_service,
)
from tests.provider import FakeProvider


@pytest.fixture(scope="package")
def parts(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningService, FakeProvider]]:
    """The service and where its judges live."""
    with small_service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture
def service(parts: tuple[RunningService, FakeProvider]) -> RunningService:
    """The service that is asked."""
    return parts[0]


@pytest.fixture
def provider(parts: tuple[RunningService, FakeProvider]) -> FakeProvider:
    """Where its judges live; it has seen nothing yet."""
    parts[1].reset()
    return parts[1]
