"""Reads a judge's reply: exactly one verdict bound by the right tokens, or no verdict at all.

Nothing is guessed. A value that is not offered is never clamped, rounded or replaced; a reply
without a bound value has none, however clearly a number stands in its prose.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Literal, TypeAlias

from judge_service.reply.objects import Null, Number, Object, Value
from judge_service.reply.redaction import redact
from judge_service.reply.scan import scan
from judge_service.text.confusables import is_invisible

__all__ = [
    "MAX_REPLY_BYTES",
    "ChoiceForm",
    "Reading",
    "ReplyForm",
    "ScoreForm",
    "ScoresForm",
    "Tokens",
    "Unreadable",
    "read_reply",
    "redact",
]

MAX_REPLY_BYTES = 64 * 1024
"""What is read of a reply, in bytes of UTF-8; the rest is as if it were not there."""

UnreadableCode: TypeAlias = Literal["empty_reply", "unparsable", "off_scale"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Tokens:
    """The two secrets that bind a verdict to one request. Never shown, not even in a repr."""

    v: str
    end: str

    @classmethod
    def fresh(cls) -> Tokens:
        """New ones, 64 random bits each."""
        both = os.urandom(16).hex()
        return cls(v=both[:16], end=both[16:])


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreForm:
    """One point of a scale, ``"score": 4``; ``allowed`` are the points, worst to best."""

    allowed: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceForm:
    """One of several labels, ``"choice": "tie"``."""

    allowed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresForm:
    """A point for each of several names, ``"scores": {"accuracy": 4, …}``: names with points."""

    allowed: tuple[tuple[str, tuple[int, ...]], ...]


ReplyForm: TypeAlias = ScoreForm | ChoiceForm | ScoresForm
_Verdict: TypeAlias = int | str | Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A verdict as it was given. ``reason`` is not redacted yet, and "" when there was none.

    ``spans`` say where in the reply each value stands, ``probabilities`` what the provider tells of
    the chances of all that was offered (in that order), both by name: ``score``, ``choice``, or the
    names of a ScoresForm; empty where that is not known. Each property serves one form and raises
    TypeError under another.
    """

    value: _Verdict
    reason: str
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False)
    probabilities: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def score(self) -> int:
        """The point of a ScoreForm."""
        if not isinstance(self.value, int):
            raise TypeError("this reading holds no single point")
        return self.value

    @property
    def choice(self) -> str:
        """The label of a ChoiceForm."""
        if not isinstance(self.value, str):
            raise TypeError("this reading holds no choice")
        return self.value

    @property
    def scores(self) -> Mapping[str, int]:
        """Name to point of a ScoresForm."""
        if isinstance(self.value, int | str):
            raise TypeError("this reading holds no points by name")
        return self.value


class Unreadable(Exception):
    """There is no verdict in a reply. ``str()`` of it is short and safe to show to anybody."""

    def __init__(self, code: UnreadableCode, message: str) -> None:
        super().__init__(message)
        self.code: UnreadableCode = code
        self.message = message


def read_reply(text: str, *, tokens: Tokens, form: ReplyForm) -> Reading:
    """The verdict in ``text``.

    Counted are only JSON objects whose first key is ``v`` and whose last key is ``end``, with the
    right tokens, outside of closed thinking; between the two the order does not matter. They must
    all give the same value. What surrounds them does not matter. If nothing can be read, invisible
    characters are removed and the reply is read once more. Linear in the length of the reply.

    Raises:
        Unreadable: ``empty_reply`` when there is nothing but thinking and whitespace;
            ``off_scale`` for a number, a boolean or a label that is not offered; ``unparsable``
            for everything else.
    """
    text = _first_bytes(text)
    try:
        return _read(text, tokens, form)
    except Unreadable:
        shown = "".join(char for char in text if not is_invisible(char))
        if shown == text:
            raise
    # Where something stands in there is not where it stands in the reply.
    return replace(_read(shown, tokens, form), spans={})


def _first_bytes(text: str) -> str:
    data = text[:MAX_REPLY_BYTES].encode("utf-8", "surrogatepass")
    if len(text) <= MAX_REPLY_BYTES and len(data) <= MAX_REPLY_BYTES:
        return text
    return data[:MAX_REPLY_BYTES].decode("utf-8", "ignore")


