"""Gold files: JSONL, read with every fault named by its line, and written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judge_service.errors import ConfigError
from judge_service.gold.item import GoldItem, GoldSet
from judge_service.gold.line import GoldLine, line_of
from judge_service.rubric.library import explain
from judge_service.strict_json import decode

MAX_ITEMS = 10_000
MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_FAULTS = 20
_HALVES = re.compile("[\ud800-\udfff]")


def load_gold(file: Path) -> GoldSet:
    """A gold file. Raises ConfigError that names every line that cannot be right."""
    gold, faults = read_gold_file(file)
    if faults:
        more = [f"and {len(faults) - MAX_FAULTS} more faults"] if len(faults) > MAX_FAULTS else []
        raise ConfigError("\n".join(faults[:MAX_FAULTS] + more))
    if not gold.items:
        raise ConfigError(f"{file}: no items")
    return gold


def read_gold_file(file: Path) -> tuple[GoldSet, list[str]]:
    """What of a gold file can be read, and the faults of the rest: ``file: line N: what``."""
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            return _empty(file), [f"{file}: larger than {MAX_FILE_BYTES:,} bytes"]
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return _empty(file), [
            f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ]
    return parse_gold(text, name=file.stem, where=str(file))


def parse_gold(text: str, *, name: str, where: str) -> tuple[GoldSet, list[str]]:
    """The same of a file's text; ``where`` stands before each fault."""
    lines = enumerate(text.split("\n"), start=1)
    given = ((f"{where}: line {number}", line) for number, line in lines if line.strip())
    return _collect(((place, decode_line(line)) for place, line in given), name, where)


def gold_of(lines: Iterable[Any], *, name: str, where: str) -> tuple[GoldSet, list[str]]:
    """The same of decoded lines, items numbered from 0: ``where[N]: what``."""
    return _collect(((f"{where}[{n}]", line) for n, line in enumerate(lines)), name, where)


def _collect(lines: Iterable[tuple[str, Any]], name: str, where: str) -> tuple[GoldSet, list[str]]:
    items: list[GoldItem] = []
    faults: list[str] = []
    seen: dict[str, str] = {}
    for place, value in lines:
        if len(items) >= MAX_ITEMS:
            faults.append(f"{where}: more than {MAX_ITEMS:,} items")
            break
        if isinstance(value, NotJson):
            faults.append(f"{place}: not JSON: {value}")
            continue
        try:
            item = GoldLine.model_validate(value).item()
        except ValidationError as error:
            faults += [f"{place}: {fault}" for fault in explain(error)]
            continue
        if item.id in seen:
            faults.append(f"{place}: id: {item.id!r} is already that of {seen[item.id]}")
            continue
        seen[item.id] = place.removeprefix(f"{where}: ")
        items.append(item)
    return GoldSet(name=name, items=tuple(items)), faults


def gold_text(items: Iterable[GoldItem]) -> str:
    """Items as the text of a gold file, which UTF-8 can hold whatever is in their metadata."""
    lines = (json.dumps(line_of(item), ensure_ascii=False) + "\n" for item in items)
    return "".join(_HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", line) for line in lines)


class NotJson(ValueError):
    """A line that cannot be decoded."""


def decode_line(line: str) -> Any:
    """The value of strict JSON, or a NotJson."""
    try:
        return decode(line)
    except ValueError as error:
        return NotJson(str(error))


def _empty(file: Path) -> GoldSet:
    return GoldSet(name=file.stem, items=())
