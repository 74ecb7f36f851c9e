"""Redis clients for a target, and what their errors mean: the only file that imports redis."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from redis import exceptions as errors
from redis.asyncio import (
    Connection,
    ConnectionPool,
    Redis,
    RedisCluster,
    Sentinel,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import RedisSSLContext
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelManagedSSLConnection
from redis.backoff import NoBackoff

from judge_service.adapters.redis_url import RedisTarget
from judge_service.errors import ConfigError
from judge_service.settings import PREFIX

Refused = errors.ResponseError
"""Redis answered, and said no."""
Dropped = (errors.ConnectionError, OSError)
"""The connection is gone, or there is none to be had."""
RedisFailed = (errors.RedisError, errors.RedisClusterException, OSError)
"""All that an operation may raise."""
SENTINEL_S = 0.2
"""How long one sentinel may take to answer before the next one is asked."""
FailureKind: TypeAlias = Literal["busy", "refused", "gone", "out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What an error says. ``busy``: no connection was free; ``refused``: Redis lives and does not
    do this; ``gone``: perhaps it is not there; ``out``: it is no use to ask on.
    """

    kind: FailureKind
    sentence: str
    read_only: bool = False


def failure_of(error: BaseException) -> Failure:
    """What an operation's error means. The sentence holds nothing that Redis or the URL says."""
    match error:
        case errors.MaxConnectionsError():
            return Failure(kind="busy", sentence="no connection is free")
        case errors.AuthenticationError() | errors.AuthorizationError():
            return Failure(kind="out", sentence="authentication failed: wrong user or password")
        case errors.BusyLoadingError():
            return Failure(kind="out", sentence="is loading its data")
        case errors.TimeoutError() | TimeoutError():
            return Failure(kind="gone", sentence="does not answer in time")
        case errors.ClusterError() | errors.RedisClusterException():
            return Failure(kind="gone", sentence="the cluster cannot be used")
        case errors.ResponseError():
            return _refusal(error)
        case errors.InvalidResponse():
            return Failure(kind="gone", sentence="does not speak Redis's protocol")
    return Failure(kind="gone", sentence="cannot be reached")


def _refusal(error: errors.ResponseError) -> Failure:
    match error:
        case errors.OutOfMemoryError():
            return Failure(kind="refused", sentence="it is out of memory")
        case errors.ReadOnlyError():
            return Failure(kind="refused", sentence="it is a read-only replica", read_only=True)
        case errors.NoPermissionError():
            return Failure(kind="refused", sentence="this user may not do that")
        case errors.AskError():
            return Failure(kind="refused", sentence="it is part of a cluster (redis+cluster://)")
    return Failure(kind="refused", sentence="it reports an error")


def tls_context(target: RedisTarget) -> RedisSSLContext | None:
    """What all TLS connections to the target share: reading the machine's certificates anew for
    each of them would hold up everything else. Raises ConfigError.
    """
    if not target.tls:
        return None
    options: dict[str, Any] = {
        name.removeprefix("ssl_"): value for name, value in target.tls_options.items()
    }
    shared = RedisSSLContext(**{"cert_reqs": "required", "check_hostname": True, **options})
    try:
        shared.get()
    except (OSError, ValueError):
        raise ConfigError(f"{PREFIX}REDIS_URL: a file of its ssl_ options is no use") from None
    return shared


class _TlsConnection(SSLConnection):
    def __init__(self, *, shared_tls: RedisSSLContext, **more: Any) -> None:
        super().__init__(**more)
        self.ssl_context = shared_tls


class _SentinelTlsConnection(SentinelManagedSSLConnection):
    def __init__(self, *, shared_tls: RedisSSLContext, **more: Any) -> None:
        super().__init__(**more)  # type: ignore[no-untyped-call]  # redis-py has no types here
        self.ssl_context = shared_tls


