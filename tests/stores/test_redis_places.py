"""Every kind of Redis that a URL can name: sockets, TLS, sentinels, clusters."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.ports import free_port
from tests.redis_server import RedisServer
from tests.stores.support import found, hold, is_well, put, redis_store, run, sure, until

FAILOVER_S = 30.0


async def works(url: str) -> None:
    """A store over the URL does what a store does."""
    async with redis_store(url) as store:
        await until(lambda: is_well(store))
        await until(lambda: store.put("a", b"1", 60.0))
        assert await found(store, "a") == b"1"
        assert await store.put_new("a", b"2", 60.0) is False
        assert await sure(lambda: store.add("n", 2, 60.0)) == 2
        assert await hold(store, "h", "me") is True
        assert await hold(store, "h", "you") is False
        assert ("a", b"1") in [(key, value) async for key, value, _ in store.scan("a")]
        assert await store.delete("a", "n", "h") == 3
        assert await store.trouble() is None


def test_database_and_credentials(own_redis: RedisServer) -> None:
    """User, password and database of the URL are used, percent signs and all."""
    own_redis.command("ACL", "SETUSER", "ann", "on", ">p@:/#?ss", "~*", "+@all")
    run(works(f"redis://ann:p%40%3A%2F%23%3Fss@127.0.0.1:{own_redis.port}/3"))
    own_redis.command("-n", 3, "SET", "left", "1")

    async def work() -> None:
        async with redis_store(f"{own_redis.url[:-1]}3") as store:
            assert await found(store, "left") == b"1"

    run(work())


def test_unix_socket(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Redis behind a Unix socket."""
    folder = tmp_path_factory.mktemp("u")
    with RedisServer(folder, unixsocket=folder / "r.sock"):
        run(works(f"unix://{folder}/r.sock?db=2"))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a self-signed certificate for this machine, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"),
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def tls_port(certificate: Path, tmp_path: Path) -> Iterator[int]:
    """A Redis that speaks TLS."""
    port = free_port()
    with RedisServer(
        tmp_path,
        tls_port=port,
        tls_cert_file=certificate / "cert.pem",
        tls_key_file=certificate / "key.pem",
        tls_auth_clients="no",
    ):
        yield port


def test_tls(tls_port: int, certificate: Path) -> None:
    """A rediss URL checks the certificate against the named authority, and works."""
    run(works(f"rediss://127.0.0.1:{tls_port}?ssl_ca_certs={certificate / 'cert.pem'}"))
    run(works(f"rediss://127.0.0.1:{tls_port}?ssl_cert_reqs=none"))


def test_tls_that_is_not_trusted(tls_port: int) -> None:
    """A certificate of nobody we know is trouble, not a connection."""

    async def work() -> None:
        async with redis_store(f"rediss://127.0.0.1:{tls_port}") as store:
            assert "cannot be reached" in str(await store.trouble())
            assert await store.put("a", b"1", 60.0) is False

    run(work())


def test_sentinel_and_failover(tmp_path: Path) -> None:
    """The sentinels name the master, and its successor after it was killed; a dead sentinel is
    passed over.
    """
    with ExitStack() as stack:
        folders = [tmp_path / name for name in ("master", "replica", "sentinel")]
        for folder in folders:
            folder.mkdir()
        master = stack.enter_context(RedisServer(folders[0]))
        replica = stack.enter_context(RedisServer(folders[1], replicaof=f"127.0.0.1 {master.port}"))
        replica.until("INFO", "replication", says="master_link_status:up")
        sentinel = stack.enter_context(
            RedisServer(
                folders[2],
                sentinel=True,
                sentinel__monitor=f"main 127.0.0.1 {master.port} 1",
                sentinel__down_after_milliseconds="main 300",
                sentinel__failover_timeout="main 3000",
            )
        )
        sentinel.until("SENTINEL", "REPLICAS", "main", says=str(replica.port))
        url = f"redis+sentinel://127.0.0.1:{free_port()},127.0.0.1:{sentinel.port}/main/0"

        async def work() -> None:
            async with redis_store(url) as store:
                await until(lambda: is_well(store))
                await put(store, "a", b"1")
                master.kill()
                await until(lambda: is_well(store), FAILOVER_S)
                assert await found(store, "well") == b"1"

        run(work())
        assert replica.command("GET", "well") == "1"


