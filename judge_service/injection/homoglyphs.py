"""Characters that are not seen, and letters that look like Latin ones.

Used to read a text the way a reader (or a judge) sees it. The tables cover the look-alikes that
ordinary fonts draw nearly the same; compatibility forms (full width, mathematical, circled) need
no table because NFKD resolves them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import regex

INVISIBLE = regex.compile(
    r"[\p{Cf}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u3164\uFFA0"
    r"\uFE00-\uFE0F\U000E0100-\U000E01EF\U000E0000-\U000E007F]+"
)
"""Runs of characters that draw nothing: format characters, fillers, variation selectors, tags."""

# Accents, Arabic vowel signs and the Devanagari nukta: dropped, so that a phrase is found with
# and without them. Marks that carry letters of their own (matras, virama, voicing) are kept.
_ACCENTS = regex.compile(
    r"[\u0300-\u036F\u0483-\u0489\u0610-\u061A\u064B-\u065F\u0670\u093C"
    r"\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F]+"
)
# Sorting a long run of marks into canonical order is quadratic; no language has such runs.
_MARK_RUN = regex.compile(r"(\p{M}{8})\p{M}+")
_CONTROLS = re.compile(r"[\x00-\x08\x0E-\x1F\x7F-\x84\x86-\x9F]+")
_PLAIN = bytes([*b"\t\n", *range(0x20, 0x7F)])
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_LINE_ENDS = re.compile(r"\r\n?|[\x0B\x0C\x85\u2028\u2029]")

# Single characters that NFKD blows up to whole phrases would make a text many times longer.
_EXPANDING = {
    code: " "
    for block in (range(0x3200, 0x3400), range(0xFB00, 0xFE00))
    for code in block
    if len(unicodedata.normalize("NFKD", chr(code))) > 4
}

# Letter by letter: the Latin letter, then the shapes drawn like it.
_SHAPES = """
a аАΑαɑᎪꓮᴀ|b вВЬьЪѣβΒʙƅɓᏴꓐ|c сСϲϹᴄȼᏟꓚ|d ԁԀᴅđɖᏧꓓᎠ|e еЕёЁєәΕεᴇɘəɛеᎬꓰ
f ғƒꓝ|g ɡɢʛցᎶꓖ|h һҺнНΗհʜħɦᎻꓧ|i іІїЇΙιıɩɪӏᎥꓲ|j јЈϳᴊȷյᎫꓙ|k кКκΚᴋᏦꓗ
l ԼʟłƚӀᏞꓡ|m мМΜᴍɱᎷꓟ|n пΝηռոɴŋɳꓠ|o оОөӨοΟσօՕᴏøɵᴑѳꓳ|p рРρΡᴘƿᏢꓑ|q ԛԚզգ
r гГʀɾᎡꓣ|s ѕЅՏꜱʂᏚꓢ|t тТτΤᴛŧƭᎢꓔ|u υսᴜʋꓴ|v ѵѴνᴠᏙꓦ|w ԝԜшωաᴡʍᎳꓪ
x хХχΧꓫ|y уУүҮұΥγʏɣꓬ|z ΖᴢƶȥᏃꓜ
< ‹˂ᐸ〈⟨❮❰⧼|> ›˃ᐳ〉⟩❯❱⧽|- ‐‑‒−⁃﹘|« «≪|» »≫
"""


def _table() -> dict[int, str]:
    table: dict[int, str] = {0x2223: "|", 0x01C0: "|", 0x2502: "|", 0x2503: "|"}
    for entry in _SHAPES.strip().replace("\n", "|").split("|"):
        letter, shapes = entry.split(" ")
        meant = {"«": "<<", "»": ">>"}.get(letter, letter)
        table.update({ord(shape): meant for shape in shapes})
    for start in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6):  # squared, circled, flag letters
        table.update({start + offset: chr(ord("a") + offset) for offset in range(26)})
    return table


_LATIN = _table()
_LOOK_ALIKES = frozenset(map(chr, _LATIN))


def visible(text: str) -> str:
    r"""Return ``text`` without what is not seen, in one canonical, accent-free spelling.

    Line ends become ``\n``; controls and invisible characters go; compatibility forms become
    plain characters. Case is kept.
    """
    if text.isascii() and not text.encode().translate(None, _PLAIN):
        return text
    text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))
    # No character beyond ASCII that is left joins with an ASCII one beside it.
    return text if text.isascii() else _FOREIGN.sub(lambda run: _foreign(run[0]), text)


def _foreign(run: str) -> str:
    """The same of characters beyond ASCII."""
    characters = frozenset(run)
    if any(map(_is_mark, characters)):
        run = _MARK_RUN.sub(r"\1", _ACCENTS.sub("", INVISIBLE.sub("", run)))
        run = _ACCENTS.sub("", unicodedata.normalize("NFKD", run.translate(_EXPANDING)))
    else:
        run = run.translate({ord(character): _plain(character) for character in characters})
    return unicodedata.normalize("NFC", run)


@lru_cache(maxsize=8192)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    """A character in its plainest spelling, "" for one that is not seen."""
    seen = INVISIBLE.sub("", character).translate(_EXPANDING)
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", seen))


def latin(text: str) -> str:
    """Return ``text`` with every look-alike replaced by the Latin letter it imitates."""
    characters = frozenset(text)
    if _LOOK_ALIKES.isdisjoint(characters):
        return text
    # A table without gaps: each miss of ``str.translate`` raises and catches an exception.
    return text.translate({(code := ord(one)): _LATIN.get(code, one) for one in characters})