class RedisLink:
    """One client for one target and all its connections. Operations are bounded by whoever calls,
    as a whole; ``read_s`` bounds single reads and writes where nobody does. ``reconnected`` is told
    when a connection that was dropped is there again.
    """

    def __init__(
        self,
        target: RedisTarget,
        tls: RedisSSLContext | None,
        *,
        connect_s: float,
        read_s: float | None = None,
        reconnected: Callable[[], None] | None = None,
    ) -> None:
        self._sentinel: Sentinel | None = None
        self._reconnected = reconnected
        self._connected: weakref.WeakSet[Any] = weakref.WeakSet()
        self.clustered = target.kind == "cluster"
        common = {
            **_common(connect_s, read_s),
            # One more than is used, for the look at Redis's health.
            "max_connections": target.connections + 1,
            "username": target.username,
            "password": target.password,
        }
        if target.kind != "cluster":
            # A cluster loses one node's part at a time, which is not noticed here.
            common["redis_connect_func"] = self._connect
        self._redis: Any
        if target.kind == "unix":
            pool = ConnectionPool(
                UnixDomainSocketConnection, path=str(target.path), db=target.db, **common
            )
            self._redis = Redis.from_pool(pool)
        elif target.kind == "cluster":
            self._redis = _cluster(target, tls, common)
        elif target.kind == "sentinel":
            self._sentinel = _sentinel(target, tls)
            if tls is not None:
                common |= {"connection_class": _SentinelTlsConnection, "shared_tls": tls}
            self._redis = self._sentinel.master_for(str(target.service), db=target.db, **common)
        else:
            host, port = target.hosts[0]
            self._redis = _client(host, port, tls, {**common, "db": target.db})

    async def _connect(self, connection: Any) -> None:
        """After the socket is open. A connection that was open before had been dropped: perhaps
        the server was restarted, and the client makes no fuss about it.
        """
        await connection.on_connect()
        if connection in self._connected and self._reconnected is not None:
            self._reconnected()
        self._connected.add(connection)

    async def command(self, *words: str | bytes | int | float) -> Any:
        """One command and its answer."""
        return await self._redis.execute_command(*words)

    async def together(self, *commands: Sequence[str | bytes | int | float]) -> list[Any]:
        """Several commands in one round trip. An answer may be a ``Refused``."""
        pipe = self._redis.pipeline(transaction=False)
        for words in commands:
            pipe.execute_command(*words)
        return _answers(await pipe.execute(raise_on_error=False))

    async def atomic(self, key: str, *commands: Sequence[str | bytes | int | float]) -> list[Any]:
        """Several commands on one key between MULTI and EXEC, in one round trip. An answer may be
        a ``Refused``; it is raised when none of them was done.
        """
        if self.clustered:
            return await self._atomic_in_cluster(key, commands)
        pipe = self._redis.pipeline(transaction=True)
        for words in commands:
            pipe.execute_command(*words)
        return _answers(await pipe.execute(raise_on_error=False))

    async def _atomic_in_cluster(
        self, key: str, commands: Sequence[Sequence[str | bytes | int | float]]
    ) -> list[Any]:
        # redis-py's own cluster transactions start a thread per command.
        await self._redis.initialize()
        answers: list[Any] = []
        for _ in range(2):
            node = self._redis.get_node_from_key(key)
            pipe = self._redis.pipeline()
            for words in (("MULTI",), *commands, ("EXEC",)):
                pipe.execute_command(*words, target_nodes=node)
            answers = await pipe.execute(raise_on_error=False, allow_redirections=False)
            if isinstance(answers[-1], list):
                return _answers(answers[-1])
            if not any(isinstance(answer, errors.AskError) for answer in answers):
                break
            # The key's slot has moved; following a plain command there corrects the map.
            await self.command("PTTL", key)
        raise next(a for a in answers if isinstance(a, BaseException))

    async def ping(self) -> None:
        """Raises unless Redis answers."""
        with contextlib.suppress(errors.NoPermissionError):  # which is an answer
            await self._redis.ping()

    async def clock(self) -> float | None:
        """Redis's time in seconds, None where it is not told to this user."""
        try:
            seconds, micros = await self._redis.time(
                **({"target_nodes": self._redis.get_default_node()} if self.clustered else {})
            )
        except Refused:
            return None
        return float(seconds) + float(micros) / 1e6

    def keys(self, pattern: str) -> Any:
        """An iterator over all keys of the pattern, in no order and perhaps some of them twice."""
        return self._redis.scan_iter(match=pattern, count=500)

    async def aclose(self) -> None:
        """Close all connections."""
        closing = [self._redis.aclose()]
        if self._sentinel is not None:
            closing.append(self._sentinel.aclose())
        if self.clustered:
            # Its own aclose() passes over nodes while the cluster's map is being read anew.
            closing.append(self._redis.nodes_manager.aclose())
            closing.append(self._redis.nodes_manager.aclose("startup_nodes"))
        await asyncio.gather(*closing, return_exceptions=True)


def _answers(answers: list[Any]) -> list[Any]:
    """Raises what is no answer of Redis."""
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, Refused):
            raise answer
    return answers


def _common(connect_s: float, read_s: float | None) -> dict[str, Any]:
    return {
        "socket_timeout": read_s,
        "socket_connect_timeout": connect_s,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,
        "driver_info": None,
    }


def _client(host: str, port: int, tls: RedisSSLContext | None, more: dict[str, Any]) -> Redis:
    if tls is None:
        return Redis.from_pool(ConnectionPool(Connection, host=host, port=port, **more))
    return Redis.from_pool(
        ConnectionPool(_TlsConnection, host=host, port=port, shared_tls=tls, **more)
    )


def _sentinel(target: RedisTarget, tls: RedisSSLContext | None) -> Sentinel:
    user = {"username": target.sentinel_username, "password": target.sentinel_password}
    sentinel = Sentinel([])  # type: ignore[no-untyped-call]  # redis-py has no types here
    sentinel.sentinels = [
        _client(host, port, tls, {**_common(SENTINEL_S, SENTINEL_S), **user})
        for host, port in target.hosts
    ]
    return sentinel


def _cluster(
    target: RedisTarget, tls: RedisSSLContext | None, common: dict[str, Any]
) -> RedisCluster:
    cluster = RedisCluster(
        startup_nodes=[ClusterNode(host, port) for host, port in target.hosts],
        require_full_coverage=False,
        ssl=tls is not None,
        **common,
    )
    if tls is not None:
        # What nodes found later are made with, and those that were made just now.
        cluster.connection_kwargs |= {"connection_class": _TlsConnection, "shared_tls": tls}
        for node in cluster.nodes_manager.startup_nodes.values():
            node.connection_class = _TlsConnection
            node.connection_kwargs["shared_tls"] = tls
    return cluster