def _read(text: str, tokens: Tokens, form: ReplyForm) -> Reading:
    found = scan(text, v=tokens.v, end=tokens.end)
    if not found.bound:
        if found.blank:
            raise Unreadable("empty_reply", "the reply is empty, thinking aside")
        if found.unclosed:
            raise Unreadable("unparsable", "thinking is opened before the verdict and never closed")
        raise Unreadable(
            "unparsable",
            'no JSON object begins with the given "v" and ends with the given "end"',
        )
    verdicts = [_verdict(one, form) for one in found.bound]
    verdict = verdicts[-1]
    if found.crossed or any(_key(other) != _key(verdict) for other in verdicts):
        raise Unreadable(
            "unparsable", "the reply holds several verdicts that contradict each other"
        )
    if isinstance(verdict, Unreadable):
        raise verdict
    reason = found.bound[-1].get("reason")
    return Reading(
        value=verdict,
        reason=_clean(reason) if isinstance(reason, str) else "",
        spans=_spans(found.bound[-1], form),
    )


def _spans(found: Object, form: ReplyForm) -> dict[str, tuple[int, int]]:
    key = _KEYS[type(form)]
    value = found.get(key)
    return value.spans_by_name() if isinstance(value, Object) else {key: found.spans_by_name()[key]}


def _key(verdict: _Verdict | Unreadable) -> object:
    return (verdict.code, verdict.message) if isinstance(verdict, Unreadable) else verdict


def _clean(reason: str) -> str:
    """With newlines only, and without lone surrogates: text that every encoder takes."""
    lines = reason.replace("\r\n", "\n").replace("\r", "\n").strip()
    if lines.isascii():
        return lines
    return lines.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _verdict(found: Object, form: ReplyForm) -> _Verdict | Unreadable:
    key = _KEYS[type(form)]
    if found.has_duplicates:
        return Unreadable("unparsable", "a key comes twice in the verdict")
    value = found.get(key)
    if value is None:
        return Unreadable("unparsable", f'the verdict has no "{key}"')
    if isinstance(form, ScoreForm):
        return _point(key, value, form.allowed)
    if isinstance(form, ChoiceForm):
        return _label(key, value, form.allowed)
    return _points(key, value, dict(form.allowed))


def _label(key: str, value: Value, allowed: tuple[str, ...]) -> str | Unreadable:
    if isinstance(value, Null | list | Object):
        return Unreadable("unparsable", f'"{key}" is not a label')
    label = value.strip(_JSON_SPACE) if isinstance(value, str) else None
    return label if label in allowed else _not_offered(key, allowed)


def _points(
    key: str, value: Value, allowed: dict[str, tuple[int, ...]]
) -> Mapping[str, int] | Unreadable:
    members = value.members if isinstance(value, Object) else ()
    given = dict(members)
    missing = [name for name in allowed if name not in given]
    if missing:
        return Unreadable("unparsable", f'"{key}" lacks a value for {_listed(missing)}')
    if len(given) < len(members):
        return Unreadable("unparsable", f'a name comes twice in "{key}"')
    if len(given) > len(allowed):
        return Unreadable("unparsable", f'"{key}" has names that were not asked for')
    points: dict[str, int] = {}
    problems: list[Unreadable] = []
    for name, offered in allowed.items():
        point = _point(f"{key}.{_clip(name)}", given[name], offered)
        if isinstance(point, Unreadable):
            problems.append(point)
        else:
            points[name] = point
    # What is no number at all comes before what is off the scale.
    problems.sort(key=lambda problem: problem.code == "off_scale")
    return problems[0] if problems else MappingProxyType(points)


def _point(key: str, value: Value, allowed: tuple[int, ...]) -> int | Unreadable:
    """A value is a point when it is equal to one: 4, "4", 4.0. Nothing is rounded."""
    if isinstance(value, bool):
        return _not_offered(key, allowed)
    if isinstance(value, Number) and len(value.token) < _SHORT and value.token.isdecimal():
        point = int(value.token)
        return point if point in allowed else _not_offered(key, allowed)
    token = value.token if isinstance(value, Number) else value
    if not isinstance(token, str) or not _IS_NUMBER.fullmatch(token.strip(_JSON_SPACE)):
        return Unreadable("unparsable", f'"{key}" is not a number')
    try:
        number = Decimal(token.strip(_JSON_SPACE))
    except InvalidOperation:
        return _not_offered(key, allowed)
    equal = next((point for point in allowed if number == point), None)
    return _not_offered(key, allowed) if equal is None else equal


_KEYS = {ScoreForm: "score", ChoiceForm: "choice", ScoresForm: "scores"}
_JSON_SPACE = " \t\r\n"
_SHORT = 10
_IS_NUMBER = re.compile(
    r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|NaN|-?Infinity", re.ASCII
)


def _not_offered(key: str, allowed: Iterable[object]) -> Unreadable:
    return Unreadable("off_scale", f'"{key}" is not one of {_listed(allowed)}')


def _listed(items: Iterable[object]) -> str:
    """The items for a message, as many as fit."""
    names = [_clip(str(item)) for item in items]
    shown = names[:10] if sum(map(len, names[:10])) <= 100 else names[:2]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _clip(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
