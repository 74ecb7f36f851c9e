"""The form of a text that tells which candidate it is."""

from __future__ import annotations

import re
import unicodedata

import regex

from judge_service.injection.code_spans import fenced_spans
from judge_service.injection.homoglyphs import INVISIBLE

_LINE_ENDS = re.compile(r"\r\n?|[\x0B\x0C\x1C-\x1E\x85\u2028\u2029]")
# A line that is more than prose: indented, a list item, a heading, a quotation, a table row, or
# with the signs of code in it. In such a text line breaks and indentation carry meaning.
_STRUCTURED = re.compile(
    r"^(?:[ \t]+\S|(?:[-*+•]|\d{1,3}[.)])[ \t]|#{1,6}[ \t]|[>|])|[{}=|\\`]|[;:)][ \t]*$",
    re.MULTILINE,
)
_SPACES = re.compile(r"(?<=\S)[^\S\n]+")
# Canonical ordering of a long run of marks is quadratic; no language has such runs.
_MARK_RUN = regex.compile(r"\p{M}{32}")


def identity_key(text: str) -> str:
    """Return a key that is equal for two texts exactly when they are the same candidate.

    Unicode spelling (NFC), invisible characters, line ends, blank lines, runs of spaces and spaces
    at either end make no difference. In prose, neither does where lines are broken; in a text with
    structure (indented lines, lists, tables, code) the line breaks and the indentation of each
    line, relative to the least indented one, count.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()  # the only blank that may stand in such a text is a space
    if not text.isprintable():
        text = _LINE_ENDS.sub("\n", text)
    if not text.isascii():
        text = INVISIBLE.sub("", text)
        if not _MARK_RUN.search(text):
            text = unicodedata.normalize("NFC", text)
    if "\n" not in text:
        return " ".join(text.split())
    lines = [kept for line in text.split("\n") if (kept := line.rstrip())]
    if len(lines) < 2:
        return " ".join(text.split())
    body = _dedented(lines)
    if not (_STRUCTURED.search(body) or fenced_spans(body)):
        return " ".join(text.split())
    return _SPACES.sub(" ", body)


def _dedented(lines: list[str]) -> str:
    """Join lines without the indentation they share.

    The first line loses all of it: nothing stands above it that it could belong to.
    """
    low, high = min(lines), max(lines)  # what these two share, all share
    shared = 0
    while low[shared].isspace() and high[shared] == low[shared]:
        shared += 1
    return "\n".join([line[shared:] for line in lines] if shared else lines).lstrip()
