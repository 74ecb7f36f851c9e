"""The rule ``prompt_echo``: an answer that only hands the prompt back."""

from __future__ import annotations

from typing import Literal

import numpy as np
import regex
from pydantic import Field

from .openings import is_stock
from .rule import PASSED, Finding, Rule, RuleInput, failed
from .stopwords import STOPWORDS
from .windows import covered, hashes, word_units
from .words import fold, pieces

_LABEL = regex.compile(r"\b(?:[qa]|question|answer|prompt|user|assistant|human|task)\s*[:：]")
_EDGE = 3


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

    def check(self, given: RuleInput) -> Finding:
        """Compare word triples of the answer and the prompt (characters where no spaces are)."""
        prompt = pieces(fold(given.prompt))
        if len(prompt) < self.min_words:
            return PASSED
        answer = pieces(_LABEL.sub(" ", fold(given.text)))
        width = min(3, len(prompt))
        if len(answer) < width:
            return PASSED
        ids: dict[str, int] = {}
        asked, said = word_units(prompt, ids), word_units(answer, ids)
        asked_windows, said_windows = hashes(asked, width), hashes(said, width)
        repeated = covered(np.isin(asked_windows, said_windows), width, len(asked))
        whole = repeated[:_EDGE].all() and repeated[-_EDGE:].all()
        if not whole or repeated.mean() < self.coverage:
            return PASSED
        copied = covered(np.isin(said_windows, asked_windows), width, len(said))
        new = [word for word, old in zip(answer, copied.tolist(), strict=True) if not old]
        if len(new) > self.max_new_words and not _says_nothing(new):
            return PASSED
        return failed("the answer only repeats the prompt")


def _says_nothing(new: list[str]) -> bool:
    return all(len(word) > 1 and word in STOPWORDS for word in new) or is_stock(new)
