"""Hostile bodies, heads and slow clients against the running service."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import track

from benchmarks.faults import load
from benchmarks.faults.hostile_requests import (
    BODIES,
    HEADS,
    NO_SECOND_ANSWER,
    REFUSED,
    SLOW,
    post,
)
from benchmarks.faults.raw import Exchange, exchange
from benchmarks.faults.report import Report
from benchmarks.faults.stage import Stage
from benchmarks.faults.tally import Tally

WAIT_S = 5.0
ANSWER_S = 1.0
SLOW_WAIT_S = 45.0
SLOW_CLOSED_S = 40.0
"""A body may take 30 s to arrive; whoever begins and never ends is gone some seconds later."""
RSS_MIB = 50.0
MIB = 1024 * 1024


def hostile(stage: Stage, *, seed: int = 1, slow_clients: int = 20, slow: bool = True) -> Report:
    """Every hostile request once, slow clients beside them, and an ordinary request afterwards."""
    report = Report("hostile", seed)
    stage.provider.control(reset=True, seed=seed, faults=0.0, only=None, latency_s=0.005)
    _ordinary(stage, seed, 20)
    before = sum(stage.service.rss().values())
    slow_ones = list(_slow(slow_clients)) if slow else []
    with ThreadPoolExecutor(max(1, len(slow_ones))) as pool:
        address = _address(stage)
        waiting = [
            (name, pool.submit(exchange, *address, [data], wait_s=SLOW_WAIT_S))
            for name, data in slow_ones
        ]
        slowest, most = _all(stage, report, before)
        held = _ordinary(stage, seed, 20)
        report.exactly("ordinary requests beside slow clients", held.success, 20)
        for name, future in waiting:
            found = future.result()
            if not found.closed or found.seconds > SLOW_CLOSED_S:
                report.example(f"a slow client was kept for {found.seconds:.1f} s: {name}")
            if any(500 <= s != 503 for s in found.statuses):
                report.example(f"{name}: {found.said}")
    report.exactly("examples of a broken rule", len(report.examples), 0)
    report.at_most("slowest answer", slowest, ANSWER_S, " s")
    report.at_most("memory grown at most", most, RSS_MIB, " MiB")
    report.exactly("service alive", stage.service.alive, True)
    tally = _ordinary(stage, seed, 20)
    report.exactly("ordinary requests afterwards", tally.success, 20)
    tracebacks = stage.service.log().count("Traceback (most recent call last)")
    report.exactly("tracebacks in the log", tracebacks, 0)
    report.figures |= {"requests": len(BODIES) + len(HEADS), "slow_clients": len(slow_ones)}
    return report


def _all(stage: Stage, report: Report, before: int) -> tuple[float, float]:
    """Send everything; the slowest answer in seconds, the most memory grown in MiB."""
    requests = {**{name: post(body) for name, body in BODIES.items()}, **HEADS}
    slowest = most = 0.0
    console = Console(stderr=True)
    for name, data in track(
        requests.items(), "hostile requests", console=console, disable=not console.is_terminal
    ):
        # Twenty megabytes need a moment on the way; the clock is for the answer.
        found = exchange(*_address(stage), [data], wait_s=WAIT_S)
        for fault in _faults(name, found):
            report.example(f"{name}: {fault}: {found.said} {found.data[-160:]!r}")
        if found.statuses:
            slowest = max(slowest, found.seconds)
        most = max(most, (sum(stage.service.rss().values()) - before) / MIB)
        report.figures[name] = f"{found.said}, {found.seconds:.2f} s"
    return slowest, most


def _faults(name: str, found: Exchange) -> Iterator[str]:
    if any(500 <= status != 503 for status in found.statuses):
        yield "a 5xx"
    if not found.statuses and not found.closed and name not in INCOMPLETE:
        yield f"neither answered nor closed within {WAIT_S:g} s"
    if name in NO_SECOND_ANSWER and len(found.statuses) > 1:
        yield "what was smuggled behind it was answered"
    if name in REFUSED and 200 in found.statuses:
        yield "served as if nothing were wrong"
    if b"Traceback" in found.data:
        yield "a traceback in the answer"


INCOMPLETE = ("blank lines", "a TLS hello", "bare line feeds", "signed length", "HTTP/0.9")
"""May be read as the beginning of something longer."""


def _slow(clients: int) -> Iterator[tuple[str, bytes]]:
    names = list(SLOW)
    for number in range(clients):
        name = names[number % len(names)]
        yield name, SLOW[name]


def _address(stage: Stage) -> tuple[str, int]:
    url = urlsplit(stage.service.url)
    return str(url.hostname), int(url.port or 80)


def _ordinary(stage: Stage, seed: int, requests: int) -> Tally:
    tally = Tally(seed)
    asks = (load.assess(f"ordinary {time.monotonic()} {n}", timeout_s=10) for n in range(requests))
    asyncio.run(
        load.run(stage.service.url, asks, tally.add, in_flight=4, total=requests, title="ordinary")
    )
    return tally
