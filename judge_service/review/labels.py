"""What reviewers wrote on a sheet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge_service.gold.forms.form import flipped
from judge_service.gold.forms.rows import read_rows
from judge_service.outcome import Choice
from judge_service.review.key import Entry, Key
from judge_service.review.sheet import ITEM

WORDS: dict[str, Choice] = {
    **dict.fromkeys(("1", "answer_1", "answer 1", "first", "a"), "first"),
    **dict.fromkeys(("2", "answer_2", "answer 2", "second", "b"), "second"),
    **dict.fromkeys(("tie", "0", "=", "equal", "both", "same", "neither", "draw"), "tie"),
}
"""What a choice may be called on a sheet, of the answers as they are shown."""
_WHOLE = re.compile(r"([+-]?[0-9]{1,9})(?:[.,]0{1,9})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """One reviewer's labels of one item: points by criterion, or a choice of the gold item's
    own candidates.
    """

    points: Mapping[str, int] = field(default_factory=dict)
    choice: Choice | None = None

    @property
    def blank(self) -> bool:
        """Whether nothing was filled in."""
        return not self.points and self.choice is None


def read_labels(file: Path, key: Key) -> tuple[dict[str, Labels], list[str]]:
    """The labels of a sheet by its entries' names, and every fault: ``file: line: what``.

    Texts on a sheet are not read, so nothing that a spreadsheet program did to them matters. Rows
    and label columns may be missing or in another order; blank cells are no labels. Raises
    ConfigError for a file that cannot be read.
    """
    found: dict[str, Labels] = {}
    faults: list[str] = []
    seen: dict[str, str] = {}
    for place, row in read_rows(file):
        where = f"{file}: {place}"
        if ITEM not in row:
            faults.append(f"{where}: there is no column {ITEM!r}, which names the item")
            break
        name = str(row[ITEM]).strip()
        entry = key.entries.get(name)
        if entry is None:
            faults.append(f"{where}: {ITEM}: {name[:40]!r} is not in this key")
        elif name in seen:
            faults.append(f"{where}: {ITEM}: {name!r} stands on {seen[name]} already")
        else:
            seen[name] = place
            labels, wrong = _labels(row, key, entry)
            faults += [f"{where}: {name}: {fault}" for fault in wrong]
            found[name] = labels
    return {name: labels for name, labels in found.items() if not labels.blank}, faults


def _labels(row: Mapping[str, Any], key: Key, entry: Entry) -> tuple[Labels, list[str]]:
    given = {name: row.get(name) for name in key.columns if not _is_blank(row.get(name))}
    if key.kind == "compare":
        return _choice(given.get("choice"), entry)
    points: dict[str, int] = {}
    faults = []
    for criterion, scale in key.scales.items():
        column = f"label.{criterion}"
        if column not in given:
            continue
        point = _point(given[column])
        if point is None or point not in scale:
            told = ", ".join(map(str, scale))
            faults.append(f"{column}: {str(given[column])[:40]!r} is none of {told}")
        else:
            points[criterion] = point
    return Labels(points=points), faults


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _point(value: object) -> int | None:
    """A whole number, however a spreadsheet program wrote it; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    whole = _WHOLE.fullmatch(str(value).strip())
    return None if whole is None else int(whole.group(1))


def _choice(value: object, entry: Entry) -> tuple[Labels, list[str]]:
    if value is None:
        return Labels(), []
    point = _point(value)
    word = str(point) if point is not None else str(value).strip().casefold()
    choice = WORDS.get(word)
    if choice is None:
        return Labels(), [f"choice: {str(value)[:40]!r} is none of 1, 2 and tie"]
    return Labels(choice=flipped(choice) if entry.swapped else choice), []
