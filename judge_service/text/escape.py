r"""The lossless escape ``\u{HEX}`` of untrusted text: ``decode(encode(x)) == x`` for every string.

Escaped are control characters other than newline and tab, line and paragraph separators, format,
surrogate, private and unassigned characters; non-ASCII characters that turn into or look like one
of ``<>&[]{}|``; both characters of ``<<`` and ``>>`` (so every one of a longer run); the first
character of chat-template control tokens (``control_tokens``) and of HTML entities; and the
backslash of a literal ``\u{``. Everything else stays as written, so that code, markdown and every
script remain readable. What counts as unassigned is what the interpreter's Unicode version says.

An entity is what an HTML parser would replace: ``&name;`` in any case, numeric ones with or without
the semicolon, and the old names that HTML reads without one (``&lt``, ``&copy``, also as the start
of a word: ``&params`` reads as a pilcrow and "ms"). ``a && b``, ``&x`` and ``&mut`` are none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html.entities import html5

from judge_service.text import control_tokens
from judge_service.text.confusables import fold, is_invisible, looks_like_markup

_ESCAPED_CATEGORIES = frozenset(["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"])
_ENTITIES = frozenset(name[:-1].lower() for name in html5 if name.endswith(";"))
_OLD_ENTITIES = "|".join(name for name in html5 if not name.endswith(";"))

_RUN = re.compile(r"<(?:\s*+<)++|>>++")
_LITERAL_ESCAPE = re.compile(r"\\(?=u\{)")
_ENTITY = re.compile(
    rf"&(?:\#(?=[0-9]|[xX][0-9a-fA-F])|(?={_OLD_ENTITIES})|(?P<name>[A-Za-z][A-Za-z0-9]{{1,31}}+);)"
)
_ESCAPE = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}")
_FAR = re.compile("[\U00040000-\U000dffff\U000e1000-\U0010ffff]")
_REMEMBERED = 1 << 16
_LAST_LETTERS = 0x40000
"""From this plane on there are only unassigned, private and format characters, and selectors."""


def escape_character(char: str) -> str:
    r"""One character as ``\u{HEX}``, with upper-case digits and no padding."""
    return f"\\u{{{ord(char):X}}}"


class _CharacterTable(dict[int, str]):
    """Code point to what stands for it when the character alone decides; filled as needed."""

    def __missing__(self, code: int) -> str:
        if code >= _LAST_LETTERS:
            return chr(code) if 0xE0100 <= code <= 0xE01EF else f"\\u{{{code:X}}}"
        char = chr(code)
        escaped = unicodedata.category(char) in _ESCAPED_CATEGORIES and char not in "\n\t"
        value = escape_character(char) if escaped or looks_like_markup(char) else char
        if len(self) < _REMEMBERED:
            self[code] = value
        return value


class _FoldTable(dict[int, str]):
    """Code point to the ASCII character it may be taken for; nothing for an invisible one."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        value = "" if is_invisible(char) else fold(char)
        if len(self) < _REMEMBERED:
            self[code] = value
        return value


_HARMLESS = bytes({*b"\t\n", *range(0x20, 0x7F)} - {*b"<>&[]\\"})
"""ASCII that is never escaped, and without which nothing is."""
_MARKS = {char: escape_character(char) for char in "<>&[]\\"}
_CHARACTERS = _CharacterTable()
_FOLDS = _FoldTable()


def encode(text: str) -> str:
    """Escape ``text``. The result can be encoded as UTF-8 and has no line break but a newline."""
    if text.isascii() and not text.encode().translate(None, _HARMLESS):
        return text
    pieces: list[str] = []
    done = 0
    for spot in sorted(set(_spots(text))):
        pieces += (text[done:spot], _MARKS.get(text[spot]) or escape_character(text[spot]))
        done = spot + 1
    pieces.append(text[done:])
    # No character is both escaped for its neighbours and by itself under another spelling, so the
    # second pass leaves the work of the first alone.
    return "".join(pieces).translate(_CHARACTERS)


def decode(text: str) -> str:
    r"""Undo ``encode``. A ``\u{…}`` that names no code point stays as it is."""
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code <= 0x10FFFF else match[0]


def _spots(text: str) -> Iterator[int]:
    """Indices of the characters that are escaped for what stands around them; some come twice.

    They are looked for in a folded copy, so that a token cannot hide behind lookalike letters or
    behind invisible characters, which may well disappear again on the way to the judge.
    """
    if text.isascii():
        return _folded_spots(text)
    near = _FAR.sub("\ufffd", text)
    folded = near.translate(_FOLDS)
    if len(folded) == len(near):
        return _folded_spots(folded)
    kept = [i for i, char in enumerate(near) if _FOLDS[ord(char)]]
    return (kept[spot] for spot in _folded_spots(folded))


def _folded_spots(folded: str) -> Iterator[int]:
    for match in _RUN.finditer(folded):
        yield from (i for i in range(*match.span()) if folded[i] in "<>")
    for match in _LITERAL_ESCAPE.finditer(folded):
        yield match.start()
    for match in _ENTITY.finditer(folded):
        if match["name"] is None or match["name"].lower() in _ENTITIES:
            yield match.start()
    yield from control_tokens.find(folded)
