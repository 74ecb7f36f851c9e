"""Callers that hang up: their upstream calls end, nothing leaks, the next callers are served."""

from __future__ import annotations

import asyncio
import json
import time

from benchmarks.faults import load
from benchmarks.faults.report import Report, quantile
from benchmarks.faults.stage import Stage
from benchmarks.faults.tally import Tally

HANG_UP_AFTER_S = 0.1
CLOSED_WITHIN_S = 0.5
SETTLE_S = 15.0


def hangup(
    stage: Stage,
    *,
    clients: int = 300,
    seed: int = 1,
    judge_s: float = 20.0,
    after: int = 100,
    quiet_s: float = 6.0,
) -> Report:
    """Each client closes its connection 100 ms after all requests reached the judge.

    Descriptors count as settled after ``quiet_s`` without a change (idle connections are closed
    after 5 s).
    """
    report = Report("hangup", seed)
    stage.provider.control(reset=True, seed=seed, faults=0.0, only=None, latency_s=0.01)
    _ask(stage, [f"before {seed} {n}" for n in range(64)], seed)
    before = _settled(stage, quiet_s)
    stage.provider.control(reset=True, latency_s=judge_s)
    left = asyncio.run(_hang_up(stage, clients, seed))
    time.sleep(CLOSED_WITHIN_S + 0.2)
    stats = stage.provider.stats()
    closed = dict(stats["hung_up"])
    delays = [closed[tag] - at for tag, at in left.items() if tag in closed]
    in_time = sum(delay <= CLOSED_WITHIN_S for delay in delays)
    report.at_least("upstream calls begun", stats["begun"], clients)
    report.at_least("upstream connections closed within 500 ms", in_time, int(clients * 0.99))
    report.exactly("upstream calls still running", stats["in_flight"], 0)
    report.exactly("verdicts of calls nobody waits for", stats["good"], 0)
    stage.provider.control(reset=True, latency_s=0.01)
    tally = _ask(stage, [f"after {seed} {n}" for n in range(after)], seed)
    report.exactly("the next requests", tally.success, after)
    report.exactly("wrong among them", tally.wrong, 0)
    again = _ask(stage, list(left)[:20], seed, whole=True)
    report.exactly("those who hung up, asked again", again.success, min(20, clients))
    now = _settled(stage, quiet_s, wanted=before)
    report.at_most("more file descriptors than before", now - before, 5)
    report.figures |= {
        "clients": clients,
        "closed": len(delays),
        "p50_closed_s": round(quantile(delays, 0.5), 4),
        "max_closed_s": round(max(delays, default=-1.0), 4),
        "descriptors_before": before,
        "descriptors_after": now,
    }
    report.examples += tally.examples
    return report


def _ask(stage: Stage, names: list[str], seed: int, *, whole: bool = False) -> Tally:
    tally = Tally(seed)
    asks = [load.assess(_name(name) if whole else name) for name in names]
    asyncio.run(
        load.run(stage.service.url, asks, tally.add, in_flight=64, total=len(asks), title="asking")
    )
    return tally


def _name(text: str) -> str:
    """The name that ``load.assess`` made a text of."""
    return text.removeprefix("Answer ").removesuffix(": this is what I would do.")


async def _hang_up(stage: Stage, clients: int, seed: int) -> dict[str, float]:
    """When each client hung up, by the text it asked about."""
    host, _, port = stage.service.url.removeprefix("http://").partition(":")
    left: dict[str, float] = {}

    async def client(number: int) -> None:
        ask = load.assess(f"hangup {seed} {number}")
        assert ask.body is not None
        body = json.dumps(ask.body).encode()
        head = (
            f"POST {ask.path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(head.encode() + body)
        await writer.drain()
        await begun.wait()
        await asyncio.sleep(HANG_UP_AFTER_S)
        left[ask.body["candidate"]["text"]] = time.monotonic()
        writer.close()

    begun = asyncio.Event()

    async def watch() -> None:
        # All must be with the judge, else nothing is there to be cancelled.
        until = time.monotonic() + 30.0
        while time.monotonic() < until and not begun.is_set():
            stats = await asyncio.to_thread(stage.provider.stats)
            if stats["in_flight"] >= clients:
                begun.set()
            await asyncio.sleep(0.05)
        begun.set()

    await asyncio.gather(watch(), *(client(number) for number in range(clients)))
    return left


def _settled(stage: Stage, quiet_s: float, *, wanted: int | None = None) -> int:
    """Open descriptors once they stop changing (or are no more than wanted)."""
    until = time.monotonic() + SETTLE_S
    last, since = _descriptors(stage), time.monotonic()
    while time.monotonic() < until:
        if wanted is not None and last - wanted <= 5:
            return last
        time.sleep(0.2)
        now = _descriptors(stage)
        if now != last:
            last, since = now, time.monotonic()
        if wanted is None and time.monotonic() - since > quiet_s:
            return last
    return last


def _descriptors(stage: Stage) -> int:
    """Open descriptors besides the upstream connections, of which a few are kept for later."""
    return stage.service.descriptors() - int(stage.provider.stats()["connections"])
