"""Reading a number as people write it: separators, fractions, percent, powers of ten, LaTeX."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import regex

from .words import compose

_MAX_DIGITS = 400
_MAX_EXPONENT = 400
_TAIL = 4000
_CUT = 1000

_DIGIT = regex.compile(r"[\p{N}]")
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPTS = regex.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_VULGAR = regex.compile(r"(?<=\p{Nd})(?=[¼½¾⅐-⅞])")
_THIN_SPACE = regex.compile(r"(?<=\p{Nd})[\u00a0\u2007-\u200a\u202f](?=\p{Nd}{3})")
_OTHER_DIGIT = regex.compile(r"[\p{Nd}--[0-9]]", regex.V1)
_VALUES = tuple(regex.compile(rf"\p{{Numeric_Value={value}}}") for value in range(10))
_MINUS = regex.compile(r"[−–—‐‑‒﹣－]")

_LATEX: tuple[tuple[regex.Pattern[str], str], ...] = (
    # "1\frac{1}{2}" is a mixed number.
    (regex.compile(r"(?<=\d)(?=\\[dtc]?frac)"), " "),
    (
        regex.compile(
            r"\\[dtc]?frac\s{0,9}\{\s{0,9}(-?\d+)\s{0,9}\}\s{0,9}\{\s{0,9}(\d+)\s{0,9}\}"
        ),
        r"\1/\2 ",
    ),
    (regex.compile(r"\\[dtc]?frac\s{0,9}(\d)\s{0,9}(\d)"), r"\1/\2 "),
    (regex.compile(r"(?<=\d)(?:\{,\}|\\[,!;: ])(?=\d{3})"), ","),
    (
        regex.compile(
            r"(?<=\d)\s{0,9}(?:\\times|\\cdot|[×·*x])\s{0,9}10\s{0,9}\^\s{0,9}\{?([+-]?\d+)\}?"
        ),
        r"e\1",
    ),
    (regex.compile(r"\\([%$])"), r"\1"),
    (regex.compile(r"(?<=\d)\s{0,9}\^\s{0,9}\{\s{0,9}([+-]?\d+)\s{0,9}\}"), r"^\1"),
)

_GROUPED = r"\d{1,3}(?:,\d{3})++(?!\d)(?:\.\d++)?"
_EUROPEAN = r"\d{1,3}(?:\.\d{3})++,\d++|\d{1,3}(?:\.\d{3}){2,}+(?![\d.])"
_QUOTED = r"\d{1,3}(?:'\d{3})++(?!\d)(?:\.\d++)?"
_COMMA = r"(?<![(\[{,]\s?)\d++,(?:\d{1,2}|\d{4,}+)(?![\d,]|\.\d)"
_PLAIN = r"\d++(?:\.\d++)?|\.\d++"
_NUMBER = regex.compile(
    r"(?<![\p{L}\d_.,\\])(?:(?<=[\d)\]}])|(?P<sign>[+-])?)[$€£¥]?"
    rf"(?:(?P<whole>\d{{1,9}}+)\s(?=\d++/))?"
    rf"(?P<body>{_GROUPED}|{_EUROPEAN}|{_QUOTED}|{_COMMA}|{_PLAIN})"
    r"(?:[eE](?P<exponent>[+-]?\d{1,4})(?![\d.])|\^(?P<power>[+-]?\d{1,4})(?!\d))?"
    r"(?:\s?/\s?(?P<below>\d++)(?![\d/]))?"
    r"(?P<percent>\s{0,3}(?:%|percent\b|per cent\b))?",
    regex.IGNORECASE,
)

_NEAR = 60
_MARKS = r"[\s*_~$(\[{\"'`]{0,6}+"
# Only what stands right beside the number: "x is not negative, so 5" denies nothing.
_NOT_THIS = regex.compile(
    r"(?:(?:\bnot|n['’]t|\bnever|\bcannot)"
    r"(?:\s+(?:be|is|was|equals?|equal\s+to|actually|definitely|really|simply|the\s+number))"
    r"{0,2}"
    r"|\b(?:instead\s+of|rather\s+than)|≠|\\neq?\b|!=)"
    rf"{_MARKS}\Z",
    regex.IGNORECASE,
)
_IS_WRONG = regex.compile(
    r"[*_~$}\"'`]{0,6}+(?:\s(?:is|was|would\s+be|seems|looks)\s+"
    r"(?:(?:clearly|obviously|definitely|also|therefore|thus|just|simply)\s+)?"
    r"(?:wrong|incorrect|false|not\s+(?:correct|right|(?:the|my|our)\s+(?:\w+\s+)?"
    r"(?:answer|solution|result)))\b"
    r"|\s(?:isn|wasn)['’]t\s+(?:correct|right|(?:the|my|our)\s+(?:\w+\s+)?"
    r"(?:answer|solution|result))\b)",
    regex.IGNORECASE,
)


class Number(NamedTuple):
    """A number that was read. ``exact`` marks one written as a plain integer."""

    value: Fraction
    percent: bool
    exact: bool


def numbers_in(text: str) -> Iterator[Number]:
    r"""Every readable number of a text, in order, without huge ones and divisions by zero.

    "1,234" and "1'234" are 1234, "3,14" is 3.14, "1 1/2" and ``\frac{3}{2}`` are 3/2, "50%" is 50
    with the mark, "2 × 10³" and "2e3" are 2000, digits of any script are digits. Digits inside a
    word ("H2O", "x_1") are no number. One that is denied ("not 5", "5 is wrong") is left out.
    """
    for match in _NUMBER.finditer(_plain(text)):
        number = _number(match)
        if number is not None and not _is_denied(match):
            yield number


def last_number(text: str) -> Number | None:
    """The last readable number of a text that is not denied."""
    # Nearly always near the end; only where it is not, all of a long text is read.
    tail = text[-_TAIL:]
    for part in (tail, text) if len(tail) < len(text) else (text,):
        found = list(_NUMBER.finditer(_plain(part))) if _DIGIT.search(part) else []
        # A number at the very start of the tail may have been cut.
        cut = part is not text and bool(found) and found[-1].start() < _CUT
        told = (match for match in reversed(found) if not _is_denied(match))
        numbers = filter(None, map(_number, told))
        last = None if cut else next(numbers, None)
        if last is not None:
            return last
    return None


def equal(first: Number, second: Number, tolerance: float) -> bool:
    """Whether two numbers agree within ``tolerance`` times the size of the second.

    Two integers must be the same. Where only one has a percent sign, 50 % agrees with 50 and 0.5.
    """
    pairs = [(first.value, second.value)]
    if first.percent != second.percent:
        by = (Fraction(1, 100), 1) if first.percent else (1, Fraction(1, 100))
        pairs.append((first.value * by[0], second.value * by[1]))
    if first.exact and second.exact and first.percent == second.percent:
        return first.value == second.value
    return any(abs(a - b) <= Fraction(tolerance) * abs(b) for a, b in pairs)


def _plain(text: str) -> str:
    """ASCII digits, minus signs and exponents instead of the typographic and LaTeX forms."""
    text = _SUPERSCRIPTS.sub(lambda found: "^" + found[0].translate(_SUPERSCRIPT), text)
    text = _VULGAR.sub(" ", text)
    text = _THIN_SPACE.sub(",", text)
    text = _MINUS.sub("-", compose(text)).replace("\u2044", "/")
    if not text.isascii():
        text = _OTHER_DIGIT.sub(_ascii_digit, text)
    for pattern, plain in _LATEX:
        text = pattern.sub(plain, text)
    return text


def _ascii_digit(found: regex.Match[str]) -> str:
    """The digit 0 to 9. Those of young scripts are known to ``regex`` before Python knows them."""
    digit = found[0]
    if digit.isdecimal():
        return str(int(digit))
    return str(next(value for value, is_it in enumerate(_VALUES) if is_it.match(digit)))


def _is_denied(match: regex.Match[str]) -> bool:
    """Whether the text says right before or after a number that it is not this one."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    after = match.string[match.end() : match.end() + _NEAR]
    return _NOT_THIS.search(before) is not None or _IS_WRONG.match(after) is not None


