"""Sheets as reviewers see them, and filled in as they do."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.drift.support import Bench, Lines, write_gold

Fill = Callable[[Mapping[str, str]], Mapping[str, str]]


def recorded(bench: Bench, gold: Lines, *more: str, rubric: str = "quality") -> tuple[Path, Path]:
    """A gold file and the runs of alpha and beta on it."""
    file = write_gold(bench.folder / f"{rubric}.jsonl", gold)
    runs = bench.folder / "both.runs"
    sides = ["--baseline", f"alpha,{rubric}", "--candidate", f"beta,{rubric}"]
    ran = bench.command("drift", "--gold", file, *sides, "--runs", runs, "--format", "json", *more)
    assert ran.code in (0, 2), ran.err
    return file, runs


def rows_of(sheet: Path) -> list[dict[str, str]]:
    """The rows of a CSV sheet, as a spreadsheet program shows them."""
    text = sheet.read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def filled(sheet: Path, name: str, fill: Fill, *, separator: str = ",") -> Path:
    """A copy of a sheet with the cells that ``fill`` says."""
    rows = [{**row, **fill(row)} for row in rows_of(sheet)]
    target = sheet.with_name(f"{name}.csv")
    with target.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return target


def key_of(sheet: Path) -> dict[str, Any]:
    """The key beside a sheet."""
    found: dict[str, Any] = json.loads(sheet.with_suffix(".key.json").read_text("utf-8"))
    return found


def lines_of(file: Path) -> dict[str, dict[str, Any]]:
    """The lines of a gold file by id."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return {line["id"]: line for line in lines}
