r"""Reads a JSON object that stands somewhere in a reply.

The reader is lenient where the meaning is certain: a trailing comma, raw newlines and tabs in
strings, invisible characters in keys, backslashes that begin no escape (LaTeX). Duplicate keys are
kept, for the caller to refuse. Nothing is repaired or completed. Time is linear in the length of
what is read, only a few levels deep.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from judge_service.text.confusables import is_invisible

MAX_DEPTH = 4
"""Levels of nesting that are read; a verdict needs two."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written, or one of NaN and Infinity; never converted unasked."""

    token: str


@dataclass(frozen=True, slots=True)
class Object:
    """An object's members in order, duplicates included, and where in the text each value stands
    (first character and the one after the last).
    """

    members: tuple[tuple[str, Value], ...]
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False)

    @property
    def has_duplicates(self) -> bool:
        """Whether a key comes twice."""
        return len({key for key, _ in self.members}) < len(self.members)

    def get(self, key: str) -> Value | None:
        """The value of a key; None when it is absent."""
        for name, value in self.members:
            if name == key:
                return value
        return None

    def spans_by_name(self) -> dict[str, tuple[int, int]]:
        """Where each value stands."""
        names = [name for name, _ in self.members]
        return dict(zip(names, self.spans, strict=True))


@dataclass(frozen=True, slots=True)
class Null:
    """The literal null."""


Value: TypeAlias = str | Number | bool | Null | list["Value"] | Object


_STRING = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_KEY = re.compile(_STRING.pattern + r"\s*+:\s*+", re.DOTALL)
_PLAIN_MEMBER = re.compile(r'"([^"\\]*+)"\s*+:\s*+"([^"\\]*+)"\s*+(,\s*+)?+')
_COMMA = re.compile(r"\s*+(,\s*+)?+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.+\-])")
_WORD = re.compile(r"-?[A-Za-z]++(?!\w)")
_SPACE = re.compile(r"\s*+")

_LITERALS: dict[str, Value] = {
    "true": True,
    "false": False,
    "null": Null(),
    "none": Null(),
    "nan": Number("NaN"),
    "infinity": Number("Infinity"),
    "-infinity": Number("-Infinity"),
    "inf": Number("Infinity"),
    "-inf": Number("-Infinity"),
}


def read_object(text: str, start: int, depth: int = 1) -> tuple[Object, int] | None:
    """The object that begins at ``text[start]`` and the index after it; None if it is none."""
    members: list[tuple[str, Value]] = []
    spans: list[tuple[int, int]] = []
    position = _skip(text, start + 1)
    while not text.startswith("}", position):
        plain = _PLAIN_MEMBER.match(text, position)
        if plain is not None and plain[1].isascii() and plain[1].isprintable():
            # Most members are like that: one step in place of many, to the same end.
            members.append((plain[1], plain[2]))
            spans.append((plain.start(2) - 1, plain.end(2) + 1))
            position = plain.end()
            if plain[3] or text.startswith("}", position):
                continue
            return None
        key = _KEY.match(text, position)
        if key is None:
            return None
        begin = key.end()
        found = _read_value(text, begin, depth)
        if found is None:
            return None
        value, position = found
        spans.append((begin, position))
        members.append((_seen(key[1]), value))
        after = _after_value(text, position, "}")
        if after is None:
            return None
        position = after
    return Object(tuple(members), tuple(spans)), position + 1


def _read_list(text: str, start: int, depth: int) -> tuple[list[Value], int] | None:
    values: list[Value] = []
    position = _skip(text, start + 1)
    while not text.startswith("]", position):
        found = _read_value(text, position, depth)
        if found is None:
            return None
        values.append(found[0])
        after = _after_value(text, found[1], "]")
        if after is None:
            return None
        position = after
    return values, position + 1


def _read_value(text: str, position: int, depth: int) -> tuple[Value, int] | None:
    char = text[position : position + 1]
    if char == '"':
        string = _STRING.match(text, position)
        return None if string is None else (unescape(string[1]), string.end())
    if char in ("{", "["):
        if depth >= MAX_DEPTH:
            return None
        reader = read_object if char == "{" else _read_list
        return reader(text, position, depth + 1)
    if number := _NUMBER.match(text, position):
        return Number(number[0]), number.end()
    word = _WORD.match(text, position)
    if word is None or word[0].lower() not in _LITERALS:
        return None
    return _LITERALS[word[0].lower()], word.end()


def _after_value(text: str, position: int, closer: str) -> int | None:
    """Where the next member or the closer begins; a comma before the closer is allowed."""
    comma = _COMMA.match(text, position)
    assert comma is not None  # noqa: S101 - it matches nothing as well
    after = comma.end()
    return after if comma[1] or text.startswith(closer, after) else None


def _seen(key: str) -> str:
    key = unescape(key)
    if key.isascii() and key.isprintable():
        return key
    return "".join(char for char in key if not is_invisible(char))


def _skip(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


_BACKSLASH = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))",
    re.DOTALL,
)
_PLAIN = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "t": "\t", "r": "\r"}
_LATEX = re.compile(
    r"(?:nabla|neq|not|notin|nu|nleq|ngeq|nmid|newline|tan|tanh|tau|text\w*|tfrac|theta|tilde|times"
    r"|to|top|triangle\w*|rangle|rbrace|rceil|rfloor|rho|right\w*|rightarrow|rm|root)(?![A-Za-z])"
)


def unescape(string: str) -> str:
    r"""The text of a JSON string.

    A backslash that begins no JSON escape stays. So does one that begins a LaTeX command: ``\f``
    and ``\b`` always (nobody means a form feed), ``\n``, ``\t``, ``\r`` before the rest of a known
    name (``\nabla``, ``\times``, ``\rho``). A lone surrogate becomes U+FFFD.
    """
    if "\\" not in string:
        return string
    return _BACKSLASH.sub(_unescaped, string)


def _unescaped(match: re.Match[str]) -> str:
    high, low, unit, char = match.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if unit:
        code = int(unit, 16)
        return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)
    if char in "ntr" and _LATEX.match(match.string, match.end() - 1):
        return match[0]
    return str(_PLAIN.get(char, match[0]))
