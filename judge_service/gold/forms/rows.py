"""The rows of a data file: JSON, JSONL or CSV, plain or compressed with gzip."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judge_service.errors import ConfigError
from judge_service.strict_json import unique

MAX_BYTES = 512 * 1024 * 1024
MAX_CELL_CHARS = 4 * 1024 * 1024
SEPARATORS = (",", ";", "\t")
Row = Mapping[str, Any]


def read_rows(file: Path) -> Iterator[tuple[str, Row]]:
    """``("line 3", {...})`` for every row. Raises ConfigError for a file that cannot be read.

    A ``.csv`` or ``.tsv`` has its columns' names in the first line; a ``.csv`` without a comma
    there may have semicolons or tabs, as spreadsheet programs write it in some countries. JSON is a
    list of objects, an object with one list inside, or one object per line. NaN and Infinity, which
    data tools write for what is missing, are read as null.
    """
    name = file.name.lower().removesuffix(".gz")
    if name.endswith(".parquet"):
        raise ConfigError(f"{file}: Parquet is not read here; export it as JSONL or CSV")
    text = _text(file)
    if name.endswith((".csv", ".tsv")):
        yield from _table(text, file, "\t" if name.endswith(".tsv") else _separator(text))
    elif text.lstrip()[:1] == "[" or name.endswith(".json"):
        yield from _document(text, file)
    else:
        yield from _lines(text, file)


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            compressed = opened.read(2) == b"\x1f\x8b"
        with gzip.open(file, "rb") if compressed else file.open("rb") as data:
            raw = data.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{file}: cannot be read: {why}") from None
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"{file}: larger than {MAX_BYTES:,} bytes")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ConfigError(f"{file}: line 1: not UTF-8 but UTF-16; save it as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        byte = raw[error.start]
        raise ConfigError(
            f"{file}: line {line}: not UTF-8 (byte 0x{byte:02x}); save it as UTF-8"
        ) from None


def _separator(text: str) -> str:
    """What separates the columns' names: a comma unless the first line has none."""
    head = text.partition("\n")[0]
    return next((mark for mark in SEPARATORS if mark in head), ",")


def _table(text: str, file: Path, separator: str) -> Iterator[tuple[str, Row]]:
    before = csv.field_size_limit(MAX_CELL_CHARS)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        try:
            names = _names(next(reader, []), file)
            for cells in reader:
                if cells:
                    yield f"line {reader.line_num}", _row(names, cells, file, reader.line_num)
        except csv.Error as error:
            raise ConfigError(f"{file}: line {reader.line_num}: not CSV: {error}") from None
    finally:
        csv.field_size_limit(before)


def _names(head: list[str], file: Path) -> list[str]:
    names = [name.strip() for name in head]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{file}: line 1: two columns are named {twice[:40]!r}")
    return names


def _row(names: list[str], cells: list[str], file: Path, line: int) -> Row:
    """Cells by name; one that has no name must be empty, one that is missing is left out."""
    if any(cell.strip() for cell in cells[len(names) :]):
        raise ConfigError(f"{file}: line {line}: more cells than there are columns")
    return {name: cell for name, cell in zip(names, cells, strict=False) if name}


def _decoded(text: str) -> Any:
    """The value of JSON. Raises ValueError, for a key that stands twice in one object, too."""
    try:
        return json.loads(
            text, object_pairs_hook=unique, parse_constant=lambda _: None, parse_float=_finite
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _document(text: str, file: Path) -> Iterator[tuple[str, Row]]:
    try:
        data = _decoded(text)
    except ValueError as error:
        # Files named .json often hold one object per line.
        if text.lstrip()[:1] == "{":
            yield from _lines(text, file)
            return
        raise ConfigError(f"{file}: not JSON: {error}") from None
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        data = lists[0] if len(lists) == 1 else [data]
    if not isinstance(data, list):
        raise ConfigError(f"{file}: holds no list of objects")
    for number, row in enumerate(data):
        if not isinstance(row, dict):
            raise ConfigError(f"{file}: entry {number}: not an object")
        yield f"entry {number}", row


def _lines(text: str, file: Path) -> Iterator[tuple[str, Row]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = _decoded(line)
        except ValueError as error:
            raise ConfigError(f"{file}: line {number}: not JSON: {error}") from None
        if not isinstance(row, dict):
            raise ConfigError(f"{file}: line {number}: not an object")
        yield f"line {number}", row
