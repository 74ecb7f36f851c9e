"""Servers of the SDK over a real judge service and over a stand-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.dashscope.sdk_server import GROUP, REWARD, SdkServer, serving
from tests.clients.stand_in import StandIn
from tests.harness import RunningService


@pytest.fixture(scope="package")
def reward(
    service: RunningService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SdkServer]:
    """The reward processor over the real service."""
    settings = {"URL": service.url, "RUBRIC": "quality", "TIMEOUT_S": "50"}
    with serving(REWARD, "reward", settings, tmp_path_factory.mktemp("reward")) as server:
        yield server


@pytest.fixture(scope="package")
def ranker() -> Iterator[StandIn]:
    """A service that ranks as it is told to."""
    with StandIn() as stand_in:
        yield stand_in


@pytest.fixture(scope="package")
def group(ranker: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SdkServer]:
    """The group reward processor over the stand-in."""
    settings = {"URL": ranker.url, "RUBRIC": "quality", "TIMEOUT_S": "5"}
    with serving(GROUP, "group_reward", settings, tmp_path_factory.mktemp("group")) as server:
        yield server
