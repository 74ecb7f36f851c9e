"""Places where even a short order is suspicious: hidden text, other roles, behind closers.

Every function reads a text in lower case (see ``views``), answers in linear time, and
returns the text that stands in such places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from judge_service.injection.cheap_looks import any_of
from judge_service.injection.code_spans import Span, inside
from judge_service.injection.patterns import CONTROL_TOKEN
from judge_service.injection.talk import SECURITY_TALK

_ROLE = re.compile(
    r"(?:^|\n)[ \t>*#\[<|(/_-]{0,8}(?:new |real )?"
    r"(system|human|user|assistant|developer|judge|grader|evaluator|admin|administrator|operator|"
    r"moderator|instructions?|系统|系統|用户|助手|評価者|システム|시스템|система|пользователь|"
    r"sistema|systeme|النظام)"
    r"(?: (?:message|prompt|note|instruction|override|update|notice|admin))?"
    r"[ \t\]>*|)/_-]{0,6}(?::|>|\](?:\(#?\w{0,20}\))?|\n(?=[^\n]))"
)
_ADDRESS = re.compile(
    r"\b(?:dear|attention|note to|message to|hey|hello|to|instructions? (?:to|"
    r"for)) (?:the |any |all )?"
    r"(?:llm |ai )?(?:judge|grader|evaluator|marker|rater|examiner|scorer)s?\b"
)
_OPENER = re.compile(r"<([a-z][\w-]{0,24})")
_CLOSER = re.compile(
    r"</\s{0,4}([a-z][\w-]{0,24})(?:\s[^<>]{0,40})?>"
    r"|(?:^|\n)[ \t]{0,8}(?:\"{3}|'{3}|`{3,}|-{3,}|={3,}|\]\]>|"
    r"[\"'`]{1,3}[ \t]{0,4}[}\])]{1,4},?)[ \t]{0,8}"
    r"(?=\S|\n)"
)

# Without one of these the patterns above find nothing.
_ROLES = (
    "system", "human", "user", "assistant", "developer", "judge", "grader", "evaluator", "admin",
    "operator", "moderator", "instruction", "sistema",
)  # fmt: skip
_ADDRESSED = ("judge", "grader", "evaluator", "marker", "rater", "examiner", "scorer")
_CLOSERS = ("</", '"', "'", "`", "---", "===", "]]>")

# What markup that hides something cannot do without, and the markup; group "in" is what it hides,
# when it ends.
_HIDDEN = (
    ("<!--", re.compile(r"<!--(?P<in>(?:[^-<]|-(?!->)|<(?!!--)){0,4000})")),
    (
        "]:",
        re.compile(
            r"^[ \t]{0,3}\[[^\]\n]{1,40}\]:\s?(?:#|<>|/|https?://\S{1,99})\s?(?P<in>[^\n]{0,600})",
            re.M,
        ),
    ),
    (
        "<",
        re.compile(
            r"<[a-z][\w-]{0,12}\s[^<>]{0,200}?(?:display\s?:\s?none|"
            r"visibility\s?:\s?hidden|opacity\s?:\s?0|"
            r"font-size\s?:\s?0?[01]?(?:\.\d)?(?:px|pt|em|%|;|\")|"
            r"color\s?[:=]\s?[\"']?\s?(?:white|snow|transparent|#f{3}|#f{6}|rgba?\(\s?255)|"
            r"(?:left|text-indent|top)\s?:\s?-\d{3}|\bhidden\b|"
            r"font\ssize\s?=\s?[\"']?[01]\b)[^<>]{0,200}>"
            r"(?P<in>[^<]{0,600})"
        ),
    ),
    ("<", re.compile(r"<(?:template|noscript|comment|hidden)\b(?P<in>[^<]{0,600})")),
    (
        '"',
        re.compile(
            r"\b(?:alt|title|content|aria-label|data-[\w-]{1,20})\s?=\s?\"(?P<in>[^\"<>]{0,300})\""
        ),
    ),
    ("![", re.compile(r"!\[(?P<in>[^\[\]\n]{0,300})\]\(")),
    (
        "\\",
        re.compile(
            r"\\(?:[hv]?phantom|smash|iffalse|tiny|transparent|marginpar|"
            r"hidden)\b\*?\s?(?P<in>[^\n]{0,600})"
        ),
    ),
    (
        "\\",
        re.compile(
            r"\\(?:text)?color(?:\[\w{1,9}\])?\s?\{\s?(?:white|transparent|1\s?,\s?1\s?,\s?1|f{6})\s?\}"
            r"(?P<in>[^\n]{0,600})"
        ),
    ),
    (
        "\\",
        re.compile(
            r"\\(?:fontsize|scalebox|resizebox)\s?\{\s?0?[.01]{1,4}\s?(?:pt)?\s?\}(?P<in>[^\n]{0,600})"
        ),
    ),
    ("\\", re.compile(r"\\begin\s?\{comment\}(?P<in>[^\\]{0,600})")),
    ("\x1b", re.compile(r"\x1b\[8m(?P<in>[^\x1b]{0,600})")),
)


def hidden_parts(text: str) -> str:
    """Return what markup hides from a reader, one part per line."""
    if "<" not in text and "\\" not in text and "[" not in text and "=" not in text:
        return ""
    found = [
        match
        for needed, pattern in _HIDDEN
        if needed in text
        for match in pattern.finditer(text)
        if len(match["in"]) > 4
    ]
    if found and SECURITY_TALK.search(text):
        found = [m for m in found if not SECURITY_TALK.search(_line_before(text, m.start()))]
    return "\n".join(match["in"] for match in found)


def _line_before(text: str, position: int) -> str:
    """The line up to ``position``, as far as it matters: is it a sentence on such attacks?"""
    return text[max(0, position - 160) : position].rpartition("\n")[2]


def behind_roles(text: str) -> str:
    """Return what follows lines that open a turn of a system, a user or an assistant."""
    if text.isascii() and not any_of(text, *_ROLES):
        return ""
    return _behind(text, (m.end() for m in _ROLE.finditer(text)), 240)


def behind_addresses(text: str) -> str:
    """Return what follows an address to the judge."""
    if not any_of(text, *_ADDRESSED):
        return ""
    return _behind(text, (m.end() for m in _ADDRESS.finditer(text)), 240)


def behind_closers(text: str, code: Sequence[Span]) -> str:
    """Return what follows closers of blocks that the text never opened, and fence-like lines.

    Fences that pair up (``code``) are the text's own.
    """
    if not any_of(text, *_CLOSERS):
        return ""
    opened: dict[str, int] = {}
    for match in _OPENER.finditer(text) if "</" in text else ():
        opened.setdefault(match[1], match.start())
    places = (
        match.end()
        for match in _CLOSER.finditer(text)
        if not (code and (inside(code, match.start() + 1) or inside(code, match.end() - 1)))
        and (match[1] is None or opened.get(match[1], len(text)) > match.start())
    )
    return _behind(text, places, 160)


def behind_control_tokens(text: str) -> str:
    """Return what follows chat-template tokens, wherever they stand."""
    if "<" not in text and "[" not in text:
        return ""
    return _behind(text, (m.end() for m in CONTROL_TOKEN.finditer(text)), 240)


def _behind(text: str, places: Iterator[int], reach: int) -> str:
    """Join the stretches behind ``places``, merged where they overlap, each to a blank line."""
    spans: list[list[int]] = []
    for place in places:
        end = min(len(text), place + reach)
        blank = text.find("\n\n", place + 2, end)
        end = blank if blank >= 0 else end
        if spans and place <= spans[-1][1]:
            spans[-1][1] = max(end, spans[-1][1])
        elif place < end:
            spans.append([place, end])
    return "\n\n".join(text[start:end] for start, end in spans)
