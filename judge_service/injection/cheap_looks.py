"""Cheap looks that say of most texts that an expensive pattern cannot match.

Each is a necessary condition of the pattern it stands before, never a sufficient one: what passes
is still looked at by the pattern, so that nothing is found more or less than without it. A search
for a literal costs a small part of a regular expression's walk over the same text.
"""

from __future__ import annotations

_HEX, _DIGIT, _SPACED, _BLANK = (bytearray(b"." * 256) for _ in range(4))
for _byte in b"0123456789abcdefABCDEF":
    _HEX[_byte] = ord("h")
for _byte in b"0123456789":
    _DIGIT[_byte] = ord("d")
for _byte in range(256):
    if chr(_byte).isascii() and chr(_byte).isalnum():
        _SPACED[_byte] = ord("w")
for _byte in b" .-*|/":
    _SPACED[_byte] = ord("s")
for _byte in range(128):
    if chr(_byte).isspace():
        _BLANK[_byte] = ord(" ")
_HEX_TABLE, _DIGIT_TABLE, _SPACED_TABLE = bytes(_HEX), bytes(_DIGIT), bytes(_SPACED)
_BLANK_TABLE = bytes(_BLANK)
_HEX_BETWEEN = b" ,:;\n\\%xX"
_EIGHT_APART = b"s".join([b"w"] * 8)
_INNER_APART = 3
"""Of the six that stand between the first and the last every other one is counted, as what was
counted is not looked at again.
"""


def any_of(text: str, *words: str) -> bool:
    """Whether one of the words stands in the text, anywhere."""
    for word in words:  # noqa: SIM110 - a generator costs more than the searches
        if word in text:
            return True
    return False


def long_words(text: str, least: int) -> list[str]:
    """The words, as ``str.split`` finds them, of so many characters or more."""
    if text.isascii() and b"." * least not in text.encode().translate(_BLANK_TABLE):
        return []
    return [word for word in text.split() if len(word) >= least]


def many_hex_digits(text: str, least: int) -> bool:
    """Whether so many hexadecimal digits follow each other, separators and prefixes aside."""
    digits = text.encode("ascii", "replace").translate(_HEX_TABLE, _HEX_BETWEEN)
    return b"h" * least in digits


def many_digits(text: str, least: int) -> bool:
    """Whether so many digits follow each other, blanks, commas and line ends aside."""
    return b"d" * least in text.encode("ascii", "replace").translate(_DIGIT_TABLE, b" ,\n")


def letters_apart(text: str) -> bool:
    """Whether eight letters or digits may stand each by itself, with signs between them."""
    if "_" in text or not text.isascii():
        return True
    shape = text.encode().translate(_SPACED_TABLE)
    if shape.count(b"sws") < _INNER_APART:
        return False
    while b"ss" in shape:
        shape = shape.replace(b"ss", b"s")
    return _EIGHT_APART in shape
