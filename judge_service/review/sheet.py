"""The sheet that reviewers get: texts, and columns to fill in.

Blind means that nothing on it tells what was said of an item or why it is there: rows are in an
order drawn by lot under names made of it, the sides of a pair change places by lot, and ids,
families, models, metadata, labels and verdicts are not shown.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from judge_service.candidate.exhibit import prompt_text
from judge_service.review.key import Entry, Key
from judge_service.types import Candidate

ITEM, NOTE = "item", "note"
# Where a program may take a cell to begin: at its first sign, and after what parts cells elsewhere,
# a semicolon or a tab. Some programs read the wide forms of these signs, too.
_FORMULA = re.compile(r"(\A[\s;,]*|[;\t] *)([=+\-@＝＋－＠﹦﹢﹣﹫])")
_ACTING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_HARMLESS = frozenset("\n\t\u200c\u200d")
LARGEST_CELL = 32_767
"""Characters that the usual spreadsheet programs keep of a cell."""


def rows(key: Key, *, verdicts: bool = False) -> Iterator[dict[str, Any]]:
    """The rows of the sheet; ``verdicts`` adds what judges said, and it is blind no more."""
    referenced = any(entry.item.reference is not None for entry in key.entries.values())
    sides = max(len(entry.said) for entry in key.entries.values()) if verdicts else 0
    for name, entry in key.entries.items():
        row: dict[str, Any] = {ITEM: name, "prompt": visible(prompt_text(entry.item.prompt))}
        if referenced:
            row["reference"] = visible(entry.item.reference or "")
        row |= _answers(entry)
        for side in range(sides):
            said = entry.said[side] if side < len(entry.said) else None
            row[f"verdict_{side + 1}"] = "" if said is None else _verdict(said, entry)
            row[f"reason_{side + 1}"] = "" if said is None else _reason(said)
        yield {**row, **dict.fromkeys(key.columns, ""), NOTE: ""}


def csv_text(key: Key, *, verdicts: bool = False) -> str:
    """The sheet as CSV with a byte order mark, for spreadsheet programs. What such a program would
    take for a formula has an apostrophe before it.
    """
    made = list(rows(key, verdicts=verdicts))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(made[0]), lineterminator="\r\n")
    writer.writeheader()
    for row in made:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return "\ufeff" + text.getvalue()


def jsonl_text(key: Key, *, verdicts: bool = False) -> str:
    """The sheet as JSONL; blank labels are null."""
    blank = {*key.columns, NOTE}
    return "".join(
        json.dumps({n: None if n in blank else v for n, v in row.items()}, ensure_ascii=False)
        + "\n"
        for row in rows(key, verdicts=verdicts)
    )


def longest(key: Key) -> int:
    """Characters of the longest cell."""
    return max(len(str(value)) for row in rows(key) for value in row.values())


def visible(text: str) -> str:
    r"""``text`` with characters that steer a program or hide as ``\u{HEX}``."""
    return "".join(
        c
        if c in _HARMLESS or (c.isascii() and c.isprintable())
        else f"\\u{{{ord(c):X}}}"
        if unicodedata.category(c) in _ACTING
        else c
        for c in text
    )


def _answers(entry: Entry) -> dict[str, str]:
    shown = [visible(_text(candidate)) for candidate in entry.item.candidates]
    if len(shown) == 1:
        return {"answer": shown[0]}
    first, second = reversed(shown) if entry.swapped else shown
    return {"answer_1": first, "answer_2": second}


def _text(candidate: Candidate) -> str:
    if candidate.messages is not None:
        return prompt_text(candidate.messages)
    return candidate.text or ""


def _verdict(said: Mapping[str, Any], entry: Entry) -> str:
    """What a judge said, for a sheet that is not blind; of the answers as they stand there."""
    points = said.get("points")
    if points is not None:
        told = ", ".join(f"{name} {point}" for name, point in points.items())
    else:
        places = ("answer_2", "answer_1") if entry.swapped else ("answer_1", "answer_2")
        shown = dict(zip(("first", "second"), places, strict=True))
        told = shown.get(said["outcome"], said["outcome"])
    return visible(f"{said['judge']}: {told}")


def _reason(said: Mapping[str, Any]) -> str:
    return visible("\n".join(f"{where}: {why}" for where, why in said["reasons"].items()))


def _cell(value: object) -> str:
    text = _FORMULA.sub(r"\1'\2", str(value))
    return f"'{text}" if text.startswith(("\t", "\r")) else text
