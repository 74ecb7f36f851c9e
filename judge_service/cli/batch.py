"""Batches: every line of a file judged, a few at a time, with results that can be continued."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge_service.cli.exits import INTERRUPTED, NO_VERDICT, OK, WRONG, UsageError, UserError
from judge_service.cli.items import Item, Items
from judge_service.cli.progress import Tally, progress, summarise
from judge_service.cli.requests import Asked, Defaults, Kind
from judge_service.cli.results import FileResults, Known, Results, StreamResults
from judge_service.cli.source import Sources
from judge_service.cli.target import Later, Refused, Target, open_target
from judge_service.cli.terminal import note

MAX_TRIES = 5
"""How often a service that is busy or away for a moment is asked about one item."""
FIRST_WAIT_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the options say about a batch."""

    kind: Kind
    source: str
    out: str | None
    concurrency: int
    retry_failed: bool
    overwrite: bool
    url: str | None
    flags: Mapping[str, object]
    as_json: bool


def judge_batch(plan: Plan, defaults: Defaults, texts: Mapping[str, str | None]) -> int:
    """Judge a batch; returns the exit code."""
    sources = Sources()
    read = {n: sources.read(f"--{n}", v) for n, v in texts.items() if v is not None}
    if plan.source == "-":
        sources.claim("--batch")
    filled = replace(defaults, prompt=read.get("prompt"), reference=read.get("reference"))
    with Items(plan.source, plan.kind, filled) as items:
        digests = items.check()
        results = _results(plan)
        try:
            _check_same_batch(plan, digests, results)
        except UserError:
            results.close()
            raise
        return _judge_all(plan, items, len(digests), results)


def _judge_all(plan: Plan, items: Items, total: int, results: Results) -> int:
    wanted = {index for index in range(total) if _to_ask(results.known.get(index), plan)}
    tally = Tally(total=total, to_ask=len(wanted))
    interrupted = False
    try:
        if wanted:
            chosen = (item for item in items if item.index in wanted)
            asyncio.run(_run(plan, chosen, results, tally))
    except KeyboardInterrupt:
        interrupted = True
    finally:
        results.finish()
        summarise(tally, results, plan.out, as_json=plan.as_json)
    if interrupted:
        note("interrupted; the same command continues")
        return INTERRUPTED
    if tally.refused:
        return WRONG
    return OK if all(known.success for known in results.known.values()) else NO_VERDICT


def _results(plan: Plan) -> Results:
    if plan.out in (None, "-"):
        if plan.overwrite or plan.retry_failed:
            raise UsageError("--overwrite and --retry-failed need a file: --out FILE")
        return StreamResults()
    path = Path(plan.out or "").expanduser()
    if plan.source != "-" and path.exists() and path.samefile(Path(plan.source).expanduser()):
        raise UserError(f"--out: {path}: the same file as --batch")
    if path.exists() and not path.is_file():
        raise UserError(f"--out: {path}: not a regular file; use - for standard output")
    return FileResults(path, overwrite=plan.overwrite)


def _check_same_batch(plan: Plan, digests: list[str], results: Results) -> None:
    """Raise UserError where a result that is there was made from another item."""
    for index, known in sorted(results.known.items()):
        if index >= len(digests) or known.item != digests[index]:
            raise UserError(
                f"--out: {plan.out}: the result with index {index} was made from another item or "
                "with other options; name another file, or say --overwrite"
            )


def _to_ask(known: Known | None, plan: Plan) -> bool:
    if known is None:
        return True
    return plan.retry_failed and not known.success and known.retryable


async def _run(plan: Plan, items: Iterator[Item], results: Results, tally: Tally) -> None:
    async with open_target(plan.url, plan.flags) as target:
        with progress(tally) as moved:

            async def work() -> None:
                # All workers draw from one iterator, so the next free one takes the next item.
                for item in items:
                    await _judge(item, target, results, tally)
                    moved()

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(plan.concurrency, tally.to_ask)):
                        group.create_task(work())
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None


async def _judge(item: Item, target: Target, results: Results, tally: Tally) -> None:
    try:
        outcome = await patiently(item.request, target)
    except Refused as error:
        tally.refuse(item.line, str(error))
        return
    results.add({**item.labels(), **outcome})
    tally.count(outcome)


async def patiently(request: Asked, target: Target) -> dict[str, Any]:
    """The outcome; a service that is busy or away for a moment is waited for."""
    for tried in range(1, MAX_TRIES):
        try:
            return await target.ask(request)
        except Later as error:
            await asyncio.sleep(max(error.after_s, FIRST_WAIT_S * 2.0 ** (tried - 1)))
    return await target.ask(request)
