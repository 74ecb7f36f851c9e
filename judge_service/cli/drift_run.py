"""From the options of ``drift`` to the report and the exit code."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_service.cli.configuration import settings_of
from judge_service.cli.drift_progress import progress
from judge_service.cli.exits import INTERRUPTED, OK, UsageError, UserError
from judge_service.cli.gold_files import gold_path
from judge_service.cli.loading import anchors_folder
from judge_service.cli.pages import check_out
from judge_service.cli.terminal import clean, err, note, out
from judge_service.drift.asking import SideAsker
from judge_service.drift.journal import Journal, Recorded, read_runs
from judge_service.drift.plan import Plan, RunData, SideName, same_items, same_question
from judge_service.drift.report import make_report
from judge_service.drift.runner import Progress, Runner
from judge_service.drift.side import Side, find_side
from judge_service.errors import ConfigError
from judge_service.gold.file import load_gold
from judge_service.gold.item import GoldSet

if TYPE_CHECKING:
    from judge_service.service import Service
    from judge_service.settings import Settings

DRIFT, NOT_ENOUGH = 2, 3
FORMATS = ("text", "json", "html")
TIMEOUT_S, TRIAL_TIMEOUT_S = 60.0, 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options of the command, as given."""

    gold: str | None
    baseline: str | None
    candidate: str | None
    baseline_run: Path | None
    repeat: int
    form: str | None
    out: Path | None
    top: int
    seed: int
    runs: Path | None
    max_cost: float | None
    cached: bool
    retry_failed: bool
    overwrite: bool
    concurrency: int
    timeout: float | None
    flags: Mapping[str, object]


def run(wanted: Wanted) -> int:
    """Run the command; returns the exit code. Raises UserError and ConfigError."""
    form = _format(wanted)
    _check_options(wanted)
    settings, environ = settings_of(wanted.flags)
    gold = load_gold(gold_path(wanted.gold or "", anchors_folder(settings) / "gold"))
    recorded = None if wanted.baseline_run is None else read_runs(wanted.baseline_run)
    try:
        return asyncio.run(_ask(wanted, settings, environ, gold, recorded, form))
    except KeyboardInterrupt:
        note("interrupted; the same command continues")
        return INTERRUPTED


def _format(wanted: Wanted) -> str:
    form = wanted.form
    if form is None:
        ending = "" if wanted.out is None else wanted.out.suffix.lstrip(".").lower()
        return {"json": "json", "html": "html", "htm": "html"}.get(ending, "text")
    if form not in FORMATS:
        raise UsageError(f"--format: {form!r} is none of {', '.join(FORMATS)}")
    return form


def _check_options(wanted: Wanted) -> None:
    if wanted.gold is None:
        raise UsageError("--gold: name the gold set")
    if wanted.baseline is None and wanted.baseline_run is None:
        raise UsageError("--baseline: name the judge to compare with, or give --baseline-run")
    if wanted.candidate is None and wanted.runs is None:
        raise UsageError(
            "--candidate: name the judge to compare, or a file with --runs to record the baseline"
        )
    if wanted.candidate is None and wanted.baseline_run is not None:
        raise UsageError("--candidate: name the judge to compare with the recorded runs")
    check_out(wanted.out)


async def _ask(
    wanted: Wanted,
    settings: Settings,
    environ: Mapping[str, str],
    gold: GoldSet,
    recorded: Recorded | None,
    form: str,
) -> int:
    from judge_service.service import open_service

    with err().status("making the judges ready in this process …"):
        opened = open_service(replace(settings, require_family=False), environ)
        service = await opened.__aenter__()
    try:
        return await _compare(wanted, service, gold, recorded, form)
    finally:
        await opened.__aexit__(None, None, None)


