"""Redis servers for the tests of the stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ports import free_port
from tests.redis_server import RedisServer


@pytest.fixture(scope="session")
def shared_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One Redis for tests that do it no harm."""
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A cluster of one node that has all slots."""
    folder = tmp_path_factory.mktemp("cluster")
    with RedisServer(folder, cluster_enabled="yes", cluster_port=free_port()) as server:
        server.command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        server.until("CLUSTER", "INFO", says="cluster_state:ok")
        yield server


@pytest.fixture
def redis(shared_redis: RedisServer) -> RedisServer:
    """That Redis, empty."""
    shared_redis.command("FLUSHALL")
    return shared_redis


@pytest.fixture
def own_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis of the test's own, to be harmed."""
    with RedisServer(tmp_path_factory.mktemp("own")) as server:
        yield server
