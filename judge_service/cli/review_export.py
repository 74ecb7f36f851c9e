"""From runs, or a batch and its results, to a sheet, its guide and its key."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_service.cli.configuration import settings_of
from judge_service.cli.exits import UsageError, UserError
from judge_service.cli.gold_files import gold_path
from judge_service.cli.json_lines import json_lines

if TYPE_CHECKING:
    from judge_service.review.key import Key
    from judge_service.review.pick import Counts, Picked
    from judge_service.review.seen import Pool
    from judge_service.rubric.rubric import Rubric
    from judge_service.settings import Settings

ENDINGS = (".csv", ".jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What the options say about where items come from."""

    results: list[Path]
    items: Path | None
    gold: str | None
    runs: Path | None
    flags: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written: paths, and how many items by reason (one may have several)."""

    sheet: Path
    key: Path
    guide: Path
    items: int
    counts: Mapping[str, int]
    notes: list[str] = field(default_factory=list)

    def wire(self) -> dict[str, Any]:
        """JSON."""
        return {
            "sheet": str(self.sheet), "key": str(self.key), "guide": str(self.guide),
            "items": self.items, "by_reason": dict(self.counts),
        }  # fmt: skip


def export(
    sources: Sources, counts: Counts, sheet: Path, *, verdicts: bool, seed: int | None,
    overwrite: bool,
) -> Exported:  # fmt: skip
    """Write the three files. Raises UserError and ConfigError before anything is written."""
    from judge_service.review.guide import guide
    from judge_service.review.key import make_key, write_key
    from judge_service.review.pick import pick
    from judge_service.review.sheet import csv_text, jsonl_text

    if sheet.suffix.lower() not in ENDINGS:
        raise UserError(f"--out: {sheet}: ends neither with .csv nor with .jsonl")
    key_file, guide_file = sheet.with_suffix(".key.json"), sheet.with_suffix(".guide.md")
    for path in (sheet, key_file, guide_file):
        if path.exists() and not overwrite:
            raise UserError(f"--out: {path}: is there already; --overwrite replaces it")
    pool, rubrics = _pool(sources)
    draw = _draw(seed)
    picked = pick(pool.seen, counts, draw)
    if not picked:
        raise UserError("no item was chosen: nothing has such a verdict, or all numbers are 0")
    key = make_key(pool, picked, [draw.random() < 0.5 for _ in picked])
    write_key(key_file, key)
    text = csv_text if sheet.suffix.lower() == ".csv" else jsonl_text
    _write(sheet, text(key, verdicts=verdicts))
    _write(guide_file, guide(key, rubrics.get(pool.rubric_hash)))
    return Exported(
        sheet=sheet,
        key=key_file,
        guide=guide_file,
        items=len(picked),
        counts=_by_reason(picked),
        notes=list(_notes(pool, counts, key, sheet)),
    )


def _by_reason(picked: list[Picked]) -> dict[str, int]:
    return dict(Counter(reason for one in picked for reason in one.why))


def _notes(pool: Pool, counts: Counts, key: Key, sheet: Path) -> Iterator[str]:
    from judge_service.review.sheet import LARGEST_CELL, longest

    if pool.left_out:
        yield f"{pool.left_out} items without a verdict were left out"
    if pool.kind == "compare" and (counts.highest or counts.lowest):
        yield "pairs have no rewards, so none is the highest or lowest"
    if counts.changed and all(len(one.said) < 2 for one in pool.seen):
        yield "there is one side only, so nothing has changed"
    if sheet.suffix.lower() == ".csv" and longest(key) > LARGEST_CELL:
        yield (
            f"a text is longer than {LARGEST_CELL:,} characters, which spreadsheet programs cut; "
            "name a .jsonl to show all of it"
        )


def _write(path: Path, text: str) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"--out: {path}: {error.strerror or error}") from None


def _pool(sources: Sources) -> tuple[Pool, dict[str, Rubric]]:
    """The items to choose from, and the rubrics there are, by their hash."""
    from judge_service.rubric.library import load_library

    settings, _ = settings_of(sources.flags)
    library = load_library(
        settings.rubrics_dir, settings.anchors_dir, rule_modules=settings.rule_modules
    )
    rubrics = {rubric.rubric_hash: rubric for rubric in library.values()}
    if bool(sources.results) == (sources.runs is not None):
        raise UsageError("give results of a batch (with --items), or --runs with --gold")
    if sources.runs is not None:
        return _of_runs(sources, settings), rubrics
    if sources.items is None:
        raise UsageError("--items: name the batch that the results were made from")
    return _of_results(sources.results, sources.items, rubrics), rubrics


def _of_runs(sources: Sources, settings: Settings) -> Pool:
    from judge_service.cli.loading import anchors_folder
    from judge_service.drift.journal import read_runs
    from judge_service.gold.file import load_gold
    from judge_service.review.of_runs import pool_of_runs

    if sources.gold is None or sources.runs is None:
        raise UsageError("--gold: name the gold set that the runs are of")
    gold = load_gold(gold_path(sources.gold, anchors_folder(settings) / "gold"))
    return pool_of_runs(gold, read_runs(sources.runs), str(sources.runs))


def _of_results(files: list[Path], items: Path, rubrics: Mapping[str, Rubric]) -> Pool:
    from judge_service.bias.origin import origin_of
    from judge_service.cli.requests import Defaults, asked
    from judge_service.request import RankRequest
    from judge_service.review.of_results import Batch, NotAResult

    bodies = [(where, body) for where, _, body in json_lines(items)]
    batch = Batch(rubrics)
    for file in files:
        for where, _, line in json_lines(file):
            index = line.get("index")
            if not isinstance(index, int) or isinstance(index, bool):
                raise UserError(f"{where}: no index, so --items cannot be matched")
            if not 0 <= index < len(bodies):
                raise UserError(f"{where}: --items has no item {index}")
            place, body = bodies[index]
            if not origin_of(body).could_be(line.get("metrics")):
                raise UserError(f"{where}: was not made from item {index} of --items")
            given = {name: value for name, value in body.items() if name != "id"}
            filled = Defaults(rubric="-", prompt="").fill(given)
            try:
                request = asked("compare" if "candidates" in body else "assess", filled).domain()
                assert not isinstance(request, RankRequest)  # noqa: S101 - of two kinds
                batch.take(index, body.get("id"), request, line)
            except NotAResult as error:
                raise UserError(f"{where}: {error}") from None
            except UserError as error:
                told = str(error).splitlines()[0]
                raise UserError(f"{place}: {told}") from None
    return batch.pool(items.stem)


def _draw(seed: int | None) -> random.Random:
    """Nobody can foretell an order without a seed; with one it can be drawn again."""
    if seed is None:
        return random.SystemRandom()
    return random.Random(seed)  # noqa: S311 - to be drawn again  # nosec B311
