"""The rule ``markup_density``: how much of the answer is markdown and emoji instead of words."""

from __future__ import annotations

from typing import Literal, Self

import regex
from pydantic import Field, model_validator

from .rule import Finding, Rule, RuleInput, ramp
from .words import visible_chars

_FENCE = regex.compile(r"^\s{0,3}(`{3,}|~{3,})\s*([\w+#.\-]*)\s*$")
_MARKUP_FENCES = frozenset({"markdown", "md", "text", "txt", "plaintext"})
_LINE_MARK = regex.compile(
    r"^[ \t]*+(?P<quote>(?:>[ \t]*+)*+)"
    r"(?P<lead>#{1,6}(?=\s)|[-*+•](?=\s)|\d{1,3}[.)](?=\s))?"
    r"(?P<rule>([-*_=])(?:[ \t]*+\4){2,}+[ \t]*+$)?",
    regex.MULTILINE,
)
# Emphasis sits at the edge of a word, so products, powers and snake_case are none.
_EMPHASIS = regex.compile(
    r"(?<![\w*_^\\])(?:\*{1,3}|_{1,3}|~~)(?=[^\s*_~])|(?<=[^\s*_~^\\])(?:\*{1,3}|_{1,3}|~~)(?![\w*_{])"
)
_INLINE = regex.compile(
    r"\]\(|!\[|</?(?:b|strong|em|i|u|s|font|center|mark|big|small|blink)(?:\s[^<>]{0,100})?>",
    regex.IGNORECASE,
)
_CODE_SPAN = regex.compile(r"`[^`\n]++`")
_MATH = regex.compile(r"\$\$[^$]++\$\$|\$[^$\n]++\$")
_EMOJI = regex.compile(
    r"\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[\U0001f000-\U0001faff]"
)

_TOKEN_COST = 4
_ROW_COST = 2
_EMOJI_COST = 2
_LEAST_SIZE = 200


class MarkupDensity(Rule):
    """Scores 1 up to the markup share ``free``, falling to 0 at ``limit``, where it fails.

    The share is markup over all visible characters, of which 200 are assumed at least, so a short
    answer may be bold. Markup is: heading, list, quote, emphasis, link and rule marks and styling
    tags by their length (four at most), a code span or fence two, a table row two, an emoji two.
    Code and formulas are not markup; emoji count everywhere.
    """

    rule: Literal["markup_density"] = "markup_density"
    free: float = Field(default=0.15, ge=0.0, lt=1.0)
    limit: float = Field(default=0.40, gt=0.0, le=1.0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.free >= self.limit:
            raise ValueError("free must be below limit")
        return self

    def check(self, given: RuleInput) -> Finding:
        """Add up the marks line by line."""
        share = markup_share(given.text)
        passed = share < self.limit
        detail = None if passed else f"{share:.0%} of the answer is markup"
        return Finding(passed, ramp(share, self.free, self.limit), detail)


def markup_share(text: str) -> float:
    """Share of markup in the visible characters, in [0, 1]."""
    prose, marks = _outside_code(text)
    if "$" in prose:
        prose = _MATH.sub(" ", prose)
    if "`" in prose:
        prose, spans = _CODE_SPAN.subn(" ", prose)
        marks += 2 * spans
    for line in _LINE_MARK.finditer(prose):
        marks += sum(min(len(line[part] or ""), _TOKEN_COST) for part in ("quote", "lead", "rule"))
    prose = _LINE_MARK.sub("", prose)
    for pattern in (_EMPHASIS, _INLINE):
        marks += sum(min(len(found[0]), _TOKEN_COST) for found in pattern.finditer(prose))
    marks += _EMOJI_COST * sum(1 for _ in _EMOJI.finditer(text))
    return min(1.0, marks / max(visible_chars(text), _LEAST_SIZE))


def _outside_code(text: str) -> tuple[str, int]:
    """The lines that are not code, and what fences and table rows cost."""
    marks = 0
    fence: str | None = None
    prose: list[str] = []
    for line in text.splitlines():
        bare = line.strip()
        if not bare:
            continue
        opened = _FENCE.match(line) if bare[0] in "`~" else None
        if fence is not None:
            if opened and opened[1].startswith(fence) and not opened[2]:
                fence = None
        elif opened:
            marks += 2 * _ROW_COST
            # A fence that says it is markdown hides nothing.
            fence = None if opened[2].lower() in _MARKUP_FENCES else opened[1]
        else:
            marks += _ROW_COST if bare[0] == bare[-1] == "|" and len(bare) > 1 else 0
            prose.append(line)
    return "\n".join(prose), marks
