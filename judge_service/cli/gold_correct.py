"""``judge-service gold correct``: what a judge's points are worth in people's eyes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.configuration import settings_of
from judge_service.cli.exits import NO_VERDICT, OK, UserError
from judge_service.cli.gold_files import gold_path, gold_table
from judge_service.cli.terminal import note, out, plain, print_json

if TYPE_CHECKING:
    from judge_service.drift.correct import Learnt
    from judge_service.drift.plan import RunData
    from judge_service.gold.item import GoldSet
    from judge_service.rubric.rubric import Rubric
    from judge_service.settings import Settings


def correct(
    gold: Annotated[str, typer.Option("--gold", help="The gold set.", metavar="FILE")],
    runs: Annotated[
        Path, typer.Option("--runs", help="Runs of the judge, from drift --runs.", metavar="FILE")
    ],
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge", metavar="ID", help="Which judge of the file (default: its baseline)."
        ),
    ] = None,
    rubrics_dir: o.RubricsDir = None,
    anchors_dir: o.AnchorsDir = None,
    rule_modules: o.RuleModules = None,
    as_json: o.Json = False,
) -> None:
    """Learn what a judge's points are worth in people's eyes.

    Prints a table for judges.toml, with what it would have done on items that it was not learnt
    from. Exit code 3 where no criterion comes nearer to people by more than chance.

    [bold]Examples[/bold]

    judge-service gold correct --gold mine.jsonl --runs gpt.runs
    """
    from judge_service.cli.loading import anchors_folder
    from judge_service.drift.correct import as_toml, learn

    settings, _ = settings_of(
        {"rubrics_dir": rubrics_dir, "anchors_dir": anchors_dir, "rule_modules": rule_modules}
    )
    rubric, items, data = _recorded(
        gold_path(gold, anchors_folder(settings) / "gold"), runs, judge, settings
    )
    learnt = learn(items, data.first, rubric)
    helping = [one for one in learnt if one.helps]
    table = as_toml(rubric, helping) if helping else None
    if as_json:
        print_json(
            {
                "judge": data.side.judge, "rubric": rubric.id, "rubric_hash": rubric.rubric_hash,
                "gold_digest": items.digest, "criteria": [one.wire() for one in learnt],
                "toml": table,
            }
        )  # fmt: skip
    else:
        _show_learnt(learnt)
        if table is not None:
            note(f"put this under judge {data.side.judge!r} in judges.toml")
            out().file.write(table)
    if not helping:
        note("no criterion comes nearer to people by more than chance; nothing is to be corrected")
    raise typer.Exit(OK if helping else NO_VERDICT)


def _recorded(
    gold: Path, runs: Path, judge: str | None, settings: Settings
) -> tuple[Rubric, GoldSet, RunData]:
    """The rubric, the items and the runs that a correction is learnt from. Raises UserError."""
    from judge_service.drift.journal import read_runs
    from judge_service.drift.plan import same_items
    from judge_service.gold.file import load_gold
    from judge_service.gold.scale import off_scale, scales_of
    from judge_service.rubric.library import load_library

    items, recorded = load_gold(gold), read_runs(runs)
    name = next((n for n, side in recorded.sides.items() if judge in (None, side.judge)), None)
    if name is None:
        raise UserError(f"{runs}: has no runs of {judge!r}")
    data = recorded.data(name, recorded=True)
    if data.side.kind == "compare" or not data.runs:
        raise UserError(f"{runs}: has no judged single candidates of {data.side.judge!r}")
    same_items(items, data, str(runs))
    library = load_library(
        settings.rubrics_dir, settings.anchors_dir, rule_modules=settings.rule_modules
    )
    name_of = data.side.rubric
    if name_of not in library or library[name_of].rubric_hash != data.side.rubric_hash:
        raise UserError(
            f"{runs}: was recorded with another version of rubric {name_of!r}; a "
            "correction counts for the version that it was learnt under"
        )
    wrong = off_scale(items.items, scales_of(library[name_of]))
    if wrong:
        raise UserError(f"{gold}: {wrong[0]} of rubric {name_of!r}; gold check tells them all")
    return library[name_of], items, data


def _show_learnt(learnt: Sequence[Learnt]) -> None:
    from judge_service.drift.words import estimate

    table = gold_table("criterion", "items", "points", "are worth", "error before", "after", "gain")
    for one in learnt:
        table.add_row(
            *[
                plain(cell)
                for cell in (
                    one.criterion, one.n, ", ".join(map(str, one.points)),
                    ", ".join(f"{value:g}" for value in one.values),
                    f"{one.before:.3f}", f"{one.after:.3f}",
                    estimate(None if one.gain is None else one.gain.wire(), signed=True),
                )
            ]
        )  # fmt: skip
    out().print(table)
