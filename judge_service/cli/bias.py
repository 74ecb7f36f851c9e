"""``judge-service bias``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge_service.cli import options as o
from judge_service.cli.configuration import settings_of
from judge_service.cli.exits import NO_VERDICT, OK, UsageError, UserError
from judge_service.cli.json_lines import json_lines
from judge_service.cli.pages import Form, FormOption, OutOption, check_out, show
from judge_service.cli.terminal import note

if TYPE_CHECKING:
    from judge_service.bias.origin import Origin
    from judge_service.bias.report import BiasReport
    from judge_service.bias.results import Scales


def bias(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files of outcomes, as assess and compare write them with --batch. Several runs "
            "of the same items tell of stability.",
            metavar="RESULTS",
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            "--items",
            metavar="FILE",
            help="The batch that the results were made from: tells of markup and of families.",
        ),
    ] = None,
    form: FormOption = Form.TEXT,
    out: OutOption = None,
    url: o.RunningUrl = None,
    rubrics_dir: o.RubricsDir = None,
    anchors_dir: o.AnchorsDir = None,
    rule_modules: o.RuleModules = None,
    as_json: o.Json = False,
) -> None:
    """Show what judges' verdicts tell of their biases.

    Position, length, style, own family and stability: from files of results, or live from a running
    service (GET /v1/bias). Every figure has its 95 % interval, or the reason why there is none.
    Exit code 3 where there is no verdict to say anything of.

    [bold]Examples[/bold]

    judge-service bias results.jsonl --items items.jsonl

    judge-service bias --url http://127.0.0.1:8080 --format html --out bias.html
    """
    form = Form.JSON if as_json else form
    check_out(out)
    if results:
        flags = {
            "rubrics_dir": rubrics_dir, "anchors_dir": anchors_dir, "rule_modules": rule_modules,
        }  # fmt: skip
        report = _of_files(results, items, _scales(flags))
    elif items is not None:
        raise UsageError("--items belongs to files of results")
    elif url:
        report = asyncio.run(_of_service(url))
    else:
        raise UsageError("missing: RESULTS, or --url of a running service")
    from judge_service.bias.shown import page

    show(page(report), report.model_dump(mode="json"), form, out)
    said = any(judge.pairs or judge.answers for judge in report.judges)
    if not said:
        note("no judge has a verdict here")
    raise typer.Exit(OK if said else NO_VERDICT)


async def _of_service(url: str) -> BiasReport:
    from judge_service.bias.report import BiasReport
    from judge_service.cli.remote import remote

    async with remote(url) as service:
        return await service.get_as("/v1/bias", BiasReport)


def _scales(flags: Mapping[str, object]) -> Scales:
    """The scales of the rubrics that can be had, for what points are worth."""
    from judge_service.cli.loading import load_rubrics

    settings, _ = settings_of(flags)
    faults: list[str] = []
    rubrics = load_rubrics(settings, [], faults)
    if faults:
        raise UserError("\n".join(faults))
    return {
        (rubric.rubric_hash, criterion.name): criterion.points.values
        for rubric in rubrics
        for criterion in rubric.criteria
        if criterion.scale is not None
    }


def _of_files(files: list[Path], items: Path | None, scales: Scales) -> BiasReport:
    from judge_service.bias.results import NotAnOutcome, Reading

    origins = None if items is None else _origins(items)
    reading = Reading(scales=scales)
    for file in files:
        for where, number, line in json_lines(file):
            try:
                reading.take(_item(line, f"{file}:{number}"), line, _origin(line, origins, where))
            except NotAnOutcome as error:
                raise UserError(f"{where}: {error}") from None
    if not reading.counts:
        raise UserError(f"{files[0]}: no outcomes")
    return reading.report()


def _item(line: Mapping[str, Any], otherwise: str) -> str:
    """What was asked: the batch's hash of it, else the caller's id, else the line itself."""
    for name in ("item", "id"):
        if isinstance(line.get(name), (str, int)):
            return f"{name} {line[name]}"
    return otherwise


def _origins(items: Path) -> list[Origin]:
    from judge_service.bias.origin import origin_of

    return [origin_of(line) for _, _, line in json_lines(items)]


def _origin(line: Mapping[str, Any], origins: list[Origin] | None, where: str) -> Origin | None:
    """The item a result was made from, by its index. Raises UserError where that cannot be."""
    if origins is None:
        return None
    index = line.get("index")
    if not isinstance(index, int) or isinstance(index, bool):
        raise UserError(f"{where}: no index, so --items cannot be matched")
    if not 0 <= index < len(origins):
        raise UserError(f"{where}: --items has no item {index}")
    origin = origins[index]
    if not origin.could_be(line.get("metrics")):
        raise UserError(f"{where}: was not made from item {index} of --items")
    return origin
