"""Which characters a reader, or a careless program, takes for an ASCII one.

Source of the table: Unicode Technical Standard #39 (``data/confusables.txt`` says what was taken).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

MARKUP = frozenset("<>&[]{}|")
"""The characters that tags, entities, control tokens, role lines and verdicts are made of."""

# Default_Ignorable_Code_Point without the format and the unassigned characters: letters and marks
# that show nothing.
_BLANK_LETTERS = frozenset(
    [
        0x034F,
        0x115F,
        0x1160,
        0x17B4,
        0x17B5,
        0x180B,
        0x180C,
        0x180D,
        0x180F,
        0x3164,
        0xFFA0,
    ]
)


@cache
def lookalikes() -> Mapping[str, str]:
    """From a non-ASCII character to the ASCII one it looks like, beyond what NFKC knows."""
    table: dict[str, str] = {}
    text = files("judge_service").joinpath("data/confusables.txt").read_text(encoding="ascii")
    for line in text.splitlines():
        target, *codes = line.split()
        if codes and target != "#":
            table.update((chr(int(code, 16)), target) for code in codes)
    return table


def is_invisible(char: str) -> bool:
    """Whether a character shows nothing by itself: format characters, variation selectors, fillers.

    Control characters and whitespace are not counted among them.
    """
    code = ord(char)
    return (
        0xFE00 <= code <= 0xFE0F
        or 0xE0000 <= code <= 0xE0FFF
        or code in _BLANK_LETTERS
        or unicodedata.category(char) == "Cf"
    )


def fold(char: str) -> str:
    """The single ASCII character that ``char`` stands for or looks like, else ``char`` itself."""
    if char.isascii():
        return char
    form = unicodedata.normalize("NFKC", char)
    if len(form) == 1 and form.isascii():
        return form
    return lookalikes().get(char, char)


def looks_like_markup(char: str) -> bool:
    """Whether a non-ASCII character turns into, or looks like, one of ``MARKUP``.

    True when its NFKC form or its skeleton (which is made from NFD) contains one.
    """
    if char.isascii():
        return False
    forms = unicodedata.normalize("NFKC", char) + unicodedata.normalize("NFKD", char) + char
    return any(fold(c) in MARKUP for c in forms)
