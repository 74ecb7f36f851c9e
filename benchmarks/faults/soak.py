"""A long run of mixed requests: memory, latency and file descriptors stay where they are."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.faults import load
from benchmarks.faults.load import Answered, Ask
from benchmarks.faults.report import Report, quantile
from benchmarks.faults.rubrics import MAX_CHARS
from benchmarks.faults.stage import Service, Stage
from benchmarks.faults.tally import Tally

MIB = 1024 * 1024
GROWTH_MIB = 20.0
FRESH_EVERY = 10
"""One request in so many asks something new."""


@dataclass(slots=True)
class _Watch:
    """Looks at the service's processes at given numbers of answers."""

    service: Service
    tally: Tally
    every: int
    rss: list[dict[int, int]] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)

    def add(self, answered: Answered) -> None:
        """Count an answer."""
        self.tally.add(answered)
        if len(self.tally.seconds) % self.every == 0:
            self.rss.append(self.service.rss())
            self.descriptors.append(self.service.descriptors())


def soak(stage: Stage, *, requests: int = 100_000, seed: int = 1, in_flight: int = 32) -> Report:
    """Cached and new verdicts, pairs, rule zeros, mistakes and looks, for a long time."""
    report = Report("soak", seed)
    stage.provider.control(reset=True, seed=seed, faults=0.02, only="malformed", latency_s=0.005)
    tenth = requests // 10
    watch = _Watch(stage.service, Tally(seed), every=tenth)
    asks = _mixed(requests, random.Random(seed))  # noqa: S311 - repeatable
    started = time.monotonic()
    asyncio.run(
        load.run(
            stage.service.url, asks, watch.add, in_flight=in_flight, total=requests, title="soak"
        )
    )
    tally = watch.tally
    tally.promises(report, requests)
    # After a fifth of the run all is warm: caches are full and every path was taken.
    warm, last = watch.rss[1], watch.rss[-1]
    growth = [(last[pid] - warm[pid]) / MIB for pid in warm if pid in last]
    report.exactly("processes that stayed", len(growth), len(warm))
    report.at_most("memory growth per process", max(growth, default=0.0), GROWTH_MIB, " MiB")
    first, final = tally.seconds[:tenth], tally.seconds[-tenth:]
    ratio = quantile(final, 0.99) / max(quantile(first, 0.99), 1e-9)
    report.at_most("p99 of the last tenth over that of the first", ratio, 1.2)
    drift = watch.descriptors[-1] - watch.descriptors[1]
    report.at_most("more file descriptors", drift, 5)
    report.figures |= {
        "rss_mib": [str({p: round(b / MIB) for p, b in r.items()}) for r in watch.rss],
        "descriptors": [str(n) for n in watch.descriptors],
        "p99_first_s": round(quantile(first, 0.99), 4),
        "p99_last_s": round(quantile(final, 0.99), 4),
        "per_second": round(requests / (time.monotonic() - started), 1),
    }
    return report


def _mixed(requests: int, random_: random.Random) -> Iterator[Ask]:
    """The same mixture from the first request to the last."""
    for number in range(requests):
        kind = random_.randrange(100)
        if number % FRESH_EVERY == 0:
            yield load.assess(number // FRESH_EVERY)
        elif kind < 60:
            yield load.assess(random_.randrange(max(1, min(number // FRESH_EVERY, 1000))))
        elif kind < 68:
            yield load.compare(random_.randrange(500))
        elif kind < 84:
            text = random_.choice(["", "x " * MAX_CHARS, " \n "])
            yield _changed(number, "zero", candidate={"text": text, "family": "nobody"})
        elif kind < 88:
            yield _changed(number, 422, candidate={"text": "x", "unknown": 1})
        elif kind < 91:
            yield _changed(number, 404, rubric=f"none-{number % 50}")
        else:
            path = random_.choice(["/healthz", "/readyz", "/v1/judges", "/v1/rubrics"])
            yield Ask(path=path, body=None)


def _changed(number: int, expect: str | int, **fields: object) -> Ask:
    ask = load.assess(number)
    return Ask(path=ask.path, body={**(ask.body or {}), **fields}, expect=expect)
