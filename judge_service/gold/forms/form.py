"""What a form is: something that makes gold items of rows, and says what it could not use."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from pydantic import ValidationError

from judge_service.errors import ConfigError
from judge_service.gold.forms.rows import Row
from judge_service.gold.item import GoldItem
from judge_service.gold.line import GoldLine, line_of
from judge_service.judges.family import families_of
from judge_service.outcome import Choice
from judge_service.rubric.library import explain
from judge_service.rules.words import is_blank
from judge_service.text.parts import said
from judge_service.types import Candidate, Message

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


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
    renamed: int = 0
    _taken: dict[str, int] = field(default_factory=dict)

    def add(self, item: GoldItem, place: str) -> None:
        """Take an item made of the row at ``place``, if a gold file can hold it; an id that is
        taken gets a number.
        """
        wrong = _unfit(item)
        if wrong is not None:
            self.skipped.append((place, wrong))
            return
        count = self._taken.get(item.id, 0) + 1
        name = item.id if count == 1 else f"{item.id}-{count}"
        while count > 1 and name in self._taken:
            count += 1
            name = f"{item.id}-{count}"
        self._taken[item.id] = count
        self._taken.setdefault(name, 1)
        self.renamed += name != item.id
        self.items.append(item if name == item.id else replace(item, id=name))


def _unfit(item: GoldItem) -> str | None:
    """Why an item is no use: there is nothing to judge, or no gold file can hold it (an id with a
    line break, a text that is too long).
    """
    prompt = [item.prompt] if isinstance(item.prompt, str) else [m.text for m in item.prompt]
    if all(map(is_blank, prompt)):
        return "the prompt is blank"
    if any(_says_nothing(shown) for shown in item.candidates):
        return "a candidate is blank" if len(item.candidates) > 1 else "the candidate is blank"
    try:
        GoldLine.model_validate(line_of(item))
    except ValidationError as error:
        return explain(error)[0][:200]
    return None


def _says_nothing(shown: Candidate) -> bool:
    if shown.messages is None:
        return is_blank(shown.text or "")
    last = shown.messages[-1]
    return is_blank(last.text) and not last.tool_calls


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
            except ConfigError as error:
                raise ConfigError(f"{place}: {error}") from None
            for item in [items] if isinstance(items, GoldItem) else items:
                found.add(item, place)
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


def number_of(value: object) -> float | None:
    """The number that a value is, or that a text says in the usual figures; None where it is none.

    Python would also read ``1_000``, ``inf`` and the figures of other scripts.
    """
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def candidate(text: str | Sequence[Message], model: object = None) -> Candidate:
    """A candidate, a text or the turns that are judged; its family is what is known of the model's
    name.
    """
    name = model if isinstance(model, str) and model else None
    known = name if name is not None and families_of(name) else None
    if isinstance(text, str):
        return Candidate(text=text, policy_model=known)
    if len(text) == 1 and text[0].role == "assistant":
        return Candidate(text=text[0].text, policy_model=known)
    return Candidate(messages=tuple(text), policy_model=known)


def messages_of(value: object, name: str) -> tuple[Message, ...]:
    """A conversation: a list of objects with ``role`` and ``content``, a text or a list of parts.

    Raises Unusable.
    """
    if not isinstance(value, list) or not value:
        raise Unusable(f"{name} holds no messages")
    found = []
    for entry in value:
        turn = entry if isinstance(entry, dict) else {}
        role, text = turn.get("role"), turn.get("content")
        if isinstance(text, list) and all(isinstance(part, dict) for part in text):
            told = (said(part) for part in text)
            text = "\n".join(one for one in told if one is not None)
        if not isinstance(role, str) or not isinstance(text, str):
            raise Unusable(f"{name} holds something that is no message of text")
        found.append(Message(role=role, text=text))
    return tuple(found)


def digest_name(said: str) -> str:
    """A name of 12 hex digits for what has none, made of what it says."""
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def shuffled(key: str, better: Candidate, worse: Candidate) -> tuple[
    tuple[Candidate, Candidate], Choice
]:  # fmt: skip
    """The better one in a place that only ``key`` decides, so that no place always wins."""
    if hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[0] % 2:
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
