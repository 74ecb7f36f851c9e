"""Any CSV or JSONL: columns are named by the user, the usual names are found without."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judge_service.errors import ConfigError
from judge_service.gold.forms.form import Options, Unusable, candidate, digest_name, number_of
from judge_service.gold.forms.rows import Row
from judge_service.gold.item import GoldItem
from judge_service.outcome import Choice

USUAL: dict[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "idx"),
    "prompt": ("prompt", "question", "instruction", "input"),
    "candidate": ("candidate", "answer", "response", "output", "completion"),
    "first": ("first", "candidate_1", "answer_a", "response_a", "response_A", "output_1"),
    "second": ("second", "candidate_2", "answer_b", "response_b", "response_B", "output_2"),
    "reference": ("reference", "reference_answer", "expected"),
    "family": ("family",),
    "model": ("model", "policy_model"),
    "first_model": ("first_model", "model_a"),
    "second_model": ("second_model", "model_b"),
}
WORDS: dict[str, Choice] = {
    **dict.fromkeys(
        ("first", "a", "1", "model_a", "model a", "answer_a", "response_a", "output_1", "a>b",
         "a>>b", "[[a]]"), "first",
    ),
    **dict.fromkeys(
        ("second", "b", "2", "model_b", "model b", "answer_b", "response_b", "output_2", "b>a",
         "b>>a", "[[b]]"), "second",
    ),
    **dict.fromkeys(
        ("tie", "ties", "tied", "draw", "equal", "same", "both", "neither", "c", "[[c]]", "=",
         "a=b", "b=a", "tie (bothbad)"), "tie",
    ),
}  # fmt: skip
"""What a cell of a choice is taken to mean, in any case, spaces around ``>`` and ``=`` left out."""
_MARK = re.compile(r"\s*(>+|=)\s*")
LABEL = "label."
MANY = ("choice",)


def parse_columns(given: list[str]) -> dict[str, tuple[str, ...]]:
    """``prompt=question`` and ``label.accuracy=ann1,ann2`` as a mapping. Raises ConfigError."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in given:
        name, _, columns = entry.partition("=")
        name = name.strip()
        many = name.startswith(LABEL) or name in MANY
        if name not in USUAL and not many:
            known = ", ".join([*USUAL, "choice", f"{LABEL}CRITERION"])
            raise ConfigError(f"{entry!r}: {name!r} is none of {known}")
        parts = tuple(part.strip() for part in columns.split(",") if part.strip())
        if not parts or (len(parts) > 1 and not many):
            what = "one or more columns" if many else "one column"
            raise ConfigError(f"{entry!r}: {name} takes {what}, as in {name}=COLUMN")
        if name == LABEL:
            raise ConfigError(f"{entry!r}: say which criterion: {LABEL}CRITERION=COLUMN")
        found[name] = found.get(name, ()) + parts if many else parts
    return found


def parse_words(given: list[str]) -> dict[str, Choice]:
    """``better=first`` as a mapping from what cells say to choices. Raises ConfigError."""
    found: dict[str, Choice] = {}
    for entry in given:
        word, _, choice = entry.rpartition("=")
        match choice:
            case "first" | "second" | "tie" if word:
                found[word.strip().lower()] = choice
            case _:
                raise ConfigError(f"{entry!r}: as in WORD=first, WORD=second or WORD=tie")
    return found


def table(row: Row, options: Options) -> GoldItem:
    """A row whose columns ``options`` name; labels are ``label.CRITERION`` or ``choice``."""
    columns = options.columns
    choices = _choices(row, options)
    labels = _labels(row, columns, options.criterion) if not choices else {}
    if not choices and not labels:
        raise Unusable("no label: name its column with label.CRITERION=COLUMN or choice=COLUMN")
    family = _cell(row, columns, "family")
    shown = (
        (
            _candidate(row, columns, "first", "first_model"),
            _candidate(row, columns, "second", "second_model"),
        )
        if choices
        else (_candidate(row, columns, "candidate", "model"),)
    )
    item_id = _cell(row, columns, "id")
    return GoldItem(
        id=item_id or _made_id(row),
        prompt=_needed(row, columns, "prompt"),
        candidates=tuple(
            c if c.policy_model or not family else _of_family(c.text or "", family) for c in shown
        ),
        reference=_cell(row, columns, "reference"),
        labels=labels,
        choices=choices,
    )