def _number(match: regex.Match[str]) -> Number | None:
    body, below = match["body"], match["below"]
    power = match["exponent"] or match["power"] or "0"
    if len(body) + len(below or "") > _MAX_DIGITS or abs(int(power)) > _MAX_EXPONENT:
        return None
    value = Fraction(_decimal(body))
    if match["exponent"]:
        value *= Fraction(10) ** int(power)
    elif match["power"]:
        if value == 0 and int(power) < 0:
            return None
        value **= int(power)
    if below:
        if int(below) == 0:
            return None
        value /= int(below)
    if match["whole"]:
        value += int(match["whole"])
    if match["sign"] == "-":
        value = -value
    exact = value.denominator == 1 and not (match["exponent"] or "." in body)
    return Number(value, match["percent"] is not None, exact)


def _decimal(body: str) -> str:
    """The digits with a point and no separators."""
    body = body.replace("'", "")
    comma, point = body.rfind(","), body.rfind(".")
    if comma >= 0 and point >= 0:
        thousands = "," if point > comma else "."
        return body.replace(thousands, "").replace(",", ".")
    if comma >= 0:
        grouped = all(len(part) == 3 for part in body.split(",")[1:]) and comma <= len(body) - 4
        grouped = grouped and len(body.split(",")[0]) <= 3
        return body.replace(",", "" if grouped else ".")
    return body.replace(".", "") if body.count(".") > 1 else body
