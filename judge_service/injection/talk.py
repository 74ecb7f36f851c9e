"""Whether a sentence is said or only talked about.

An article on prompt injection quotes attacks; a marking scheme tells its markers when to give full
marks. Neither addresses the judge. Only the surroundings are looked at, within a bounded distance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge_service.injection.code_spans import Span, inside

_BEFORE, _AFTER = 500, 250

# Words of people who discuss attacks.
SECURITY_TALK = re.compile(
    r"\b(?:attack|inject|jailbreak|malicious|adversar|payload|red[- ]team|exploit|vulnerab|detect|"
    r"filter|sanitiz|sanitis|classifier|benchmark|defen[cs]|mitigat|untrusted|hijack|threat|prank|"
    r"inyecci|ataque|attaque|angriff|инъекц|атак)"
    r"|攻击|注入|攻撃|공격|주입"
)
# Words that announce a quotation.
_REPORTING = re.compile(
    r"\b(?:such as|for example|for instance|e\.g\.|phrases?|strings?|sentences?|says?|said|saying|"
    r"wrote|writes?|written|reads?|called|asks?|asked|text|line|words?|message|example|quote|titled|"
    r"trick|told|tells?|like|entitled|meaning|means)\b"
)
# Words of people who mark.
_MARKING = re.compile(
    r"\b(?:half marks|half credit|partial|deduct|students?|pupils?|examiners?|markers?|teachers?|"
    r"mark scheme|marking|no credit|zero marks|no marks|each correct|otherwise|minor errors?)\b"
)
_LISTED = re.compile(r"[ \t]*(?:>|[-*+•]|\d{1,3}[.)]|\||#|//|\"|')")
_PAIRS = (
    ("“", "”"),
    ("«", "»"),
    ("‘", "’"),
    ("「", "」"),
    ("『", "』"),
    ("„", "“"),
    ("<<", ">>"),
    ("<!--", "-->"),
)
_SINGLE = re.compile(r"(?:^|[\s(\[:,=])'[^'\n]*$")
_CONDITION = re.compile(
    r"[\s,]{1,3}(?:only )?(?:if|when|unless|where|provided|as long as|in case)\b"
)
_TO_OTHERS = re.compile(
    r"\s{1,3}(?:to|for) (?:(?:any|each|every|all|those|students?|answers|responses|candidates|"
    r"submissions|essays|solutions|showing|correct|an? )\b)"
)


class Surroundings:
    """Answers for places in one lower-case text, whose code spans are given."""

    def __init__(self, text: str, code: Sequence[Span]) -> None:
        self._text = text
        self._code = code

    def discussed(self, start: int, end: int) -> bool:
        """Whether what stands from ``start`` to ``end`` is quoted in a discussion."""
        before = self._text[max(0, start - _BEFORE) : start]
        after = self._text[end : end + _AFTER]
        near = f"{before[-300:]}\n{after}"
        if self._quoted(before, start, end) and _REPORTING.search(near):
            return True
        if not SECURITY_TALK.search(f"{before}\n{after}"):
            return False
        line = self._line_start(start)
        return (
            self._quoted(before, start, end)
            or inside(self._code, start)
            or bool(_LISTED.match(self._text, line))
        )

    def marking_scheme(self, start: int, end: int) -> bool:
        """Whether it is advice to people who mark, rather than a plea for this text."""
        after = self._text[end : end + _AFTER]
        if _CONDITION.match(after) or _TO_OTHERS.match(after):
            return True
        near = f"{self._text[max(0, start - _BEFORE) : start]}\n{after}"
        return bool(_MARKING.search(near))

    def _line_start(self, start: int) -> int:
        floor = max(0, start - _BEFORE)
        # A match begins at the line break before it.
        newline = self._text.rfind("\n", floor, start)
        if self._text.startswith("\n", start):
            return start + 1
        return newline + 1 if newline >= 0 else floor

    def _quoted(self, before: str, start: int, end: int) -> bool:
        if inside(self._code, start) and "```" not in before[-4:]:
            return self._text.rfind("`", max(0, start - 80), start) >= 0
        line = before.rpartition("\n")[2] + self._text[start : start + 1]
        after = self._text[start + 1 : end + _AFTER]
        if line.count('"') % 2 and '"' in after:
            return True
        if _SINGLE.search(line) and "'" in after:
            return True
        tail = line[-300:]
        return any(tail.rfind(a) > tail.rfind(b) and b in after for a, b in _PAIRS)
