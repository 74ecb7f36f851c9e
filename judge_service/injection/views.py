"""The readings of a text in which an instruction may hide: as seen, as drawn, as decoded."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge_service.injection.cheap_looks import (
    letters_apart,
    long_words,
    many_digits,
    many_hex_digits,
)
from judge_service.injection.homoglyphs import latin, visible

_TAG_RUN = re.compile("[\U000e0000-\U000e007f]{4,}")
_FLAG_EMOJI = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_SELECTOR_RUN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}(?:\r?\n[A-Za-z0-9+/_-]{8,}){0,20000}={0,2}")
_BASE64_LINE = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_BASE64_LEAST = 8
_BASE64_GOES_ON = re.compile(r"\n(?=[A-Za-z0-9+/_-]{8})(?<=[A-Za-z0-9+/_-]\n|\r\n)")
_SIGNS = ".,;:!?()[]{}\"'*`"
_BASE32 = re.compile(r"[A-Z2-7]{16,}={0,6}")
_BASE32_LEAST = 16
_HEX = re.compile(r"[0-9A-Fa-f]{2}[ ,:;\n]?(?:(?:0x|\\x|%)?[0-9A-Fa-f]{2}[ ,:;\n]?){5,}")
_HEX_LEAST, _DECIMAL_LEAST = 12, 14
_HEX_JUNK = re.compile(r"0x|\\x|[^0-9A-Fa-f]")
_CODE_POINTS = re.compile(r"(?:&#x?[0-9a-fA-F]{1,6};?){4,}")
_DECIMAL = re.compile(r"[0-9]{2,3}[ ,]{1,2}(?:[0-9]{2,3}[ ,]{1,2}){5,}[0-9]{2,3}\b")
_BINARY = re.compile(r"[01]{8}[ ,\n]?(?:[01]{8}[ ,\n]?){5,}")
_ESCAPE = re.compile(r"\\u(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,6})\})|\\x([0-9a-fA-F]{2})")
_ESCAPED = re.compile(r"(?:&(?:#|[a-zA-Z]{2,8};)|%[0-7][0-9a-fA-F]|\\[ux][0-9a-fA-F{])[^\0]{0,200}")
_FOREIGN = re.compile(r"[^\x00-\x7f][^\0]{0,200}")
_NEAR = 240
_LONG_REFERENCE = re.compile(r"&#[0-9]{8,}")
_SPACED = re.compile(r"\b\w(?:[ .\-_*|/]{1,3}\w\b){7,}")
_JOINED = str.maketrans("", "", " .-_*|/")
_REVERSED = re.compile("[\u202e\u202d\u2067]")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One reading. ``decoded`` text was hidden on purpose, so less is needed to flag it."""

    name: str
    text: str
    decoded: bool = False


def views(text: str) -> Iterator[View]:
    """Yield the readings of ``text``, each in lower case and without invisible characters."""
    seen = visible(text)
    yield View(name="the text", text=seen.casefold())
    if not seen.isascii():
        foreign = _around(seen, _FOREIGN)
        drawn = latin(foreign)
        if drawn != foreign:
            yield View(name="look-alike letters", text=drawn.casefold())
    # Only the neighbourhood of escapes is read again.
    escaped = ""
    if "&" in seen or "%" in seen or "\\" in seen:
        escaped = _around(seen, _ESCAPED)
    if escaped:
        yield View(name="escaped characters", text=latin(visible(_unescaped(escaped))).casefold())
    for name, pieces in _hidden(text, seen):
        if pieces:
            inner = "\n\n".join(pieces)
            yield View(name=name, text=latin(visible(inner)).casefold(), decoded=True)
            again = "\n\n".join(_from_base64(inner, inner.split()) + _from_hex(inner))
            if again:
                yield View(name=name, text=latin(visible(again)).casefold(), decoded=True)


def _around(text: str, pattern: re.Pattern[str]) -> str:
    """Return the stretches of ``text`` near matches of ``pattern``, joined by blank lines."""
    parts: list[str] = []
    start = end = 0
    for match in pattern.finditer(text):
        if match.start() - _NEAR > end:
            if end:
                parts.append(text[start:end])
            start = max(0, match.start() - _NEAR)
        end = match.end() + _NEAR
    if end:
        parts.append(text[start:end])
    return "\n\n".join(parts)


def tag_payload(text: str) -> bool:
    """Whether invisible characters in ``text`` spell something (flag emoji aside)."""
    if text.isascii():
        return False
    return bool(_TAG_RUN.search(_FLAG_EMOJI.sub("", text)) or _SELECTOR_RUN.search(text))


