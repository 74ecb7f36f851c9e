"""How a batch goes: the bar while it runs and the summary after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from judge_service.cli.results import Results
from judge_service.cli.terminal import clean, complain, err, print_json
from judge_service.text.counted import count_of

MAX_REFUSED_SHOWN = 10


@dataclass(slots=True, kw_only=True)
class Tally:
    """What this run did. ``refused`` are lines the service did not take, with the reason."""

    total: int
    to_ask: int
    success: int = 0
    failed: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)
    requests: int = 0
    cost_usd: float = 0.0
    unknown_cost_calls: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """Items of this run that are through."""
        return self.success + self.failed + len(self.refused)

    def count(self, outcome: Mapping[str, Any]) -> None:
        """Count an outcome and what it cost."""
        if outcome["status"] == "success":
            self.success += 1
        else:
            self.failed += 1
        usage = outcome["usage"]
        self.requests += usage["upstream_requests"]
        self.cost_usd += usage["cost_usd"] or 0.0
        self.unknown_cost_calls += usage.get("unknown_cost_calls", 0)

    def refuse(self, line: int, why: str) -> None:
        """Count a request that cannot be right."""
        self.refused.append((line, why))

    def cost(self) -> str:
        """The money in words."""
        more = f" + {self.unknown_cost_calls} of unknown price" if self.unknown_cost_calls else ""
        return f"${self.cost_usd:.4f}{more}"

    def rate(self) -> float:
        """Items per second."""
        return self.done / max(1e-9, time.monotonic() - self.started)


@contextmanager
def progress(tally: Tally) -> Iterator[Callable[[], None]]:
    """A bar on stderr, where somebody looks at it; call what it gives after every item."""
    tally.started = time.monotonic()
    console = err()
    bar = Progress(
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.1f}/s"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TextColumn("{task.fields[cost]}"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=tally.to_ask, rate=0.0, failed=0, cost=tally.cost())

        def moved() -> None:
            bar.update(
                task,
                completed=tally.done,
                rate=tally.rate(),
                failed=tally.failed + len(tally.refused),
                cost=tally.cost(),
            )

        yield moved


def summarise(tally: Tally, results: Results, out: str | None, *, as_json: bool) -> None:
    """Say what came out: on stderr, or as a line of JSON on stdout where a file has the results."""
    known = list(results.known.values())
    counts = {
        "items": tally.total,
        "asked": tally.done,
        "success": sum(line.success for line in known),
        "failed": sum(not line.success for line in known),
        "failed_retryable": sum(not line.success and line.retryable for line in known),
        "refused": len(tally.refused),
        "unanswered": tally.total - len(known),
    }
    for line, why in tally.refused[:MAX_REFUSED_SHOWN]:
        complain(f"line {line}: {why}")
    if len(tally.refused) > MAX_REFUSED_SHOWN:
        complain(f"and {len(tally.refused) - MAX_REFUSED_SHOWN} more lines were refused")
    to_file = out not in (None, "-")
    if as_json and to_file:
        print_json(
            {
                **counts,
                "refused_lines": [line for line, _ in tally.refused],
                "upstream_requests": tally.requests,
                "cost_usd": tally.cost_usd,
                "unknown_cost_calls": tally.unknown_cost_calls,
                "seconds": round(time.monotonic() - tally.started, 3),
                "out": out,
            }
        )
        return
    parts = [f"{counts['success']} of {tally.total} with success", f"{counts['failed']} failed"]
    if counts["failed_retryable"]:
        parts[-1] += f" ({counts['failed_retryable']} retryable: --retry-failed)"
    if counts["unanswered"]:
        parts.append(f"{counts['unanswered']} without result")
    parts += [f"asked {tally.done} now", count_of(tally.requests, "request"), tally.cost()]
    where = f"; results in {out}" if to_file else ""
    err().print(clean(", ".join(parts) + where), soft_wrap=True, markup=False)
