"""The rule ``refusal``: an answer that only declines."""

from __future__ import annotations

from functools import cache
from typing import Literal

import regex
from pydantic import Field

from .refusal_phrases import AROUND, REFUSALS, TURNS
from .rule import PASSED, Finding, Rule, RuleInput, failed
from .words import count_words, fold

_MARKUP = regex.compile(r"[*_`#>~]+|</?\w+>")
_CUT = regex.compile(rf"[.!?;:…\n。！？；：؟।،]+|[,、，]?\s*(?:{TURNS})[,，、]?")
_FIGURES = regex.compile(r"\p{N}")
_TRIM = " ,，、\"'“”-–—()[]"
_MAX_CLAUSE = 300
# A folded text has straight apostrophes for single quotation marks.
_QUOTES = frozenset("\"'“”„‟‚«»‹›「『")


class Refusal(Rule):
    """Fails when the answer is nothing but a refusal with its apologies, reasons and offers.

    Every clause must be one of these, in any of some twenty languages, and one must refuse. A
    clause that says anything else, or holds a figure, makes it an answer, so "I can't be sure, but
    it is 42" passes. Texts of more than ``max_words`` words, quotations, what equals the reference
    and turns with tool calls pass too.
    """

    rule: Literal["refusal"] = "refusal"
    max_words: int = Field(default=120, ge=1, le=400)

    def get_ready(self) -> None:
        """Compile the long patterns."""
        _refusal(), _around()

    def check(self, given: RuleInput) -> Finding:
        """Cut into clauses and sort each."""
        if given.tool_calls or count_words(given.text, self.max_words + 1) > self.max_words:
            return PASSED
        text = fold(given.text)
        if given.reference is not None and text.split() == fold(given.reference).split():
            return PASSED
        if text.strip()[:1] in _QUOTES:
            return PASSED
        lines = (" ".join(line.split()) for line in _MARKUP.sub(" ", text).splitlines())
        return failed("only a refusal") if _only_refuses("\n".join(filter(None, lines))) else PASSED


@cache
def _refusal() -> regex.Pattern[str]:
    """Compiled on use, like the next one: the two take a tenth of a second."""
    return regex.compile("|".join(f"(?:{pattern})" for pattern in REFUSALS))


@cache
def _around() -> regex.Pattern[str]:
    return regex.compile("|".join(f"(?:{pattern})" for pattern in AROUND))


def _only_refuses(text: str) -> bool:
    refuses = False
    for piece in _CUT.split(text):
        clause = " ".join(piece.strip(_TRIM).split())
        if not clause:
            continue
        if len(clause) > _MAX_CLAUSE or _FIGURES.search(clause):
            return False
        if _refusal().search(clause):
            refuses = True
        elif not _around().search(clause):
            return False
    return refuses