async def _compare(
    wanted: Wanted, service: Service, gold: GoldSet, recorded: Recorded | None, form: str
) -> int:
    engine = service.engine
    before = None if recorded is None else _recorded_side(wanted, recorded, gold)
    sides: dict[SideName, Side] = {}
    if before is None:
        sides["baseline"] = find_side(wanted.baseline or "", gold, engine.bench, engine.library)
    if wanted.candidate is not None:
        sides["candidate"] = find_side(wanted.candidate, gold, engine.bench, engine.library)
        first = before.side if before is not None else sides["baseline"].info
        same_question(first, sides["candidate"].info)
    plan = Plan(
        gold=gold,
        baseline=sides["baseline"].info if "baseline" in sides else None,
        candidate=sides["candidate"].info if "candidate" in sides else None,
        repeat=wanted.repeat,
        cached=wanted.cached,
    )
    timeout = wanted.timeout or (TRIAL_TIMEOUT_S if service.local_model else TIMEOUT_S)
    askers = {
        name: SideAsker(engine, side, timeout, cached=wanted.cached and name == "candidate")
        for name, side in sides.items()
    }
    with _journal(wanted, service, plan) as journal:
        runner = Runner(
            plan=plan, askers=askers, journal=journal, concurrency=wanted.concurrency,
            ceiling_usd=wanted.max_cost, retry_failed=wanted.retry_failed,
        )  # fmt: skip
        runner.check()
        done = await _run(runner)
        if runner.stopped is not None:
            how = " with a higher --max-cost" if runner.at_ceiling else ""
            note(f"{runner.stopped}; the same command continues{how}")
        if "candidate" not in sides:
            _say_recorded(journal, done)
            if runner.stopped is not None:
                return NOT_ENOUGH
            journal.finish()
            return OK
        report = make_report(
            gold,
            before or journal.data("baseline"),
            journal.data("candidate"),
            top=wanted.top,
            seed=wanted.seed,
            stopped=runner.stopped,
        )
        # First the report: the runs are kept until it is there.
        await asyncio.to_thread(_write, report, form, wanted.out)
        if runner.stopped is None:
            journal.finish()
    return {True: DRIFT, False: OK, None: NOT_ENOUGH}[report["drift"]]


async def _run(runner: Runner) -> Progress:
    with progress() as watch:
        runner.watch = watch
        return await runner.go()


def _recorded_side(wanted: Wanted, recorded: Recorded, gold: GoldSet) -> RunData:
    """The runs of a file that are the baseline: those of the judge that is named, if one is."""
    where = str(wanted.baseline_run)
    judge, comma, rubric = (part.strip() for part in (wanted.baseline or "").partition(","))
    fitting: list[SideName] = [
        name
        for name, side in recorded.sides.items()
        if not judge or (side.judge == judge and (not comma or side.rubric == rubric))
    ]
    if not fitting:
        known = ", ".join(f"{side.judge},{side.rubric}" for side in recorded.sides.values())
        raise ConfigError(f"{where}: has no runs of {wanted.baseline!r}, but of {known}")
    data = recorded.data(fitting[0], recorded=True)
    if not data.runs:
        raise ConfigError(f"{where}: has no runs of {data.side.judge!r} yet")
    same_items(gold, data, where)
    return data


@contextmanager
def _journal(wanted: Wanted, service: Service, plan: Plan) -> Iterator[Journal]:
    """The file of runs. One that was named is continued, or reported from again; the one beside
    the store lasts until its report is made, so that the next run asks the judges anew.
    """
    started = datetime.now(UTC).isoformat(timespec="seconds")
    if wanted.runs is not None:
        journal = Journal(wanted.runs.expanduser(), plan, started=started, anew=wanted.overwrite)
        try:
            if journal.done and not wanted.retry_failed:
                note(f"{wanted.runs} is complete: nobody is asked; --overwrite begins anew")
            yield journal
        finally:
            journal.close()
        return
    with tempfile.TemporaryDirectory() as nowhere:
        folder = service.settings.beside_store("drift") or Path(nowhere)
        path = folder / f"{plan.digest}.jsonl"
        journal = Journal(path, plan, started=started, anew=wanted.overwrite)
        try:
            if journal.found:
                note(f"continuing an interrupted run: {len(journal.found)} judgements are there")
            yield journal
            if journal.done:
                path.unlink(missing_ok=True)
        finally:
            journal.close()


def _say_recorded(journal: Journal, done: Progress) -> None:
    failed = sum(found.status == "failed" for found in journal.found.values())
    err().print(
        clean(
            f"{len(journal.found)} judgements recorded in {journal.path}, {failed} failed, "
            f"{done.requests} requests now"
        ),
        soft_wrap=True,
        markup=False,
    )


def _write(report: dict[str, Any], form: str, path: Path | None) -> None:
    if form == "json":
        text = json.dumps(report, ensure_ascii=True, allow_nan=False) + "\n"
    elif form == "html":
        from judge_service.drift.html import html_report

        text = html_report(report)
    else:
        from judge_service.drift.text import text_report

        text = clean(text_report(report))
    if path is None:
        out().file.write(text)
        return
    try:
        path.expanduser().write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"--out: {path}: {error.strerror or error}") from None
    from judge_service.drift.text import one_line

    err().print(clean(f"{one_line(report)}; the report is in {path}"), soft_wrap=True, markup=False)
