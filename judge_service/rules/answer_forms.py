"""The forms a final answer is put into: boxes, tags, an announced answer, JSON in a fence.

Every reader takes the last one of its kind, which is the one an answer ends on.
"""

from __future__ import annotations

from typing import Any

import regex

from judge_service.strict_json import decode

from .words import is_blank, strip_invisible

MAX_JSON_DEPTH = 64
MAX_JSON_VALUES = 20_000

_BOX_TOKEN = regex.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", regex.DOTALL)
_INNER_BOX = regex.compile(r"\\(?:boxed|fbox)\s*\{")
_LATEX_BLANK = regex.compile(
    r"\\(?:text\w{0,4}|math\w{1,4}|q?quad|displaystyle|left|right|[ ,;:!])|[{}~$]"
)
_SAID = regex.compile(r"[\p{L}\p{N}\p{S}]")
_FENCE = regex.compile(r"(`{3,}+|~{3,}+)[ \t]*[\w+\-]*[ \t]*")
_ANNOUNCED = regex.compile(
    r"(?:\b(?:(?:final|correct|right|best)\s+)?(?:answer|choice|option)s?\b[\s*_]*"
    r"(?:is|are|would\s+be|[:：=])(?!\s+not\b|n't)"
    r"|(?<!#)####(?!#)"
    r"|(?:答案|答え|解答)[\s*_]*(?:应该)?(?:是|为|為|は|[:：])|정답[\s*_]*(?:은|는|[:：])"
    r"|\brespuesta(?:\s+(?:final|correcta))?[\s*_]*(?:es|[:：])"
    r"|\bréponse(?:\s+(?:finale|correcte))?[\s*_]*(?:est|[:：])"
    r"|\b(?:antwort|lösung)[\s*_]*(?:ist|lautet|[:：])|\bответ[\s*_]*[:：—–-]"
    r"|\bresposta(?:\s+(?:final|correta))?[\s*_]*(?:é|[:：])|\brisposta(?:\s+\w+)?[\s*_]*(?:è|[:：])"
    r"|(?:الإجابة|الجواب)[\s*_]*(?:هي|هو|[:：])|उत्तर[\s*_]*(?:है|[:：]))",
    regex.IGNORECASE,
)


def last_box(text: str) -> str | None:
    r"""What the last closed ``\boxed{…}`` holds, without boxes inside it; None without a box."""
    opened: list[int | None] = []
    found: str | None = None
    for token in _BOX_TOKEN.finditer(text):
        if token[0] == "}":
            start = opened.pop() if opened else None
            if start is not None:
                found = text[start : token.start()]
        elif token[0] == "{":
            opened.append(None)
        elif token[0][-1] == "{" and len(token[0]) > 2:
            opened.append(token.end())
    return None if found is None else _INNER_BOX.sub("{", found).strip()


def box_is_empty(content: str) -> bool:
    """Whether a box holds only space, braces and punctuation."""
    return _SAID.search(_LATEX_BLANK.sub(" ", strip_invisible(content))) is None


def last_tag(text: str, name: str) -> str | None:
    """What the last closed ``<name>…</name>`` holds; None when there is none."""
    pattern = regex.compile(rf"<(/?)\s*{regex.escape(name)}(?:\s[^<>]*)?>", regex.IGNORECASE)
    start: int | None = None
    found: str | None = None
    for tag in pattern.finditer(text):
        if not tag[1]:
            start = tag.end()
        elif start is not None:
            found, start = text[start : tag.start()], None
    return found


def announced(text: str) -> str | None:
    """The line after the last "the answer is", "Answer:", "####" and the like; None without."""
    last = None
    for match in _ANNOUNCED.finditer(text):
        last = match
    if last is None:
        return None
    rest = text[last.end() : last.end() + 2000].lstrip(" \t\r\n*_:：")
    return rest.split("\n", 1)[0]


def unfenced(text: str) -> str:
    """The text without the one code fence around it, if there is one around all of it."""
    bare = strip_invisible(text).strip()
    first, _, rest = bare.partition("\n")
    fence = _FENCE.fullmatch(first.rstrip())
    if fence is None or not rest.endswith(fence[1]):
        return bare
    return rest.removesuffix(fence[1])


def read_json(text: str) -> Any:
    """The JSON value that the text is, alone or in one code fence.

    Raises:
        ValueError: It is none; or it has duplicate keys, NaN or infinite numbers, more than 64
            levels, or more than 20,000 values.
    """
    value = decode(unfenced(text))
    _check_size(value)
    return value


def is_empty_value(value: object) -> bool:
    """Whether a JSON value says nothing: null, a blank text, an empty list or object."""
    if isinstance(value, str):
        return is_blank(value)
    return value is None or value == [] or value == {}


def _check_size(value: Any) -> None:
    """Level by level, so that a deep value costs no recursion."""
    level, total = [value], 0
    for _ in range(MAX_JSON_DEPTH + 1):
        total += len(level)
        if total > MAX_JSON_VALUES:
            raise ValueError(f"more than {MAX_JSON_VALUES} values")
        below: list[Any] = []
        for entry in level:
            if isinstance(entry, dict):
                below.extend(entry.values())
            elif isinstance(entry, list):
                below.extend(entry)
        if not below:
            return
        level = below
    raise ValueError(f"nested deeper than {MAX_JSON_DEPTH} levels")
