"""What a second worker adds.

``python -m benchmarks.speed.workers`` asks one worker and two, in turns, for verdicts that are in a
Redis of its own, in bodies that were never sent before: caller and Redis then take little beside
the workers. Told are the rates, how evenly the two share the requests, and what their processor
time allows where each has a core to itself: as many times the requests as the busier of the two
takes less for its share.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from dataclasses import dataclass, replace
from itertools import count, islice
from urllib.parse import urlsplit

import psutil

from benchmarks.faults.load import Ask
from benchmarks.faults.redis_server import RedisServer
from benchmarks.faults.stage import Service, upstream
from benchmarks.speed.connection import Connection
from benchmarks.speed.hammer import MARK, hammer, request
from benchmarks.speed.rounds import rounds_of
from benchmarks.speed.row import Row
from benchmarks.speed.stand import ask_all, assess, service

GOAL = 1.7
CORES = 4
"""Workers, caller and Redis together. With fewer a rate below the goal says nothing."""
KEYS = 500
BURST = 16
"""Connections that a trainer makes at once, for a group."""
TAKEN_S = 5.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One round: requests per second, and microseconds of processor time per request of each
    worker that had any, the busiest first.
    """

    per_second: float
    spent_us: tuple[float, ...]

    @property
    def total_us(self) -> float:
        """Of all workers together."""
        return sum(self.spent_us)

    @property
    def busiest(self) -> float:
        """The share of the worker that had most to do, in (0, 1]."""
        return self.spent_us[0] / self.total_us


def bound(one: Hit, two: Hit) -> float:
    """How many times the requests of ``one`` the workers of ``two`` can answer, where each has a
    core to itself: until the busiest is busy all the time.
    """
    return one.spent_us[0] / two.spent_us[0]


def measure(*, requests: int = 4000, rounds: int = 5) -> Row:
    """The row: medians over ``rounds`` of ``requests``."""
    asks = [assess(number) for number in range(1, KEYS + 1)]
    numbers = count(1)
    ones: list[Hit] = []
    twos: list[Hit] = []
    with upstream() as provider, RedisServer() as redis:
        provider.control(latency_s=0.0)
        one, two = ({"REDIS_URL": redis.url, "WORKERS": str(n)} for n in (1, 2))
        with (
            service(provider.url, settings=one) as single,
            service(provider.url, settings=two) as double,
        ):
            ask_all(single.url, asks)
            for number in rounds_of(rounds, "workers"):
                for asked, hits in ((single, ones), (double, twos)):
                    bodies = [request(_anew(asks[n % KEYS], n)) for n in islice(numbers, requests)]
                    hit = _hit(asked, bodies)
                    if number:
                        hits.append(hit)
            taken = [asyncio.run(_taken(double, BURST)) for _ in range(rounds)]
    told = f"rounds of {requests}; of {BURST} connections made at once the busier took {taken}"
    return row(ones, twos, cores=len(os.sched_getaffinity(0)), rounds=told)


def _anew(ask: Ask, number: int) -> Ask:
    """The same question in a body that nobody has sent: its verdict is known, its answer is not."""
    return replace(ask, body={**(ask.body or {}), "metadata": {"number": number}})


async def _taken(asked: Service, number: int) -> int:
    """Of so many connections made at once, those that the busiest worker took."""
    some = [Connection.to(asked.url, b"", lambda _: None, lambda *_: None) for _ in range(number)]
    connections = await asyncio.gather(*some)
    port = urlsplit(asked.url).port
    try:
        until = time.monotonic() + TAKEN_S
        while True:
            counts = [
                sum(c.status == "ESTABLISHED" and c.laddr.port == port for c in found)
                for found in (psutil.Process(pid).net_connections("tcp") for pid in asked.rss())
            ]
            if sum(counts) == number or time.monotonic() > until:
                return max(counts)
            await asyncio.sleep(0.05)
    finally:
        for connection in connections:
            connection.close()


def row(ones: list[Hit], twos: list[Hit], *, cores: int, rounds: str) -> Row:
    """The row of rounds with one worker and with two, on a machine with so many ``cores``."""
    rates = [statistics.median(hit.per_second for hit in hits) for hits in (ones, twos)]
    ratio = rates[1] / rates[0]
    bounds = [bound(one, two) for one, two in zip(ones, twos, strict=True)]
    spent = [statistics.median(hit.total_us for hit in hits) for hits in (ones, twos)]
    busiest = [hit.busiest for hit in twos]
    told = ratio >= GOAL or cores >= CORES
    few = "" if told else f"; {cores} cores are too few to tell, it takes {CORES}"
    return Row(
        name="1 to 2 workers, cached assess",
        against="one worker",
        goal=f">= {GOAL:.1f} x where cores allow",
        value=ratio,
        unit="x",
        met=ratio >= GOAL if told else None,
        told=f"{ratio:.2f} x the rate; {statistics.median(bounds):.2f} x by processor time",
        detail=(
            f"rates {rates[0]:.0f}/s and {rates[1]:.0f}/s; processor time of a request "
            f"{spent[0]:.0f} us and {spent[1]:.0f} us; by processor time "
            f"[{min(bounds):.2f}-{max(bounds):.2f}] x\n"
            f"the busier of two workers had {statistics.median(busiest):.0%} of the work "
            f"[{min(busiest):.0%}-{max(busiest):.0%}]\n{len(ones)} {rounds}{few}"
        ),
    )


def _hit(asked: Service, bodies: list[bytes]) -> Hit:
    workers = [psutil.Process(pid) for pid in asked.rss()]
    before = [_cpu_s(worker) for worker in workers]
    hit = hammer(asked.url, bodies, len(bodies), mark=MARK)
    spent = [_cpu_s(worker) - was for worker, was in zip(workers, before, strict=True)]
    spent_us = sorted((s * 1e6 / len(bodies) for s in spent if s > 0), reverse=True)
    return Hit(hit.per_second, tuple(spent_us))


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=4000, help="in each round")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(measure(requests=given.requests, rounds=given.rounds))
