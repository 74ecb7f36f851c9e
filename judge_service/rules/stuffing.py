"""The rule ``keyword_stuffing``: words put in to be counted, not to say something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, Self

import regex
from pydantic import Field, model_validator

from .rule import PASSED, Finding, Rule, RuleInput, Texts, ramp
from .stopwords import STOPWORDS
from .words import UNSPACED, fold, fold_hard, words

_SYMBOL = regex.compile(r"[\p{S}\p{N}(){}\[\]:;_/\\#&*@%]")
_CONTENT = regex.compile(rf"\p{{L}}[\p{{L}}\p{{M}}]{{2,}}+|{UNSPACED}++", regex.V1)
_LISTED_MARK = regex.compile(r"^\s*(?:[-*•+]|\d+[.)])\s+")
_QUOTED = regex.compile(r"""["'«»„“”]""")

_LINE_WORDS = 40
_TOP = 8


class KeywordStuffing(Rule):
    """Fails when one word makes up ``limit`` of the answer, or eight words ``top_limit`` of it.

    With ``keywords`` only those are counted, over the whole answer. Without, every content word of
    the prose is; lines of code, tables and figures are left out, and so are lines made of words
    that the prompt offered (labels, options). A single line of forty words or more is measured
    by itself too. Answers with fewer than ``min_words`` words pass. The score falls from 1 at half
    a limit to 0 at it. The limits leave room for honest lists ("green tea, black tea, …").
    """

    rule: Literal["keyword_stuffing"] = "keyword_stuffing"
    keywords: Texts = ()
    limit: float = Field(default=0.55, gt=0.0, le=1.0)
    top_limit: float = Field(default=0.65, gt=0.0, le=1.0)
    min_words: int = Field(default=40, ge=1)

    @model_validator(mode="after")
    def _keywords_have_words(self) -> Self:
        for keyword in self.keywords:
            if not words(fold_hard(keyword)):
                raise ValueError("keywords must hold a letter or digit each")
        return self

    def check(self, given: RuleInput) -> Finding:
        """Count and take the worst share."""
        if self.keywords:
            return self._of_keywords(words(fold_hard(given.text)))
        offered = frozenset(words(fold(given.prompt)))
        prose: list[str] = []
        worst = PASSED
        for line in filter(str.strip, fold(given.text).splitlines()):
            said = _prose(line, offered)
            prose += said
            if len(said) >= _LINE_WORDS:
                worst = min(worst, self._of_words(said), key=_score)
        return min(worst, self._of_words(prose), key=_score)

    def _of_keywords(self, said: list[str]) -> Finding:
        if len(said) < self.min_words:
            return PASSED
        text = f" {' '.join(said)} "
        worst = PASSED
        for keyword in self.keywords:
            parts = words(fold_hard(keyword))
            phrase = f" {' '.join(parts)} "
            # Doubled spaces let neighbours share none, so that "a a a" holds three of "a".
            count = text.replace(" ", "  ").count(phrase.replace(" ", "  ")[1:-1])
            share = count * len(parts) / len(said)
            worst = min(worst, self._finding(share, self.limit, repr(keyword)), key=_score)
        return worst

    def _of_words(self, said: list[str]) -> Finding:
        if len(said) < self.min_words:
            return PASSED
        counts = Counter(said)
        top = [entry for entry in counts.most_common(_TOP + len(STOPWORDS)) if _content(entry[0])]
        if not top:
            return PASSED
        word, most = top[0]
        one = self._finding(most / len(said), self.limit, repr(word))
        often = sum(count for _, count in top[:_TOP] if count >= 5)
        eight = self._finding(often / len(said), self.top_limit, "the same few")
        return min(one, eight, key=_score)

    def _finding(self, share: float, limit: float, what: str) -> Finding:
        passed = share < limit
        detail = None if passed else f"{share:.0%} of the words are {what[:40]}"
        return Finding(passed, ramp(share, limit / 2, limit), detail)


def _score(finding: Finding) -> float:
    return finding.score


def _content(word: str) -> bool:
    return word not in STOPWORDS and _CONTENT.fullmatch(word) is not None


def _prose(line: str, offered: Iterable[str]) -> list[str]:
    """The words of a line of prose; none for code, a table row, figures or offered labels."""
    line = _LISTED_MARK.sub("", line, count=1)
    symbols = len(_SYMBOL.findall(line)) + len(_QUOTED.findall(line))
    if symbols * 12 > len(line):
        return []
    said = words(line)
    return [] if all(word in offered for word in said) else said
