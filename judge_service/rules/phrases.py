"""The rules ``required_text`` and ``forbidden_text``: whole words and phrases, not substrings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Literal

import regex
from pydantic import Field, field_validator

from .rule import PASSED, Finding, Rule, RuleInput, Texts, failed
from .words import SPACED, fold_hard

_SPACE = regex.compile(r"\s+")
_BEFORE = rf"(?<!{SPACED})"
_AFTER = rf"(?!{SPACED})"
_STARTS_SPACED = regex.compile(SPACED, regex.V1)
_ENDS_SPACED = regex.compile(rf"(?:(?!\p{{Hangul}}){SPACED})\Z", regex.V1)

Phrases = Annotated[Texts, Field(min_length=1)]


def folded_phrase(phrase: str) -> str:
    """How a phrase and a text are compared: folded, each white space one blank."""
    return _SPACE.sub(" ", fold_hard(phrase)).strip()


def phrase_patterns(phrases: Sequence[str]) -> tuple[regex.Pattern[str], ...]:
    """Patterns that find whole-word occurrences of folded phrases in a folded text.

    An edge of a phrase must be the edge of a word where its script parts words by spaces; Han,
    kana, Thai and the like have no such edges, and Hangul may be followed by a particle.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for phrase in phrases:
        before = _BEFORE if _STARTS_SPACED.match(phrase) else ""
        after = _AFTER if _ENDS_SPACED.search(phrase) else ""
        groups.setdefault((before, after), []).append(phrase)
    return tuple(
        regex.compile(rf"{before}\L<listed>{after}", regex.V1, listed=listed)
        for (before, after), listed in groups.items()
    )


class _PhraseRule(Rule):
    text: Phrases

    @field_validator("text")
    @classmethod
    def _comparable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for phrase in value:
            if not folded_phrase(phrase):
                raise ValueError("a phrase holds only invisible characters")
        return value


class RequiredText(_PhraseRule):
    """Fails unless all phrases of ``text`` occur (``mode = "any"``: one of them).

    The score is the share of the phrases that occur (``any``: 1 or 0).
    """

    rule: Literal["required_text"] = "required_text"
    mode: Literal["all", "any"] = "all"

    @cached_property
    def _patterns(self) -> dict[str, tuple[regex.Pattern[str], ...]]:
        return {phrase: phrase_patterns([folded_phrase(phrase)]) for phrase in self.text}

    def check(self, given: RuleInput) -> Finding:
        """Look every phrase up."""
        text = folded_phrase(given.text)
        missing = [
            phrase
            for phrase, patterns in self._patterns.items()
            if not any(pattern.search(text) for pattern in patterns)
        ]
        if not missing or (self.mode == "any" and len(missing) < len(self._patterns)):
            return PASSED
        score = 0.0 if self.mode == "any" else 1.0 - len(missing) / len(self._patterns)
        return Finding(False, score, f"missing: {missing[0]!r}")


class ForbiddenText(_PhraseRule):
    """Fails when a phrase of ``text`` occurs as whole words; the score is then 0.

    Case, width, zero-width characters, combining decoration and look-alike letters inside a word
    hide nothing; "hack" is not found in "hackathon".
    """

    rule: Literal["forbidden_text"] = "forbidden_text"

    @cached_property
    def _patterns(self) -> tuple[regex.Pattern[str], ...]:
        return phrase_patterns([folded_phrase(phrase) for phrase in self.text])

    def check(self, given: RuleInput) -> Finding:
        """Look all phrases up at once."""
        text = folded_phrase(given.text)
        for pattern in self._patterns:
            found = pattern.search(text)
            if found:
                return failed(f"forbidden: {found[0]!r}")
        return PASSED


class Regex(Rule):
    """Fails unless the pattern matches (``expect = "match"``) or does not (``"no_match"``).

    ``mode = "search"`` looks anywhere, ``"fullmatch"`` wants the whole text. The syntax is that
    of the ``regex`` package. A pattern that needs more than ``timeout_s`` of processor time on a
    text has not shown what it should, whichever way ``expect`` is: the rule does not pass. It is
    not a failure to judge, because then a candidate could choose to have no reward.
    """

    rule: Literal["regex"] = "regex"
    pattern: str = Field(min_length=1, max_length=10_000)
    mode: Literal["search", "fullmatch"] = "search"
    expect: Literal["match", "no_match"] = "match"
    timeout_s: float = Field(default=0.5, gt=0.0, le=5.0)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            regex.compile(value)
        except regex.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
        return value

    def check(self, given: RuleInput) -> Finding:
        """Run the pattern under its time limit."""
        compiled = regex.compile(self.pattern)
        run = compiled.search if self.mode == "search" else compiled.fullmatch
        try:
            matched = run(given.text, timeout=self.timeout_s) is not None
        except TimeoutError:
            return failed(f"the pattern took longer than {self.timeout_s:g} s on this text")
        if matched == (self.expect == "match"):
            return PASSED
        return failed("the pattern matches" if matched else "the pattern does not match")
