"""The rows of a data file: JSON, JSONL or CSV, plain or compressed with gzip."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judge_service.errors import ConfigError

MAX_BYTES = 512 * 1024 * 1024
MAX_CELL_CHARS = 4 * 1024 * 1024
Row = Mapping[str, Any]


def read_rows(file: Path) -> Iterator[tuple[str, Row]]:
    """``("line 3", {...})`` for every row. Raises ConfigError for a file that cannot be read.

    A ``.csv`` or ``.tsv`` has its columns' names in the first line. JSON is a list of objects, an
    object with one list inside, or one object per line.
    """
    name = file.name.lower().removesuffix(".gz")
    if name.endswith(".parquet"):
        raise ConfigError(f"{file}: Parquet is not read here; export it as JSONL or CSV")
    text = _text(file)
    if name.endswith((".csv", ".tsv")):
        yield from _table(text, file, "\t" if name.endswith(".tsv") else ",")
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
        if len(raw) > MAX_BYTES:
            raise ConfigError(f"{file}: larger than {MAX_BYTES:,} bytes")
        return raw.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{file}: cannot be read: {why}") from None


def _table(text: str, file: Path, separator: str) -> Iterator[tuple[str, Row]]:
    before = csv.field_size_limit(MAX_CELL_CHARS)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        try:
            for row in reader:
                if None in row:
                    raise ConfigError(
                        f"{file}: line {reader.line_num}: more cells than there are columns"
                    )
                yield f"line {reader.line_num}", {k: v for k, v in row.items() if v is not None}
        except csv.Error as error:
            raise ConfigError(f"{file}: line {reader.line_num}: not CSV: {error}") from None
    finally:
        csv.field_size_limit(before)


def _document(text: str, file: Path) -> Iterator[tuple[str, Row]]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
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
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{file}: line {number}: not JSON: {error}") from None
        if not isinstance(row, dict):
            raise ConfigError(f"{file}: line {number}: not an object")
        yield f"line {number}", row
