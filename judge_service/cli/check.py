"""``judge-service check``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge_service.cli import options as o
from judge_service.cli.configuration import settings_of
from judge_service.cli.exits import OK, WRONG
from judge_service.cli.terminal import complain, note, out, plain, print_json
from judge_service.text.counted import count_of

if TYPE_CHECKING:
    from judge_service.cli.checklist import Answered
    from judge_service.judges.judge import Bench
    from judge_service.rubric.rubric import Rubric
    from judge_service.settings import Settings

_STYLES = {"yes": "green", "no": "yellow", "cannot tell": "dim"}


@dataclass(slots=True, kw_only=True)
class Checked:
    """What was found: ``faults`` stop a service, ``warnings`` do not."""

    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rubrics: list[tuple[Rubric, list[Answered]]] = field(default_factory=list)

    def failures(self, *, strict: bool) -> int:
        """How many things must not stay as they are."""
        answers = [answer for _, answers in self.rubrics for answer in answers]
        if strict:
            bad = sum(answer.answer == "no" for answer in answers) + len(self.warnings)
        else:
            bad = sum(answer.failure for answer in answers)
        return len(self.faults) + bad


def check(
    rubrics: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of rubrics, or files of them (default: all).", metavar="RUBRIC"),
    ] = None,
    judges: o.JudgesFileShort = None,
    rubrics_dir: o.RubricsDir = None,
    anchors_dir: o.AnchorsDir = None,
    rule_modules: o.RuleModules = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Let every warning and every no be a failure.")
    ] = False,
    as_json: o.Json = False,
) -> None:
    """Check rubrics, anchors and judges, and answer ten questions about each reward.

    Every fault is named with its file and field. The answers are yes, no or cannot tell. A no is a
    warning, except for two, which are failures: a rubric without an upper length, and a judge or a
    family that serves training and validation. Exit code 1 where anything failed.

    [bold]Examples[/bold]

    judge-service check

    judge-service check --rubrics-dir rubrics --anchors-dir anchors --strict

    judge-service check helpfulness --judges-file judges.toml

    judge-service check my-rubric.toml
    """
    flags = {
        "judges": judges,
        "rubrics_dir": rubrics_dir,
        "anchors_dir": anchors_dir,
        "rule_modules": rule_modules,
    }
    settings, environ = settings_of(flags)
    found = _look(settings, environ, rubrics or [])
    failures = found.failures(strict=strict)
    if as_json:
        print_json(_json(found, passed=not failures))
    else:
        _print(found, failures)
    raise typer.Exit(WRONG if failures else OK)


def _look(settings: Settings, environ: Mapping[str, str], wanted: list[str]) -> Checked:
    from judge_service.cli.checklist import checklist
    from judge_service.cli.loading import (
        anchors_folder,
        load_judges,
        load_rubrics,
        watch_faults,
    )
    from judge_service.gold.folder import read_gold
    from judge_service.judging.unexpected import expectation_warnings

    found = Checked()
    bench = load_judges(settings, found.faults)
    rubrics = load_rubrics(settings, wanted, found.faults)
    gold, faults = read_gold(anchors_folder(settings) / "gold")
    found.faults += faults
    if bench is not None:
        found.warnings += _judge_warnings(bench, environ)
        found.warnings += expectation_warnings(bench, rubrics)
        everything = load_rubrics(settings, [], []) if wanted else rubrics
        found.faults += watch_faults(settings, bench, everything)
    found.rubrics = [(rubric, checklist(rubric, bench, gold)) for rubric in rubrics]
    return found


def _judge_warnings(bench: Bench, environ: Mapping[str, str]) -> list[str]:
    from judge_service.judges.provider_key import key_warnings

    # That validation and training share a family is question 7, for every rubric.
    warnings = [text for text in bench.warnings() if "validation would repeat" not in text]
    for judge in bench.values():
        if judge.api_key_env is not None and not environ.get(judge.api_key_env):
            warnings.append(f"judge {judge.id!r}: the variable {judge.api_key_env} is not set")
    return warnings + key_warnings(bench.values(), environ)


def _json(found: Checked, *, passed: bool) -> dict[str, Any]:
    return {
        "passed": passed,
        "faults": found.faults,
        "warnings": found.warnings,
        "rubrics": [
            {
                "id": rubric.id,
                "version": rubric.version,
                "kind": rubric.kind,
                "rubric_hash": rubric.rubric_hash,
                "checklist": [
                    {
                        "number": a.number,
                        "question": a.question,
                        "answer": a.answer,
                        "reason": a.reason,
                        "failure": a.failure,
                    }
                    for a in answers
                ],
            }
            for rubric, answers in found.rubrics
        ],
    }


def _print(found: Checked, failures: int) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    console = out()
    for rubric, answers in found.rubrics:
        table = Table(
            box=SIMPLE_HEAD, title=plain(f"{rubric.id} {rubric.version}", "bold"),
            title_justify="left", pad_edge=False,
        )  # fmt: skip
        table.add_column("", justify="right")
        table.add_column("question", ratio=2)
        table.add_column("answer", no_wrap=True)
        table.add_column("reason", ratio=3, overflow="fold")
        for a in answers:
            style = "bold red" if a.failure else _STYLES[a.answer]
            answer = f"{a.answer}: failure" if a.failure else a.answer
            table.add_row(str(a.number), a.question, plain(answer, style), plain(a.reason))
        console.print(table)
    for warning in found.warnings:
        note(warning)
    if found.faults:
        complain("\n".join(found.faults))
    answers = [answer for _, answers in found.rubrics for answer in answers]
    nos = sum(a.answer == "no" and not a.failure for a in answers)
    text = f"{count_of(len(found.rubrics), 'rubric')} checked, {count_of(failures, 'failure')}, "
    text += count_of(nos + len(found.warnings), "warning")
    console.print(plain(text, "bold red" if failures else "bold green"))
