"""``judge-service gold``: checks human-labelled items, and makes them of public data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge_service.cli import options as o
from judge_service.cli.configuration import settings_of
from judge_service.cli.exits import OK, WRONG, UsageError, UserError
from judge_service.cli.gold_correct import correct
from judge_service.cli.gold_files import gold_path, gold_table
from judge_service.cli.terminal import clean, err, note, out, plain, print_json
from judge_service.text.counted import count_of

if TYPE_CHECKING:
    from judge_service.gold.check import GoldFigures

gold = typer.Typer(
    name="gold", help="Check gold sets (human-labelled items), and make them of public data.",
    no_args_is_help=True, rich_markup_mode="rich",
)  # fmt: skip
MAX_SHOWN = 10
gold.command()(correct)


@gold.command()
def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Gold files, or names of those beside the anchors.", metavar="FILE"),
    ] = None,
    rubric: Annotated[
        str | None,
        typer.Option("--rubric", help="Check the labels against this rubric, too.", metavar="ID"),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings are failures.")] = False,
    rubrics_dir: o.RubricsDir = None,
    anchors_dir: o.AnchorsDir = None,
    rule_modules: o.RuleModules = None,
    as_json: o.Json = False,
) -> None:
    """Look at gold sets: size (50 to 200), balance of labels, agreement of annotators, duplicates.

    Without a file, all that lie beside the anchors. A set that is named after a rubric is checked
    against it. Exit code 1 where one is not fit for use, or with --strict where there is a warning.

    [bold]Examples[/bold]

    judge-service gold check

    judge-service gold check mine.jsonl --rubric helpfulness
    """
    from judge_service.cli.loading import anchors_folder
    from judge_service.gold.check import check_gold
    from judge_service.gold.file import load_gold
    from judge_service.rubric.library import load_library

    settings, _ = settings_of(
        {"rubrics_dir": rubrics_dir, "anchors_dir": anchors_dir, "rule_modules": rule_modules}
    )
    library = load_library(
        settings.rubrics_dir, settings.anchors_dir, rule_modules=settings.rule_modules
    )
    folder = anchors_folder(settings) / "gold"
    paths = [gold_path(name, folder) for name in files or []] or sorted(folder.glob("*.jsonl"))
    if not paths:
        raise UserError(f"{folder}: there is no gold set; name a file")
    found = []
    for path in paths:
        gold = load_gold(path)
        wanted = rubric or (gold.name if gold.name in library else None)
        found.append((path, wanted, check_gold(gold, None if wanted is None else library[wanted])))
    failed = any(not figures.passed or (strict and figures.remarks) for _, _, figures in found)
    if as_json:
        print_json(
            {
                "passed": not failed,
                "files": [
                    {"file": str(path), "rubric": wanted, **figures.wire()}
                    for path, wanted, figures in found
                ],
            }
        )
    else:
        for path, wanted, figures in found:
            _show(path, wanted, figures)
    raise typer.Exit(WRONG if failed else OK)


@gold.command()
def convert(
    source: Annotated[
        Path,
        typer.Argument(help="The data: JSON, JSONL, CSV or TSV, or gzipped.", metavar="FILE"),
    ],
    form: Annotated[
        str,
        typer.Option("--from", help="Its form; see the list of forms.", metavar="FORM"),
    ] = "table",
    target: Annotated[
        Path | None,
        typer.Option("--out", help="Where the gold set goes (default: stdout).", metavar="FILE"),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="WHAT=COLUMN",
            help="For tables: which column holds prompt, candidate, first, second, reference, id, "
            "family, model, choice or label.CRITERION; labels and choices of several people are "
            "several columns, A,B,C.",
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Option(
            "--word",
            metavar="WORD=CHOICE",
            help="For tables: what a cell means, as in better=first.",
        ),
    ] = None,
    criterion: Annotated[
        str,
        typer.Option("--criterion", metavar="NAME", help="The name under which points are filed."),
    ] = "quality",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, metavar="N", help="Take so many items, spread over the whole file."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --out.")
    ] = False,
) -> None:
    """Make a gold set of labelled data that is there.

    [bold]Examples[/bold]

    judge-service gold convert dataset.json --from llmbar --out anchors/gold/llmbar.jsonl

    judge-service gold convert votes.csv --map prompt=question --map candidate=answer
    --map label.accuracy=ann1,ann2 --out mine.jsonl
    """
    from judge_service.gold.file import gold_text
    from judge_service.gold.forms.form import Options
    from judge_service.gold.forms.registry import convert as convert_file
    from judge_service.gold.forms.table import parse_columns, parse_words

    if form != "table" and (columns or words):
        raise UsageError("--map and --word are for tables; the other forms know their columns")
    if target is not None and target.exists() and not overwrite:
        raise UserError(f"--out: {target}: is there already; --overwrite replaces it")
    options = Options(
        criterion=criterion, columns=parse_columns(columns or []), words=parse_words(words or [])
    )
    found = convert_file(form, source, options)
    items = found.items
    if limit is not None and len(items) > limit:
        items = [items[place * len(items) // limit] for place in range(limit)]
    text = gold_text(items)
    for remark in found.notes:
        note(remark)
    for place, why in found.skipped[:MAX_SHOWN]:
        note(f"{source}: {place}: left out: {why}")
    if len(found.skipped) > MAX_SHOWN:
        more = count_of(len(found.skipped) - MAX_SHOWN, "more row")
        note(f"and {more} left out")
    if target is None:
        out().file.write(text)
        return
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"--out: {target}: {error.strerror or error}") from None
    told = f"{count_of(len(items), 'item')} in {target}, "
    told += f"{count_of(len(found.skipped), 'row')} left out"
    err().print(clean(told), soft_wrap=True, markup=False)


@gold.command()
def forms(as_json: o.Json = False) -> None:
    """List the forms of data that gold convert reads."""
    from judge_service.gold.forms.registry import FORMS

    if as_json:
        print_json({"forms": [{"name": form.name, "about": form.about} for form in FORMS.values()]})
        return
    table = gold_table("form", "what is read")
    for form in FORMS.values():
        table.add_row(plain(form.name, "bold"), plain(form.about))
    out().print(table)


def _show(path: Path, rubric: str | None, figures: GoldFigures) -> None:
    from judge_service.drift.words import estimate

    gold = figures.gold
    about = f" for rubric {rubric}" if rubric else ""
    console = out()
    console.print(
        plain(f"{path}: {count_of(len(gold.items), 'item')}{about}", "bold"), soft_wrap=True
    )
    table = gold_table("label", "given", "people per item", "agreement", "alpha")
    for name, found in figures.labels.items():
        given = ", ".join(f"{label}: {n}" for label, n in found.counts.items())
        people = ", ".join(f"{k} ({count_of(n, 'item')})" for k, n in found.annotators.items())
        cells: list[Any] = [name, given, people]
        told = [None if e is None else e.wire() for e in (found.agreement, found.alpha)]
        table.add_row(*[plain(cell) for cell in [*cells, *map(estimate, told)]])
    console.print(table)
    if "assess" in gold.kinds:
        console.print(
            plain(
                f"{count_of(figures.groups, 'prompt')} with several candidates, "
                f"{count_of(figures.grouped_items, 'item')}"
            )
        )
    for remark in figures.remarks:
        style = "red" if remark.level == "fault" else "yellow"
        console.print(plain(f"{remark.level}: ", style) + plain(remark.text), soft_wrap=True)
    console.print()
