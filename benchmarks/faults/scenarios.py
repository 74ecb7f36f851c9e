"""The scenarios by name: each sets its stage up and plays on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.faults import chaos as _chaos
from benchmarks.faults import hangup as _hangup
from benchmarks.faults import hostile as _hostile
from benchmarks.faults import openapi as _openapi
from benchmarks.faults import redis_faults as _redis
from benchmarks.faults import soak as _soak
from benchmarks.faults import stampede as _stampede
from benchmarks.faults.report import Report
from benchmarks.faults.stage import stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says; None is the scenario's own."""

    requests: int | None = None
    seed: int = 1
    workers: int | None = None
    in_flight: int = 64
    faults: float | None = None
    seconds: int | None = None
    attempt_s: float = 2.0
    """A judge that hangs is given up after this (``attempt_timeout_s`` in judges.toml)."""


Scenario = Callable[[Options], Iterator[Report]]


def chaos(options: Options) -> Iterator[Report]:
    """Faulty replies and a Redis that is killed every 2 s: no wrong verdict, few extra calls."""
    shares = (0.2, 0.05) if options.faults is None else (options.faults,)
    for faults in shares:
        workers = options.workers or 2
        with stage(workers=workers, with_redis=True, attempt_timeout_s=options.attempt_s) as set_up:
            yield _chaos.chaos(
                set_up, requests=options.requests or 10_000, seed=options.seed,
                in_flight=options.in_flight, faults=faults,
            )  # fmt: skip


def outage(options: Options) -> Iterator[Report]:
    """Every reply an error: hardly a retry, honest failures, a quick recovery."""
    workers = options.workers or 2
    with stage(workers=workers, with_redis=True, attempt_timeout_s=options.attempt_s) as set_up:
        yield _chaos.outage(
            set_up, requests=options.requests or 2_000, seed=options.seed,
            in_flight=options.in_flight,
        )  # fmt: skip


def stampede(options: Options) -> Iterator[Report]:
    """The same request many times at once: one call with one worker, at most two with two."""
    requests = options.requests or 500
    for workers, with_redis in ((1, False), (1, True), (2, True), (2, False)):
        if options.workers not in (None, workers):
            continue
        with stage(workers=workers, with_redis=with_redis) as set_up:
            yield _stampede.stampede(set_up, requests=requests, seed=options.seed)
            yield _stampede.stampede_of_a_failure(set_up, seed=options.seed)
            if set_up.redis is not None:
                set_up.redis.kill()
                yield _stampede.stampede(set_up, requests=requests, seed=options.seed + 1000)


def hangup(options: Options) -> Iterator[Report]:
    """Clients hang up: upstream calls end within 500 ms and nothing leaks."""
    for workers in (1, 2) if options.workers is None else (options.workers,):
        with stage(workers=workers, with_redis=True) as set_up:
            yield _hangup.hangup(set_up, clients=options.requests or 300, seed=options.seed)


def soak(options: Options) -> Iterator[Report]:
    """A long mixed run: memory, latency and descriptors stay where they are."""
    with stage(workers=options.workers or 2, with_redis=True) as set_up:
        yield _soak.soak(
            set_up, requests=options.requests or 100_000, seed=options.seed,
            in_flight=min(options.in_flight, 32),
        )  # fmt: skip


def hostile(options: Options) -> Iterator[Report]:
    """Hostile bodies, heads and slow clients: no 5xx, answers at once, memory bounded."""
    with stage(workers=options.workers or 1) as set_up:
        yield _hostile.hostile(set_up, seed=options.seed)


def schemathesis(options: Options) -> Iterator[Report]:
    """The OpenAPI page, with everything well, without Redis, and without judges."""
    seconds = options.seconds or 120
    with stage(workers=options.workers or 1, with_redis=True, attempt_timeout_s=1.0) as set_up:
        for state in ("healthy", "Redis down", "judges down"):
            if state == "Redis down" and set_up.redis is not None:
                set_up.redis.kill()
            if state == "judges down":
                set_up.provider.kill()
            yield _openapi.schemathesis(set_up, state=state, seed=options.seed, seconds=seconds)


def redis(options: Options) -> Iterator[Report]:
    """Redis frozen, down, flapping, full, read-only, forged: the right verdict, hardly later."""
    with stage(workers=options.workers or 2, with_redis=True) as set_up:
        yield _redis.latency(set_up, seed=options.seed)
        yield from _redis.matrix(set_up, seed=options.seed)


SCENARIOS: dict[str, Scenario] = {
    "chaos": chaos,
    "outage": outage,
    "stampede": stampede,
    "hangup": hangup,
    "redis": redis,
    "hostile": hostile,
    "schemathesis": schemathesis,
    "soak": soak,
}
