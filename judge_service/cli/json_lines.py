"""The objects of a JSONL file, for commands that look at what others wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge_service.cli.exits import UserError

_BOM = b"\xef\xbb\xbf"


def json_lines(file: Path) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """The objects of a JSONL file: where, line number, object. Raises UserError."""
    try:
        with file.expanduser().open("rb") as lines:
            for number, data in enumerate(lines, start=1):
                if number == 1:
                    data = data.removeprefix(_BOM)
                if data.strip():
                    where = f"{file}: line {number}"
                    yield where, number, _object(data, where)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def _object(data: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise UserError(f"{where}: not JSON") from None
    if not isinstance(found, dict):
        raise UserError(f"{where}: not a JSON object")
    return found
