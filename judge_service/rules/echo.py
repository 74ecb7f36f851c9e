"""The rule ``prompt_echo``: an answer that only hands the prompt back."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat
from typing import Literal

import regex
from pydantic import Field

from . import openings
from .rule import PASSED, Finding, Rule, RuleInput, failed
from .stopwords import STOPWORDS
from .words import fold, pieces

_LABEL = regex.compile(r"\b(?:[qa]|question|answer|prompt|user|assistant|human|task)\s*[:：]")


class PromptEcho(Rule):
    """Fails when the answer repeats the whole prompt and adds at most ``max_new_words`` words.

    Repeating part of the prompt is no echo: an extracted passage, corrected code or a chosen
    option hold back the instruction. The instruction counts as repeated when ``coverage`` of the
    prompt's words and both its ends are in the answer. Stock openings, labels and function words
    are nothing new. Prompts of fewer than ``min_words`` words are not looked at, so a greeting
    may be returned.
    """

    rule: Literal["prompt_echo"] = "prompt_echo"
    coverage: float = Field(default=0.8, gt=0.0, le=1.0)
    max_new_words: int = Field(default=0, ge=0)
    min_words: int = Field(default=4, ge=2)

    def get_ready(self) -> None:
        """Make the table of openings."""
        openings.get_ready()

    def check(self, given: RuleInput) -> Finding:
        """Compare word triples of the answer and the prompt (characters where no spaces are)."""
        prompt = pieces(fold(given.prompt))
        if len(prompt) < self.min_words:
            return PASSED
        answer = pieces(_LABEL.sub(" ", fold(given.text)))
        width = min(3, len(prompt))
        if len(answer) < width:
            return PASSED
        asked, said = _windows(prompt, width), _windows(answer, width)
        there = set(said)
        if asked[0] not in there or asked[-1] not in there:
            return PASSED
        repeated = _covered((window in there for window in asked), width)
        if sum(repeated) / len(prompt) < self.coverage:
            return PASSED
        known = set(asked)
        copied = _covered((window in known for window in said), width)
        new = [word for word, old in zip(answer, copied, strict=True) if not old]
        if len(new) > self.max_new_words and not _says_nothing(new):
            return PASSED
        return failed("the answer only repeats the prompt")


def _windows(words: list[str], width: int) -> list[tuple[str, ...]]:
    """Every ``width`` consecutive words."""
    return list(zip(*(words[start:] for start in range(width)), strict=False))


def _covered(found: Iterable[bool], width: int) -> list[bool]:
    """Which words lie in a window that was found; ``found`` is about the windows, in order."""
    covered = []
    left = 0
    for is_found in chain(found, repeat(False, width - 1)):
        left = width if is_found else left - 1
        covered.append(left > 0)
    return covered


def _says_nothing(new: list[str]) -> bool:
    return all(len(word) > 1 and word in STOPWORDS for word in new) or openings.is_stock(new)