def test_cluster_of_three(tmp_path: Path) -> None:
    """Keys of all slots, on three nodes; with one of them killed the others are still used."""
    with ExitStack() as stack:
        nodes = []
        for number in range(3):
            folder = tmp_path / str(number)
            folder.mkdir()
            nodes.append(
                stack.enter_context(
                    RedisServer(
                        folder,
                        cluster_enabled="yes",
                        cluster_port=free_port(),
                        cluster_node_timeout=2000,
                        cluster_require_full_coverage="no",
                    )
                )
            )
        for node, first, last in zip(nodes, (0, 5461, 10923), (5460, 10922, 16383), strict=True):
            node.command("CLUSTER", "ADDSLOTSRANGE", first, last)
        for node in nodes[1:]:
            bus = nodes[0].command("CONFIG", "GET", "cluster-port").split()[-1]
            node.command("CLUSTER", "MEET", "127.0.0.1", nodes[0].port, bus)
        for node in nodes:
            node.until("CLUSTER", "INFO", says="cluster_slots_ok:16384")
        url = "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in nodes)

        async def work() -> None:
            async with redis_store(url) as store:
                await until(lambda: is_well(store))
                for n in range(30):
                    await until(lambda n=n: store.put(f"k{n}", b"1", 60.0))  # type: ignore[misc]
                    assert await store.add(f"n{n}", n, 60.0) == n
                assert len([key async for key, _, _ in store.scan("k")]) == 30
                assert await store.delete(*[f"k{n}" for n in range(30)]) == 30
                nodes[2].kill()
                for n in range(30):
                    if node_of(nodes[0], f"k{n}") < 2:
                        await put(store, f"k{n}", b"2")
                        assert await found(store, f"k{n}") == b"2"

        run(work())
        assert all(int(node.command("DBSIZE")) > 3 for node in nodes[:2])


def node_of(server: RedisServer, key: str) -> int:
    """Which of the three nodes has the key."""
    return int(server.command("CLUSTER", "KEYSLOT", key)) // 5461


def test_tls_cluster_and_sentinel(tmp_path: Path, certificate: Path) -> None:
    """Clusters and sentinels are reached over TLS, too."""
    tls: dict[str, Any] = {
        "tls_cert_file": certificate / "cert.pem",
        "tls_key_file": certificate / "key.pem",
        "tls_ca_cert_file": certificate / "cert.pem",
        "tls_auth_clients": "no",
        "tls_replication": "yes",
    }
    options = f"ssl_ca_certs={certificate / 'cert.pem'}"
    with ExitStack() as stack:
        ports = [free_port() for _ in range(3)]
        folders = [tmp_path / str(number) for number in range(3)]
        for folder in folders:
            folder.mkdir()
        node = stack.enter_context(
            RedisServer(
                folders[0],
                tls_port=ports[0],
                tls_cluster="yes",
                cluster_enabled="yes",
                cluster_port=free_port(),
                **tls,
            )
        )
        node.command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        node.until("CLUSTER", "INFO", says="cluster_state:ok")
        run(works(f"rediss+cluster://127.0.0.1:{ports[0]}?{options}"))
        stack.enter_context(RedisServer(folders[1], tls_port=ports[1], **tls))
        sentinel = stack.enter_context(
            RedisServer(
                folders[2],
                sentinel=True,
                tls_port=ports[2],
                sentinel__monitor=f"main 127.0.0.1 {ports[1]} 1",
                **tls,
            )
        )
        sentinel.until("SENTINEL", "MASTERS", says="role-reported")
        run(works(f"rediss+sentinel://127.0.0.1:{ports[2]}/main?{options}"))
