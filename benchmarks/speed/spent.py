"""What answers cost a process that is asked over HTTP: their rate, and its processor time."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from benchmarks.speed.hammer import hammer


@dataclass(frozen=True, slots=True)
class Spent:
    """One round: answers per second, and milliseconds of processor time for each."""

    per_second: float
    cpu_ms: float


def told(rounds: Sequence[Spent]) -> str:
    """The medians."""
    per_second = statistics.median(spent.per_second for spent in rounds)
    cpu_ms = statistics.median(spent.cpu_ms for spent in rounds)
    return f"{per_second:5.0f}/s {cpu_ms:6.3f} ms"


def cpu_s(pid: int) -> float:
    """Processor seconds so far of a process and those that it started."""
    main = psutil.Process(pid)
    times = [process.cpu_times() for process in (main, *main.children(recursive=True))]
    return float(sum(t.user + t.system for t in times))


def ask(url: str, pid: int, sent: Sequence[bytes], total: int, *, mark: bytes) -> Spent:
    """Send ``total`` of the requests in turn, as ``hammer`` does, to the process ``pid``."""
    before = cpu_s(pid)
    hit = hammer(url, sent, total, mark=mark)
    return Spent(hit.per_second, (cpu_s(pid) - before) * 1000.0 / total)
