"""The rules ``required_text`` and ``forbidden_text``: whole words and phrases, not substrings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Literal

import regex
from pydantic import Field, field_validator

from .rule import PASSED, Finding, Rule, RuleInput, Texts, failed
from .words import SPACED, fold_hard

# A word of a script with spaces, or any other visible character by itself.
_TOKEN = regex.compile(rf"\p{{Hangul}}++|[{SPACED}--\p{{Hangul}}]++|\S", regex.V1)
_HANGUL = regex.compile(r"\p{Hangul}")
_START = "\0"

Phrases = Annotated[Texts, Field(min_length=1)]


def tokens(text: str) -> tuple[str, ...]:
    """A text as phrases are looked for in it.

    Words of scripts with spaces are whole, so an edge of a phrase is an edge of a word. Han, kana,
    Thai and the like have no such edges: every character counts for itself. A Hangul word may be
    followed by a particle, so only its start is marked.
    """
    folded = fold_hard(text)
    found: list[str] = _TOKEN.findall(folded)
    if not _HANGUL.search(folded):
        return tuple(found)
    apart: list[str] = []
    for token in found:
        apart.extend((_START, *token) if _HANGUL.match(token) else (token,))
    return tuple(apart)


class PhraseFinder:
    """Finds phrases in texts, all at once, in one pass over the text."""

    def __init__(self, phrases: Sequence[str]) -> None:
        """Index the phrases by first token and length."""
        self._lengths: dict[str, set[int]] = {}
        self._phrases: dict[tuple[str, ...], str] = {}
        for phrase in phrases:
            parts = tokens(phrase)
            self._phrases.setdefault(parts, phrase)
            self._lengths.setdefault(parts[0], set()).add(len(parts))

    def found(self, text: str) -> Iterator[str]:
        """The phrases in the text as they were given, each as often as it occurs."""
        said = tokens(text)
        for at, token in enumerate(said):
            for length in self._lengths.get(token, ()):
                phrase = self._phrases.get(said[at : at + length])
                if phrase is not None:
                    yield phrase


class _PhraseRule(Rule):
    text: Phrases

    @field_validator("text")
    @classmethod
    def _comparable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for phrase in value:
            if not tokens(phrase):
                raise ValueError("a phrase holds only invisible characters")
        return value

    @cached_property
    def _finder(self) -> PhraseFinder:
        return PhraseFinder(self.text)


class RequiredText(_PhraseRule):
    """Fails unless all phrases of ``text`` occur (``mode = "any"``: one of them).

    The score is the share of the phrases that occur (``any``: 1 or 0).
    """

    rule: Literal["required_text"] = "required_text"
    mode: Literal["all", "any"] = "all"

    def check(self, given: RuleInput) -> Finding:
        """Look for all phrases; two that are written alike are found together."""
        found = {tokens(phrase) for phrase in self._finder.found(given.text)}
        missing = [phrase for phrase in self.text if tokens(phrase) not in found]
        if not missing or (self.mode == "any" and found):
            return PASSED
        score = 0.0 if self.mode == "any" else 1.0 - len(missing) / len(self.text)
        return Finding(False, score, f"missing: {missing[0]!r}")


class ForbiddenText(_PhraseRule):
    """Fails when a phrase of ``text`` occurs as whole words; the score is then 0.

    Case, width, zero-width characters, combining decoration and look-alike letters inside a word
    hide nothing; "hack" is not found in "hackathon".
    """

    rule: Literal["forbidden_text"] = "forbidden_text"

    def check(self, given: RuleInput) -> Finding:
        """Stop at the first phrase found."""
        found = next(self._finder.found(given.text), None)
        return PASSED if found is None else failed(f"forbidden: {found!r}")


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
