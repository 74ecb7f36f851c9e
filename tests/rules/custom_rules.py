"""Custom rules as users write them, right and wrong."""

from __future__ import annotations

import math
from typing import Any

from judge_service.rules import Finding, Rule, RuleInput


class NoEmoji(Rule):
    """A subclass of Rule with a parameter of its own."""

    emoji: str = "🎉"

    def check(self, given: RuleInput) -> Finding:
        """Fail on the emoji."""
        return Finding(self.emoji not in given.text, 1.0 - ("🎉" in given.text), None)


class Shorter:
    """Any class whose objects can be called."""

    def __init__(self, than: int) -> None:
        """Keep the limit."""
        self.than = than

    def __call__(self, given: RuleInput) -> Finding:
        """Compare lengths."""
        return Finding(len(given.text) < self.than, 0.5, f"{len(given.text)} characters")


class NotCallable:
    """Has no __call__."""


def starts_with(given: RuleInput, word: str) -> tuple[bool, float, None]:
    """A function that gets its parameters by name."""
    found = given.text.startswith(word)
    return found, float(found), None


def returns(given: RuleInput, what: str) -> Any:
    """A function that returns what no rule may."""
    wrong: dict[str, Any] = {
        "nan": Finding(True, math.nan),
        "two": Finding(True, 2.0),
        "negative": Finding(False, -0.1),
        "true": Finding(True, True),
        "word": (True, "1.0", None),
        "none": None,
        "number": 1.0,
        "truthy": (1, 1.0, None),
        "detail": (True, 1.0, 7),
    }
    return wrong[what]


def breaks(given: RuleInput) -> Finding:
    """A function that raises, quoting the candidate."""
    raise KeyError(given.text)


def breaks_on(given: RuleInput, word: str) -> Finding:
    """A function that raises where the text has a word."""
    if word in given.text:
        raise RuntimeError(given.text)
    return Finding(True, 0.5)


not_a_rule = 7
