"""Everything a Redis can do wrong: the right verdict still comes, and hardly later."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import aiohttp
import redis

from benchmarks.faults import load
from benchmarks.faults.load import Ask
from benchmarks.faults.redis_server import Killer, RedisServer
from benchmarks.faults.report import Report, quantile
from benchmarks.faults.stage import Stage
from benchmarks.faults.tally import Tally

ADDED_S = 0.06
RECONNECT_S = 5.0
LOG_LINES = 10
PAUSE_S = 0.02
Act = Callable[[RedisServer], None]


def _wrong_type(server: RedisServer) -> None:
    _each(server, lambda client, key: (client.delete(key), client.lpush(key, b"x")))


def _garbage(server: RedisServer) -> None:
    values = [b"", b"{}", b"\xff\xfe", b"null", b'{"reward": 1.0}', b"5", b"x" * 3_000_000]
    for number, key in enumerate(keys(server)):
        server.client.set(key, values[number % len(values)], ex=600)


def _flipped(server: RedisServer) -> None:
    for number, (key, value) in enumerate(strings(server)):
        changed = bytearray(value)
        changed[number * 7 % len(changed)] ^= 1
        server.client.set(key, bytes(changed), ex=600)


def _swapped(server: RedisServer) -> None:
    found = strings(server)
    for (key, _), (_, value) in zip(found, found[1:] + found[:1], strict=True):
        server.client.set(key, value, ex=600)


def _cut(server: RedisServer) -> None:
    for key, value in strings(server):
        server.client.set(key, value[: len(value) // 2], ex=600)


def _full(server: RedisServer) -> None:
    server.client.config_set("maxmemory-policy", "noeviction")
    server.client.config_set("maxmemory", "1")


def _read_only(server: RedisServer) -> None:
    server.client.replicaof("127.0.0.1", "1")


def _flushed(server: RedisServer) -> None:
    server.client.flushall()


def _locked(server: RedisServer) -> None:
    server.client.config_set("requirepass", "another password")
    _drop_connections(server, "another password")


def _restarted(server: RedisServer) -> None:
    server.kill()
    server.start()


CASES: dict[str, Act] = {
    "values of the wrong type": _wrong_type,
    "garbage values": _garbage,
    "flipped bits": _flipped,
    "swapped values": _swapped,
    "cut values": _cut,
    "flushed": _flushed,
    "restarted": _restarted,
    "full": _full,
    "read-only": _read_only,
    "wrong password": _locked,
    "frozen": RedisServer.freeze,
    "killed": RedisServer.kill,
}
"""What is done to Redis while verdicts are in it."""


def matrix(stage: Stage, *, seed: int = 1, requests: int = 40) -> Iterator[Report]:
    """Each fault in turn: old and new verdicts asked for, all must be right and in time."""
    for number, (name, act) in enumerate(CASES.items()):
        yield one(stage, name, act, seed * 1000 + number, requests)


def one(stage: Stage, name: str, act: Act, seed: int, requests: int) -> Report:
    """One fault: ask, let it happen, ask again for the same and for something new."""
    report = Report(f"redis: {name}", seed)
    server = stage.redis
    assert server is not None
    stage.provider.control(reset=True, seed=seed, faults=0.0, only=None, latency_s=0.005)
    old = [load.assess(f"{name} {seed} {n}", timeout_s=10.0) for n in range(requests)]
    new = [load.assess(f"{name} new {seed} {n}", timeout_s=10.0) for n in range(requests)]
    # Whatever was done to Redis before this is over once every process uses it again.
    report.at_most("used before", reconnect_s(stage, seed), RECONNECT_S, " s")
    kept_before = len(keys(server))
    first = _asked(stage, old, seed)
    report.exactly("verdicts before", first.success, requests)
    stored = _written(server, kept_before, requests)
    lines = stage.service.log_lines()
    act(server)
    # A second process has not seen these verdicts; the memory of the first must not hide a fault.
    tally = _asked(stage, [*old, *new, *old], seed)
    tally.promises(report, 3 * requests)
    report.exactly("verdicts", tally.success, 3 * requests)
    report.at_least("keys in Redis before", stored, 1)
    report.at_most("log lines", stage.service.log_lines() - lines, LOG_LINES * stage.workers)
    server.thaw() if name == "frozen" else None
    server.kill()
    server.start()
    report.at_most("used again after", reconnect_s(stage, seed), RECONNECT_S, " s")
    return report


def latency(stage: Stage, *, seed: int = 1, requests: int = 300) -> Report:
    """What a frozen, missing or dying Redis adds to the time of an uncached request."""
    report = Report("redis: latency", seed)
    server = stage.redis
    assert server is not None
    stage.provider.control(reset=True, seed=seed, faults=0.0, only=None, latency_s=0.005)
    _asked(stage, [load.assess(f"warm {seed} {n}") for n in range(100)], seed)
    healthy = _timed(stage, "healthy", seed, requests)
    report.figures["healthy"] = _figures(healthy)
    states: dict[str, tuple[Act | None, AbstractContextManager[object]]] = {
        "frozen": (RedisServer.freeze, nullcontext()),
        "down": (RedisServer.kill, nullcontext()),
        "flapping": (None, Killer(server, every_s=0.7, down_s=0.4)),
    }
    for name, (act, during) in states.items():
        lines = stage.service.log_lines()
        if act is not None:
            act(server)
        with during:
            slower = _timed(stage, name, seed, requests)
        for share in (0.5, 0.99):
            added = quantile(slower, share) - quantile(healthy, share)
            report.at_most(f"{name}: added at p{share * 100:g}", added, ADDED_S, " s")
        report.figures[name] = _figures(slower)
        more = stage.service.log_lines() - lines
        report.at_most(f"{name}: log lines", more, LOG_LINES * stage.workers)
        if name == "frozen":
            server.thaw()
        server.kill()
        server.start()
        report.at_most(f"{name}: used again after", reconnect_s(stage, seed), RECONNECT_S, " s")
    return report


def _timed(stage: Stage, name: str, seed: int, requests: int) -> list[float]:
    """Seconds of new requests, four at a time at a steady pace."""
    tally = Tally(seed)

    async def paced() -> None:
        async with aiohttp.ClientSession(stage.service.url) as session:

            async def caller(part: int) -> None:
                for number in range(part, requests, 4):
                    ask = load.assess(f"latency {name} {seed} {number}", timeout_s=10.0)
                    tally.add(await load.send(session, ask))
                    await asyncio.sleep(PAUSE_S)

            await asyncio.gather(*map(caller, range(4)))

    asyncio.run(paced())
    if tally.success != requests:
        raise RuntimeError(f"{name}: {requests - tally.success} without a verdict {tally.examples}")
    return tally.seconds


def _asked(stage: Stage, asks: list[Ask], seed: int) -> Tally:
    tally = Tally(seed)
    asyncio.run(
        load.run(stage.service.url, asks, tally.add, in_flight=8, total=len(asks), title="redis")
    )
    return tally


def reconnect_s(stage: Stage, seed: int) -> float:
    """Seconds until new verdicts are written to Redis again, all of them: by every process."""
    server = stage.redis
    assert server is not None
    started = time.monotonic()
    for number in range(200):
        before = len(keys(server))
        name = f"reconnect {seed} {started} {number}"
        asks = [load.assess(f"{name} {n}") for n in range(4 * stage.workers)]
        _asked(stage, asks, seed)
        if _written(server, before, len(asks)) == len(asks):
            return time.monotonic() - started
        if time.monotonic() - started > 3 * RECONNECT_S:
            break
    return time.monotonic() - started


def _written(server: RedisServer, before: int, wanted: int) -> int:
    """How many keys there are beyond ``before``. They may be written behind the answers."""
    for _ in range(10):
        if len(keys(server)) - before >= wanted:
            break
        time.sleep(0.02)
    return len(keys(server)) - before


def keys(server: RedisServer) -> list[bytes]:
    """The keys of verdicts."""
    return sorted(server.client.scan_iter(match="jv:*", count=1000))


def strings(server: RedisServer) -> list[tuple[bytes, bytes]]:
    """Verdict keys that hold a string, with what they hold."""
    found = []
    for key in keys(server):
        try:
            value = server.client.get(key)
        except redis.ResponseError:
            continue
        if isinstance(value, bytes) and value:
            found.append((key, value))
    return found


def _each(server: RedisServer, act: Callable[[redis.Redis, bytes], object]) -> None:
    client = server.client
    for key in keys(server):
        act(client, key)


def _drop_connections(server: RedisServer, password: str) -> None:
    client = redis.Redis(port=server.port, password=password, socket_timeout=0.5)
    client.client_kill_filter(_type="normal", skipme=True)


def _figures(seconds: list[float]) -> str:
    return f"p50 {quantile(seconds, 0.5):.4f} s, p99 {quantile(seconds, 0.99):.4f} s"
