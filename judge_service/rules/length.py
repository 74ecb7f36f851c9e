"""Size rules: ``non_empty``, ``min_chars``, ``max_chars``, ``min_words``, ``max_words``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .rule import PASSED, Finding, Rule, RuleInput, plain_or
from .words import count_words, is_blank, visible_chars


class NonEmpty(Rule):
    """Fails when nothing in the answer can be seen. A turn with tool calls is not empty."""

    rule: Literal["non_empty"] = "non_empty"

    def check(self, given: RuleInput) -> Finding:
        """Invisible characters, fillers and lone combining marks are nothing."""
        return plain_or(bool(given.tool_calls) or not is_blank(given.text), "the answer is empty")


class MinChars(Rule):
    """Fails below ``limit`` visible characters; the score is the share of ``limit`` reached.

    A character is what a reader sees as one (an emoji family, a letter with its accents); white
    space and invisible characters do not count, so padding does not help.
    """

    rule: Literal["min_chars"] = "min_chars"
    limit: int = Field(ge=1)

    def check(self, given: RuleInput) -> Finding:
        """Count no further than the limit."""
        return _at_least(visible_chars(given.text, self.limit), self.limit, "visible characters")


class MaxChars(Rule):
    """Fails above ``limit`` characters; the score is ``limit / length``.

    Counts code points, blank ones too: everything that a judge would have to read.
    """

    rule: Literal["max_chars"] = "max_chars"
    limit: int = Field(ge=1)

    def check(self, given: RuleInput) -> Finding:
        """Compare the length of the text."""
        return _at_most(len(given.text), self.limit, "characters")


class MinWords(Rule):
    """Fails below ``limit`` words; the score is the share of ``limit`` reached."""

    rule: Literal["min_words"] = "min_words"
    limit: int = Field(ge=1)

    def check(self, given: RuleInput) -> Finding:
        """Count words as ``count_words`` does."""
        return _at_least(count_words(given.text, self.limit), self.limit, "words")


class MaxWords(Rule):
    """Fails above ``limit`` words; the score is ``limit / words``."""

    rule: Literal["max_words"] = "max_words"
    limit: int = Field(ge=1)

    def check(self, given: RuleInput) -> Finding:
        """Count words as ``count_words`` does."""
        return _at_most(count_words(given.text), self.limit, "words")


def _at_least(size: int, limit: int, unit: str) -> Finding:
    if size >= limit:
        return PASSED
    return Finding(False, size / limit, f"{size} {unit}, at least {limit} are asked for")


def _at_most(size: int, limit: int, unit: str) -> Finding:
    if size <= limit:
        return PASSED
    return Finding(False, limit / size, f"{size} {unit}, at most {limit} are allowed")
