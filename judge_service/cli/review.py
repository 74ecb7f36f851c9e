"""``judge-service review``: items for people to look at blind, and their labels taken in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.exits import OK, UsageError, UserError
from judge_service.cli.review_export import Sources, export
from judge_service.cli.terminal import clean, err, note, out, print_json
from judge_service.text.counted import count_of

if TYPE_CHECKING:
    from judge_service.gold.item import GoldSet
    from judge_service.review.gold import Review, TakenIn
    from judge_service.review.key import Key

review = typer.Typer(
    name="review", help="Have people look at items blind, and take their labels in as gold.",
    no_args_is_help=True, rich_markup_mode="rich",
)  # fmt: skip
CHOSEN = "Which items"
MAX_FAULTS = 20


def _count(*names: str, text: str) -> int:
    """The option of a number of items."""
    option: int = typer.Option(*names, metavar="N", min=0, help=text, rich_help_panel=CHOSEN)
    return option


@review.command(name="export")
def write(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Results of a batch of assess or compare, with --items; several files of the same "
            "items show what changed.",
            metavar="RESULTS",
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option("--items", metavar="FILE", help="The batch the results were made from."),
    ] = None,
    gold: Annotated[
        str | None, typer.Option("--gold", metavar="FILE", help="The gold set of --runs.")
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option("--runs", metavar="FILE", help="Runs of one judge or two, from drift --runs."),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The sheet: a .csv, or a .jsonl."),
    ] = None,
    highest: Annotated[int, _count("--highest", "--top", text="With the highest rewards.")] = 10,
    lowest: Annotated[int, _count("--lowest", "--bottom", text="With the lowest rewards.")] = 10,
    changed: Annotated[
        int,
        _count("--changed", "--disagreements", text="On which two sides differ most."),
    ] = 10,
    inconsistent: Annotated[
        int,
        _count("--inconsistent", text="Whose orders, runs or panel members disagree."),
    ] = 10,
    random: Annotated[int, _count("--random", text="Others, drawn by lot.")] = 0,
    verdicts: Annotated[
        bool,
        typer.Option("--show-verdicts", help="Show what judges said: then it is not blind."),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", help="Of the lots (default: another each time)."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files.")] = False,
    rubrics_dir: o.RubricsDir = None,
    anchors_dir: o.AnchorsDir = None,
    rule_modules: o.RuleModules = None,
    as_json: o.Json = False,
) -> None:
    """Write a sheet of items for people to label.

    Three files: the sheet, a guide with the rubric's questions (.guide.md), and the key (.key.json)
    that says which item is which and what judges said. Give reviewers the first two; the key stays
    with you and takes the labels back in.

    [bold]Examples[/bold]

    judge-service review export results.jsonl --items items.jsonl --top 5 --bottom 5 --out sheet.csv

    judge-service review export --gold mine.jsonl --runs gpt.runs --disagreements 20 --out sheet.csv
    """
    from judge_service.review.pick import Counts

    if target is None:
        raise UsageError("--out: name the sheet, as in --out sheet.csv")
    made = export(
        Sources(
            results=results or [], items=items, gold=gold, runs=runs,
            flags={
                "rubrics_dir": rubrics_dir, "anchors_dir": anchors_dir,
                "rule_modules": rule_modules,
            },
        ),
        Counts(
            highest=highest, lowest=lowest, changed=changed, inconsistent=inconsistent,
            random=random,
        ),
        target.expanduser(),
        verdicts=verdicts, seed=seed, overwrite=overwrite,
    )  # fmt: skip
    for remark in made.notes:
        note(remark)
    if as_json:
        print_json(made.wire())
        return
    counts = ", ".join(f"{n} {reason}" for reason, n in made.counts.items() if n)
    told = f"{count_of(made.items, 'item')} ({counts}) in {made.sheet}; the key is {made.key}"
    err().print(clean(told), soft_wrap=True, markup=False)


@review.command(name="import")
def take(
    sheets: Annotated[
        list[Path],
        typer.Argument(help="Sheets that were filled in, one for each reviewer.", metavar="SHEET"),
    ],
    key_file: Annotated[
        Path | None, typer.Option("--key", metavar="FILE", help="The key of the sheet.")
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", metavar="FILE", help="The gold set that the labels go into."),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where the gold set goes (default: stdout)."),
    ] = None,
    replacing: Annotated[
        bool,
        typer.Option("--replace", help="Drop the labels that items had before the review."),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace the file of --out; it may be that of --gold."),
    ] = False,
    as_json: o.Json = False,
) -> None:
    """Take labels from filled sheets into a gold set.

    Each sheet is one more annotator, named after its file. Texts come from the key and are exactly
    what judges saw, whatever a spreadsheet program did to the sheet.

    [bold]Examples[/bold]

    judge-service review import anna.csv bob.csv --key sheet.key.json --out gold.jsonl

    judge-service review import anna.csv --key sheet.key.json --gold mine.jsonl --out mine.jsonl
    --overwrite
    """
    from judge_service.gold.file import gold_text, load_gold
    from judge_service.review.gold import take_in
    from judge_service.review.key import read_key

    if key_file is None:
        raise UsageError("--key: name the key that was written beside the sheet")
    if target is not None and target.exists() and not overwrite:
        raise UserError(f"--out: {target}: is there already; --overwrite replaces it")
    key = read_key(key_file)
    before: GoldSet | None = None if gold is None else load_gold(gold)
    if before is not None and before.kinds != {key.kind}:
        raise UserError(f"--gold: {gold}: its items are not of the sheet's kind")
    taken = take_in(key, _reviews(sheets, key), before, replacing=replacing)
    if not taken.labelled:
        raise UserError("nothing is filled in on any sheet")
    _write(gold_text(taken.items), target)
    _say(taken, len(sheets), target, as_json=as_json)
    raise typer.Exit(OK)


def _reviews(sheets: list[Path], key: Key) -> list[Review]:
    """The labels of all sheets. Raises UserError with every fault."""
    from judge_service.review.labels import read_labels

    names = [sheet.stem for sheet in sheets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"two sheets are named {twice!r}; a reviewer is named after the sheet")
    found: list[Review] = []
    faults: list[str] = []
    for name, sheet in zip(names, sheets, strict=True):
        labels, wrong = read_labels(sheet, key)
        faults += wrong
        found.append((name, labels))
    if faults:
        more = [f"and {len(faults) - MAX_FAULTS} more faults"] if len(faults) > MAX_FAULTS else []
        raise UserError("\n".join(faults[:MAX_FAULTS] + more))
    return found


def _write(text: str, target: Path | None) -> None:
    """The gold set, in one step."""
    if target is None:
        out().file.write(text)
        return
    beside = target.with_name(f".{target.name}.tmp")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(target)
    except OSError as error:
        raise UserError(f"--out: {target}: {error.strerror or error}") from None


def _say(taken: TakenIn, sheets: int, target: Path | None, *, as_json: bool) -> None:
    if as_json and target is not None:
        print_json(
            {
                "items": len(taken.items), "labelled": taken.labelled, "added": taken.added,
                "blank": taken.blank, "reviewers": sheets,
            }
        )  # fmt: skip
        return
    told = (
        f"{count_of(taken.labelled, 'item')} labelled by {count_of(sheets, 'reviewer')}, "
        f"{taken.added} of them new, "
        f"{taken.blank} left blank; {count_of(len(taken.items), 'item')} in {target or 'all'}"
    )
    err().print(clean(told), soft_wrap=True, markup=False)
