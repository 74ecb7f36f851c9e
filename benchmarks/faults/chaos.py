"""Faults of the provider and a Redis that keeps dying, under load; and a provider that is gone."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import nullcontext

from benchmarks.faults import load
from benchmarks.faults.load import Ask
from benchmarks.faults.redis_server import Killer
from benchmarks.faults.report import Report
from benchmarks.faults.stage import Stage
from benchmarks.faults.tally import Tally

BUCKET_RETRIES = 100
"""How many retries one judge's full budget (500 tokens, 5 a retry) allows."""
RECOVERY_S = 10.0
RECENT = (70, 200)
"""How many requests ago a repeated one was asked: Redis may still know it, or just have died."""


def chaos(
    stage: Stage,
    *,
    requests: int = 10_000,
    seed: int = 1,
    in_flight: int = 64,
    faults: float = 0.2,
    repeats: float = 0.1,
    timeout_s: float = 30.0,
) -> Report:
    """A share of all upstream replies is a fault; every verdict must still be right."""
    report = Report("chaos", seed)
    stage.provider.control(reset=True, seed=seed, faults=faults, only=None, latency_s=0.01)
    tally = Tally(seed)
    asks = _asks(requests, repeats, random.Random(seed), timeout_s)  # noqa: S311 - repeatable
    killer = Killer(stage.redis) if stage.redis is not None else nullcontext()
    started, cpu = time.monotonic(), stage.service.cpu_s()
    with killer:
        asyncio.run(
            load.run(
                stage.service.url, asks, tally.add, in_flight=in_flight, total=requests,
                title="chaos",
            )
        )  # fmt: skip
    seconds = time.monotonic() - started
    stats = stage.provider.stats()
    tally.promises(report, requests)
    needed = requests - tally.cached
    report.at_least("success", tally.success / requests, 0.98)
    bound = 1.27 if faults > 0.05 else 1.08
    if requests >= 2000:
        report.at_most("upstream calls per verdict needed", stats["calls"] / needed, bound)
    else:
        # A small sample scatters: four standard errors of its share of faults on top.
        spread = 4 * (faults * (1 - faults) / needed) ** 0.5
        report.at_most("upstream calls per verdict needed", stats["calls"] / needed, bound + spread)
    report.at_most("attempts for one verdict", stats["most_attempts"], 3 * (1 + (repeats > 0)))
    # A good reply that came after its attempt was given up is lost; a busy machine has some.
    twice = tally.repeats_not_cached + needed // 100
    report.at_most("verdicts judged twice", stats["good_twice"], twice)
    if stats["good_twice"] > twice:
        report.example(f"judged twice, so many seconds apart: {stats['twice']}")
    report.exactly("unreadable questions", len(stats["unreadable"]), 0)
    report.exactly("service alive", stage.service.alive, True)
    report.figures |= {
        "calls": stats["calls"],
        "needed": needed,
        "replies": stats["replies"],
        "redis_kills": killer.kills if isinstance(killer, Killer) else 0,
        "per_second": round(requests / seconds, 1),
        "service_cpu_ms_per_request": round((stage.service.cpu_s() - cpu) / requests * 1000, 2),
        "log_lines": stage.service.log_lines(),
    }
    return report


def _asks(requests: int, repeats: float, random_: random.Random, timeout_s: float) -> Iterator[Ask]:
    """Candidates of their own, and among them some that were asked a moment before."""
    fresh = 0
    for _ in range(requests):
        if fresh > RECENT[1] and random_.random() < repeats:
            number = random_.randrange(fresh - RECENT[1], fresh - RECENT[0])
            yield load.assess(number, timeout_s=timeout_s, repeat=True)
        else:
            yield load.assess(fresh, timeout_s=timeout_s)
            fresh += 1


def outage(
    stage: Stage,
    *,
    requests: int = 2_000,
    seed: int = 1,
    in_flight: int = 64,
    timeout_s: float = 1.0,
) -> Report:
    """Every upstream reply is an error: few retries, honest failures, and a quick recovery."""
    report = Report("outage", seed)
    stage.provider.control(reset=True, seed=seed, faults=1.0, only="error", latency_s=0.01)
    tally = Tally(seed)
    asks = (load.assess(f"outage {seed} {n}", timeout_s=timeout_s) for n in range(requests))
    asyncio.run(
        load.run(
            stage.service.url, asks, tally.add, in_flight=in_flight, total=requests, title="outage"
        )
    )
    stats = stage.provider.stats()
    tally.promises(report, requests)
    report.exactly("rewards in an outage", tally.success, 0)
    budget = BUCKET_RETRIES * stage.workers if requests < 2_000 else 0
    report.at_most("upstream calls", stats["calls"], int(1.05 * requests) + budget)
    report.at_most("attempts for one verdict", stats["most_attempts"], 3)
    stage.provider.control(faults=0.0, only=None)
    report.at_most("recovery", _recovery_s(stage, seed), RECOVERY_S, " s")
    report.figures |= {"calls": stats["calls"], "log_lines": stage.service.log_lines()}
    return report


def _recovery_s(stage: Stage, seed: int) -> float:
    """Seconds until verdicts come again, from every worker: the start of a row of successes."""
    started = begun = time.monotonic()
    row = 0
    for number in range(1000):
        asked = time.monotonic()
        tally = Tally(seed)
        asks = [load.assess(f"recovery {seed} {number}", timeout_s=2.0)]
        asyncio.run(
            load.run(stage.service.url, asks, tally.add, in_flight=1, total=1, title="recovery")
        )
        if not tally.success:
            row = 0
            continue
        begun = begun if row else asked
        row += 1
        if row >= 4 * stage.workers:
            return begun - started
        if asked - started > 3 * RECOVERY_S:
            break
    return time.monotonic() - started