def _of_family(text: str, family: str) -> Any:
    from judge_service.judges.family import normalize_family
    from judge_service.types import Candidate

    words = [normalize_family(word) for word in family.replace("+", ",").split(",")]
    return Candidate(text=text, families=frozenset(word for word in words if word))


def _candidate(row: Row, columns: Mapping[str, tuple[str, ...]], name: str, model: str) -> Any:
    return candidate(_needed(row, columns, name), _cell(row, columns, model))


def _cell(row: Row, columns: Mapping[str, tuple[str, ...]], name: str) -> str | None:
    """The cell that holds ``name``; None where there is none or it is empty."""
    for column in columns.get(name, USUAL[name]):
        value = row.get(column)
        if value is None or value == "":
            continue
        if isinstance(value, (dict, list)):
            raise Unusable(f"{column} is no text")
        return str(value)
    if name in columns and columns[name][0] not in row:
        raise Unusable(f"there is no column {columns[name][0]!r}")
    return None


def _needed(row: Row, columns: Mapping[str, tuple[str, ...]], name: str) -> str:
    value = _cell(row, columns, name)
    if value is not None:
        return value
    named = columns.get(name, USUAL[name])
    if any(row.get(column) == "" for column in named):
        raise Unusable(f"the {name} is blank")
    raise Unusable(f"no {name}: name its column with {name}=COLUMN")


def _labels(
    row: Row, columns: Mapping[str, tuple[str, ...]], criterion: str
) -> dict[str, tuple[float, ...]]:
    named = {n.removeprefix(LABEL): c for n, c in columns.items() if n.startswith(LABEL)}
    if not named and isinstance(row.get("labels"), dict):
        return {str(name): _points(value, name) for name, value in row["labels"].items()}
    if not named:
        column = next(
            (n for n in ("label", "score", "rating") if row.get(n) not in (None, "")), None
        )
        named = {} if column is None else {criterion: (column,)}
    found = {}
    for name, of in named.items():
        missing = [column for column in of if column not in row]
        if missing:
            raise Unusable(f"there is no column {missing[0]!r}")
        points = [row[column] for column in of if row[column] not in (None, "")]
        if points:
            found[name] = tuple(p for value in points for p in _points(value, name))
    return found


def _points(value: Any, name: object) -> tuple[float, ...]:
    values = value if isinstance(value, list) else [value]
    found = []
    for one in values:
        number = number_of(one)
        if number is None:
            raise Unusable(f"{name}: {str(one)[:40]!r} is not a number")
        found.append(number)
    return tuple(found)


def _choices(row: Row, options: Options) -> tuple[Choice, ...]:
    words = {**WORDS, **options.words}
    columns = options.columns.get("choice", ("choice", "winner", "preference"))
    if "choice" in options.columns:
        missing = [column for column in columns if column not in row]
        if missing:
            raise Unusable(f"there is no column {missing[0]!r}")
    cells = [row[column] for column in columns if row.get(column) not in (None, "")]
    found = []
    for cell in (one for value in cells for one in (value if isinstance(value, list) else [value])):
        word = _MARK.sub(r"\1", str(cell).strip().lower().removesuffix(".0"))
        if word == "0" and word not in words:
            raise ConfigError(
                "a choice of 0 is the first one in some files and a tie in others; say what 0, 1 "
                "and 2 mean: --word 0=tie"
            )
        if word not in words:
            raise Unusable(f"{str(cell)[:40]!r} is no choice; say what it means: WORD=first")
        found.append(words[word])
    return tuple(found)


def _made_id(row: Row) -> str:
    return digest_name(repr(sorted(row.items(), key=lambda e: e[0])))
