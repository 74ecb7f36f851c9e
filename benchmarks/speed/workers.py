"""What a second worker adds where there are cores for it.

``python -m benchmarks.speed.workers`` asks one worker and two for verdicts that are in a Redis of
its own. Caller, Redis and workers need four cores together; with fewer the row says so and is not
met, whatever the figure.
"""

from __future__ import annotations

import argparse
import os
import statistics

from benchmarks.faults.redis_server import RedisServer
from benchmarks.faults.stage import upstream
from benchmarks.speed.hammer import MARK, hammer, request
from benchmarks.speed.row import Row
from benchmarks.speed.stand import ask_all, assess, service

GOAL = 1.7
CORES = 4
KEYS = 500


def measure(*, requests: int = 2000, rounds: int = 3) -> Row:
    """The row: medians over ``rounds`` of ``requests``."""
    asks = [assess(number) for number in range(1, KEYS + 1)]
    bodies = [request(ask) for ask in asks]
    rates: dict[int, list[float]] = {1: [], 2: []}
    with upstream() as provider, RedisServer() as redis:
        provider.control(latency_s=0.0)
        one, two = ({"REDIS_URL": redis.url, "WORKERS": str(n)} for n in rates)
        with (
            service(provider.url, settings=one) as single,
            service(provider.url, settings=two) as double,
        ):
            ask_all(single.url, asks)
            for number in range(rounds + 1):
                for workers, asked in ((1, single), (2, double)):
                    hit = hammer(asked.url, bodies, requests, mark=MARK)
                    if number:
                        rates[workers].append(hit.per_second)
    ratio = statistics.median(rates[2]) / statistics.median(rates[1])
    cores = len(os.sched_getaffinity(0))
    told = ", ".join(f"{n}: {statistics.median(rate):.0f}/s" for n, rate in rates.items())
    room = "" if cores >= CORES else f"; {cores} cores are too few to tell, it takes {CORES}"
    return Row(
        name="1 to 2 workers, cached assess",
        against="one worker",
        goal=f">= {GOAL:.1f} x where cores allow",
        value=ratio,
        unit="x",
        met=ratio >= GOAL and cores >= CORES,
        detail=f"{told}; {rounds} rounds of {requests}{room}",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=2000, help="in each round")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(measure(requests=given.requests, rounds=given.rounds))
