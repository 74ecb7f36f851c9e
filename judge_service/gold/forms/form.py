"""What a form is: something that makes gold items of rows, and says what it could not use."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from judge_service.gold.forms.rows import Row
from judge_service.gold.item import GoldItem
from judge_service.judges.family import families_of
from judge_service.outcome import Choice
from judge_service.types import Candidate


class Unusable(Exception):
    """A row that no item can be made of; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a user may say about a file. ``criterion`` is the name that points are filed under,
    ``columns`` which columns hold what, ``words`` what a cell's words mean as choices.
    """

    criterion: str = "quality"
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    words: Mapping[str, Choice] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Converted:
    """What came of a file. ``skipped`` are places with reasons, ``notes`` what to know of it."""

    items: list[GoldItem] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _taken: dict[str, int] = field(default_factory=dict)

    def add(self, item: GoldItem) -> None:
        """Take an item; an id that is taken gets a number."""
        count = self._taken[item.id] = self._taken.get(item.id, 0) + 1
        name = item.id if count == 1 else f"{item.id}-{count}"
        if count > 1 and name in self._taken:
            raise ValueError(f"the id {name!r} is there already")
        self._taken.setdefault(name, 1)
        self.items.append(item if count == 1 else replace(item, id=name))


Convert = Callable[[Iterable[tuple[str, Row]], Options], Converted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A public form of labelled data. ``about`` says in one line what is read."""

    name: str
    about: str
    convert: Convert


def by_row(made: Callable[[Row, Options], GoldItem | list[GoldItem]], *notes: str) -> Convert:
    """A conversion that looks at one row at a time; ``made`` raises Unusable."""

    def convert(rows: Iterable[tuple[str, Row]], options: Options) -> Converted:
        found = Converted(notes=list(notes))
        for place, row in rows:
            try:
                items = made(row, options)
            except Unusable as why:
                found.skipped.append((place, str(why)))
                continue
            for item in [items] if isinstance(items, GoldItem) else items:
                found.add(item)
        return found

    return convert


def text_of(row: Row, *names: str) -> str:
    """The first of the fields that is there, as a text. Raises Unusable."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
    raise Unusable(f"no field {' or '.join(names)}")


def candidate(text: str, model: object = None) -> Candidate:
    """A candidate; its family is what is known of the model's name."""
    name = model if isinstance(model, str) and model else None
    known = name is not None and bool(families_of(name))
    return Candidate(text=text, policy_model=name if known else None)


def shuffled(key: str, better: Candidate, worse: Candidate) -> tuple[
    tuple[Candidate, Candidate], Choice
]:  # fmt: skip
    """The better one in a place that only ``key`` decides, so that no place always wins."""
    if hashlib.sha256(key.encode()).digest()[0] % 2:
        return (worse, better), "second"
    return (better, worse), "first"


def flipped(choice: Choice) -> Choice:
    """The same choice when the candidates change places."""
    if choice == "tie":
        return "tie"
    return "second" if choice == "first" else "first"


def sections(text: str, marks: Sequence[str]) -> list[str]:
    """What stands between each two of the marks, which follow one another. Raises Unusable."""
    found = []
    at = text.find(marks[0])
    for mark, following in pairwise(marks):
        start = at + len(mark)
        at = text.find(following, start) if at >= 0 else -1
        if at < 0:
            raise Unusable(f"no section {mark.strip()!r} to {following.strip()!r}")
        found.append(text[start:at].strip())
    return found
