"""What a verdict costs that is there already, beside a FastAPI that says hello.

``python -m benchmarks.speed.cached`` asks one worker, in turns with the hello world, for many
verdicts in turn: ``redis`` keeps them in a Redis of its own, ``near`` in the embedded store, whose
values the process has at hand; the same bodies come again and again. ``bodies`` is ``redis`` with
another body each time, for which the same verdicts do. What counts is processor time per request,
for that is what bounds the rate of one worker; rates are told beside.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import psutil

from benchmarks.faults.load import Ask
from benchmarks.faults.redis_server import RedisServer
from benchmarks.faults.stage import upstream
from benchmarks.speed.hammer import MARK, hammer, request
from benchmarks.speed.rounds import rounds_of
from benchmarks.speed.row import Row
from benchmarks.speed.stand import ask_all, assess, child, service

Kind = Literal["redis", "near", "bodies"]
GOALS: dict[Kind, float] = {"redis": 0.55, "near": 0.80, "bodies": 0.55}
NAMES: dict[Kind, str] = {
    "redis": "cached assess, real Redis, distinct keys, bodies that come again, one worker",
    "near": "the same from the embedded store, in the process",
    "bodies": "cached assess, real Redis, distinct keys, a new body each time",
}
KEYS = 500
MOST_ASKED = 0.02
"""Where Redis does not answer within its 50 ms, the judge is asked: on a busy machine now and then.
"""


@contextmanager
def hello() -> Iterator[tuple[str, psutil.Process]]:
    """A FastAPI of one route."""
    with child(["--hello"], {}, None) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"], psutil.Process(process.pid)


def measure(kind: Kind, *, requests: int = 4000, rounds: int = 5, chars: int = 1000) -> Row:
    """The row of one kind: medians over ``rounds`` of ``requests``."""
    asks = [assess(number, chars=chars) for number in range(1, KEYS + 1)]
    cost: dict[str, list[float]] = {"service": [], "hello": []}
    rate: dict[str, list[float]] = {"service": [], "hello": []}
    with upstream() as provider, RedisServer() as redis:
        provider.control(latency_s=0.0)
        settings = {} if kind == "near" else {"REDIS_URL": redis.url}
        with service(provider.url, settings=settings) as ours, hello() as (url, greeter):
            ask_all(ours.url, asks)
            calls = 0
            plain = [request(Ask(path="/hello", body=None))]
            own = psutil.Process(ours.pid)
            for number in rounds_of(rounds, f"cached:{kind}"):
                if number == 1:
                    calls = provider.stats()["calls"]
                bodies = _bodies(kind, asks, number, requests)
                for who, target, process, sent, mark in (
                    ("service", ours.url, own, bodies, MARK),
                    ("hello", url, greeter, plain, b""),
                ):
                    spent, per_second = _hit(target, process, sent, requests, mark)
                    if number:
                        cost[who].append(spent)
                        rate[who].append(per_second)
            asked = provider.stats()["calls"] - calls
            if asked > MOST_ASKED * requests * rounds:
                raise RuntimeError(f"judges were asked {asked} times; that is no cache")
    ratio = statistics.median(cost["hello"]) / statistics.median(cost["service"])
    told = "\n".join(
        f"{who:8} {statistics.median(cost[who]):7.0f} us {statistics.median(rate[who]):7.0f}/s"
        for who in cost
    )
    return Row(
        name=NAMES[kind],
        against="FastAPI hello world (processor time per request, inverted)",
        goal=f">= {GOALS[kind]:.2f} x",
        value=ratio,
        unit="x",
        met=ratio >= GOALS[kind],
        detail=f"{told}\n{rounds} rounds of {requests}, {KEYS} keys, candidates of {chars} chars; "
        f"{asked} not from the cache",
    )


def _bodies(kind: Kind, asks: Sequence[Ask], number: int, requests: int) -> list[bytes]:
    """What is sent in a round."""
    if kind != "bodies":
        return [request(ask) for ask in asks]
    return [
        request(Ask(path=ask.path, body={**(ask.body or {}), "metadata": {"step": [number, n]}}))
        for n, ask in enumerate(itertools.islice(itertools.cycle(asks), requests))
    ]


def _hit(
    url: str, process: psutil.Process, sent: Sequence[bytes], requests: int, mark: bytes
) -> tuple[float, float]:
    """Microseconds of processor time per request, and requests per second."""
    before = process.cpu_times()
    hit = hammer(url, sent, requests, mark=mark)
    after = process.cpu_times()
    spent = after.user + after.system - before.user - before.system
    return spent * 1e6 / requests, hit.per_second


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=4000, help="in each round")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    for each in GOALS:
        print(measure(each, requests=given.requests, rounds=given.rounds))