def rot13(text: str) -> str:
    """Return ``text`` with its Latin letters turned by 13."""
    return codecs.decode(text, "rot13")


def _hidden(text: str, seen: str) -> Iterator[tuple[str, list[str]]]:
    if not text.isascii():
        yield "invisible characters", _from_invisible(text)
        if _REVERSED.search(text):
            yield "reversed text", [line[::-1] for line in latin(seen).split("\n")]
    long = long_words(seen, _BASE64_LEAST)
    yield "base64", _from_base64(seen, long)
    yield "base32", _from_base32(long)
    yield "hexadecimal", _from_hex(seen)
    yield "character codes", _from_codes(seen)
    if letters_apart(seen):
        yield "spaced letters", [m[0].translate(_JOINED) for m in _SPACED.finditer(seen)]


def _unescaped(text: str) -> str:
    if "&" in text:
        text = html.unescape(_LONG_REFERENCE.sub(" ", text))
    if "%" in text:
        text = urllib.parse.unquote(text)
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code <= 0x10FFFF else " "


def _from_invisible(text: str) -> list[str]:
    tags = "".join(m[0] + "\n" for m in _TAG_RUN.finditer(text))
    spelled = "".join(chr(ord(c) - 0xE0000) if c >= "\U000e0000" else c for c in tags)
    selectors = "".join(m[0] for m in _SELECTOR_RUN.finditer(text))
    low, high = 0xFE00, 0xE0100 - 16
    raw = bytes(ord(c) - (low if ord(c) < high else high) for c in selectors)
    return [piece for piece in (spelled, raw.decode("utf-8", "ignore")) if piece.strip()]


def _readable(raw: bytes) -> str | None:
    """Decode ``raw`` when it is text a person could read."""
    if len(raw) > 3 and raw[1::2].count(0) * 2 == len(raw):
        raw = raw[::2]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not text or not (text.isascii() or len(text) >= 4):
        return None
    return text if "".join(text.split()).isprintable() else None


def _decode_base64(run: str) -> str | None:
    if run.islower() or run.isupper():  # a word or a name: encoded text mixes its letters
        return None
    digits = "".join(run.rstrip("=").split()).replace("-", "+").replace("_", "/")
    if len(digits) % 4 == 1:
        digits = digits[:-1]
    try:
        return _readable(base64.b64decode(digits + "=" * (-len(digits) % 4)))
    except binascii.Error:
        return None


def _is_ordinary(word: str) -> bool:
    """Whether it is letters of one case, signs at its ends aside."""
    core = word.strip(_SIGNS)
    return core.isascii() and core.isalpha() and (core.islower() or core.isupper())


def _from_base64(text: str, words: Sequence[str]) -> list[str]:
    runs: list[str] = []
    if _BASE64_GOES_ON.search(text):
        runs += [m[0] for m in _BASE64.finditer(text) if "\n" in m[0]]
    for word in words:
        # Of an ordinary word nothing would be decoded, and most words are.
        if len(word) >= _BASE64_LEAST and not _is_ordinary(word):
            runs += [m[0] for m in _BASE64_LINE.finditer(word)]
    return [decoded for run in runs if (decoded := _decode_base64(run))]


def _from_base32(words: Sequence[str]) -> list[str]:
    found = []
    long = [word for word in words if len(word) >= _BASE32_LEAST]
    for match in (match for word in long for match in _BASE32.finditer(word)):
        digits = match[0].rstrip("=")
        digits = digits[: len(digits) - (len(digits) % 8 in (1, 3, 6))]
        try:
            found.append(_readable(base64.b32decode(digits + "=" * (-len(digits) % 8))))
        except binascii.Error:
            continue
    return [text for text in found if text]


def _from_hex(text: str) -> list[str]:
    found: list[str | None] = []
    if not many_hex_digits(text, _HEX_LEAST):
        return []
    for match in _HEX.finditer(text):
        digits = _HEX_JUNK.sub("", match[0])
        found.append(_readable(bytes.fromhex(digits[: len(digits) // 2 * 2])))
    return [text for text in found if text]


def _from_codes(text: str) -> list[str]:
    found: list[str] = []
    if "&#" in text:
        found += [html.unescape(m[0]) for m in _CODE_POINTS.finditer(text)]
    if not many_digits(text, _DECIMAL_LEAST):
        return found
    for pattern, base in ((_DECIMAL, 10), (_BINARY, 2)):
        for match in pattern.finditer(text):
            codes = [int(word, base) for word in re.findall(r"[0-9]+", match[0])]
            if all(code < 0x110000 for code in codes):
                found.append("".join(map(chr, codes)))
    return found
