"""Many callers ask the very same thing at the same moment: it is judged once."""

from __future__ import annotations

import asyncio

from benchmarks.faults import load
from benchmarks.faults.report import Report
from benchmarks.faults.stage import Stage
from benchmarks.faults.tally import Tally


def stampede(stage: Stage, *, requests: int = 500, seed: int = 1, latency_s: float = 0.5) -> Report:
    """All requests are the same and leave at once: at most one upstream call per worker."""
    report = Report("stampede", seed)
    stage.provider.control(reset=True, seed=seed, faults=0.0, only=None, latency_s=latency_s)
    tally = Tally(seed)
    same = load.assess(f"stampede {seed}")
    asyncio.run(
        load.run(
            stage.service.url, [same] * requests, tally.add, in_flight=requests, total=requests,
            title="stampede",
        )
    )  # fmt: skip
    stats = stage.provider.stats()
    tally.promises(report, requests)
    report.exactly("success", tally.success, requests)
    report.at_most("upstream calls", stats["calls"], stage.workers)
    report.at_least("answers that cost nothing", tally.cached, requests - stage.workers)
    report.figures |= {"calls": stats["calls"], "workers": stage.workers,
                       "redis": "none" if stage.redis is None else "there"}  # fmt: skip
    return report


def stampede_of_a_failure(
    stage: Stage, *, requests: int = 100, seed: int = 1, latency_s: float = 0.3
) -> Report:
    """The one call fails: everybody waiting shares the failure, nobody stores it, and the next
    asker gets a verdict.
    """
    report = Report("stampede of a failure", seed)
    stage.provider.control(reset=True, seed=seed, faults=1.0, only="malformed", latency_s=latency_s)
    tally = Tally(seed)
    same = load.assess(f"failing stampede {seed}")
    asyncio.run(
        load.run(
            stage.service.url, [same] * requests, tally.add, in_flight=requests, total=requests,
            title="failing stampede",
        )
    )  # fmt: skip
    stats = stage.provider.stats()
    tally.promises(report, requests)
    report.exactly("rewards made of a failure", tally.success, 0)
    report.at_most("upstream calls", stats["calls"], 3 * stage.workers)
    stage.provider.control(faults=0.0, only=None)
    after = Tally(seed)
    asyncio.run(
        load.run(stage.service.url, [same], after.add, in_flight=1, total=1, title="afterwards")
    )
    report.exactly("a verdict afterwards", after.success, 1)
    return report
