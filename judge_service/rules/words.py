"""Script-aware text helpers: what is visible, what counts as a word, how texts are compared.

All of them are linear in the length of the text, whatever the text is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import islice

import regex

# Blank to the eye although Unicode calls them letters or symbols: Braille blank, object
# replacement, Egyptian blanks, musical null notehead.
_BLANK = "\u2800\ufffc\U00013441\U00013442\U0001d159"
_INVISIBLE = regex.compile(
    rf"[[\p{{Default_Ignorable_Code_Point}}\p{{Cf}}\p{{Cc}}\p{{Cs}}\p{{Cn}}{_BLANK}]--[\s]]+",
    regex.V1,
)
# A user-perceived character. Not \X, which takes quadratic time on a run of flag letters.
_SHOWN = rf"[^\p{{Z}}\p{{C}}\p{{M}}\p{{Default_Ignorable_Code_Point}}{_BLANK}]"
_VISIBLE = regex.compile(_SHOWN)
_GRAPHEME = regex.compile(
    r"(?:\p{Regional_Indicator}{2}"
    r"|[\u1100-\u115e]{1,3}+[\u1161-\u11a7]{0,3}+[\u11a8-\u11ff]{0,3}+"
    rf"|{_SHOWN})"
    r"(?:[\p{M}\p{Emoji_Modifier}\U000e0020-\U000e007f]|\u200d\p{Extended_Pictographic})*+"
)
_ASCII_CONTROL = regex.compile(r"[\x00-\x08\x0e-\x1b\x7f]+")

# unicodedata sorts runs of combining marks in quadratic time, so runs are cut at 30 first (the
# bound of Unicode's stream-safe text format). Half-width voicing marks decompose to marks.
_MARK_RUN = regex.compile(r"([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]++")
# A mark left over after composition on such a letter is decoration ("h\u0336a\u0336ck").
_DECORATION = regex.compile(r"(?<=[\p{Latin}\p{Greek}\p{Cyrillic}])\p{Mn}+")
# Ligatures and squared words that NFKC spells out in up to 18 characters are cut to three, so a
# text made of them cannot grow.
_LONG = {
    code: unicodedata.normalize("NFKC", chr(code))[:3]
    for code in (*range(0x3300, 0x3400), *range(0xFDF0, 0xFE00))
    if len(unicodedata.normalize("NFKC", chr(code))) > 3
}

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc"
_SOUTHEAST = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
UNSPACED = rf"[[{_CJK}{_SOUTHEAST}]&&[\p{{L}}\p{{N}}\p{{M}}]]"
"""Letters of scripts that put no spaces between words, as a character class of ``regex.V1``."""
SPACED = rf"[[\p{{L}}\p{{N}}\p{{M}}]--[{_CJK}{_SOUTHEAST}]]"
"""Letters, marks and digits of scripts that do, as a character class of ``regex.V1``."""

_UNITS = (
    rf"[[{_CJK}]&&[\p{{L}}\p{{N}}]]\p{{M}}{{0,8}}+"
    rf"|[[{_SOUTHEAST}]&&[\p{{L}}\p{{N}}\p{{M}}]]{{1,6}}+"
)
# Runs are counted in pieces of 32, so leaving out the spaces does not make a text of one word.
_WORD = regex.compile(rf"{_UNITS}|{SPACED}{{1,32}}+", regex.V1)
_COUNTED = regex.compile(
    rf"{_UNITS}|{SPACED}{{1,32}}+(?:['’\-]{SPACED}{{1,32}}+|(?<=\d)[.,](?=\d)\d{{1,32}}+){{0,3}}+",
    regex.V1,
)
_PIECE = regex.compile(rf"{UNSPACED}|{SPACED}+", regex.V1)

# Cyrillic and Greek letters that look Latin; used only inside words that mix scripts.
_LOOKALIKES = str.maketrans("аеорсухіјѕһԁԛԝвкмнтгοαερυκιντχβ", "aeopcyxijshdqwbkmhtroaepukivtxb")
_MIXED = regex.compile(
    r"(?=[\p{Cyrillic}\p{Greek}]*[a-z])(?=[a-z]*[\p{Cyrillic}\p{Greek}])[a-z\p{Cyrillic}\p{Greek}]++"
)


def is_blank(text: str) -> bool:
    """Whether nothing in the text can be seen.

    White space, zero-width and control characters, fillers, lone combining marks, private-use
    and unassigned characters are nothing.
    """
    first = text[:1]
    # Most texts begin with a letter that needs no table to be known.
    return not (first.isascii() and first.isalnum()) and _VISIBLE.search(text) is None


def visible_chars(text: str, stop: int | None = None) -> int:
    """Characters a reader sees: grapheme clusters that are not blank; counts up to ``stop``."""
    if stop is None and text.isascii():
        return sum(map(len, _ASCII_CONTROL.sub("", text).split()))
    return sum(1 for _ in islice(_GRAPHEME.finditer(text), stop))


def strip_invisible(text: str) -> str:
    """The text without characters that show nothing; white space stays."""
    if text.isascii():
        return _ASCII_CONTROL.sub("", text)
    return _INVISIBLE.sub("", text)


def compose(text: str) -> str:
    """NFKC of the text without invisible characters, in linear time for any text."""
    text = strip_invisible(text)
    if text.isascii():
        return text
    text = _MARK_RUN.sub(r"\1", text.translate(_LONG))
    return unicodedata.normalize("NFKC", text)


def fold(text: str) -> str:
    """The text as compared: no invisible characters, NFKC, case folded, straight apostrophes."""
    text = compose(text)
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text.casefold())
    return text.replace("’", "'").replace("ʼ", "'").replace("‘", "'")


def fold_hard(text: str) -> str:
    """``fold``, and also undo decoration marks and look-alike letters inside mixed-script words."""
    text = fold(text)
    if text.isascii():
        return text
    text = _DECORATION.sub("", text)
    return _MIXED.sub(lambda found: found[0].translate(_LOOKALIKES), text)


def words(folded: str) -> list[str]:
    """The words of a folded text, without punctuation.

    Scripts with spaces: runs of letters, marks and digits (hyphens and apostrophes part them).
    Han and kana: every character. Thai, Lao, Khmer, Burmese: every started six code points,
    which is about one word.
    """
    return _WORD.findall(folded)


def pieces(folded: str) -> list[str]:
    """Like ``words``, with one entry per character in every script without spaces."""
    return _PIECE.findall(folded)


def count_words(text: str, stop: int | None = None) -> int:
    """Number of words, as in ``words`` but "don't", "well-known" and "3.14" are one each."""
    found: Iterator[object] = _COUNTED.finditer(compose(text))
    return sum(1 for _ in islice(found, stop))
