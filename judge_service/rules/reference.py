"""The rule ``matches_reference``: the final answer is the reference answer."""

from __future__ import annotations

from typing import Literal

import regex
from pydantic import Field, field_validator

from .answer_forms import announced, last_box, last_tag
from .choices import letters_of
from .numbers import Number, equal, last_number, numbers_in
from .rule import PASSED, Finding, Rule, RuleInput, RuleNeedsReference, failed
from .words import fold, is_blank

_EDGE = regex.compile(r"^[\s\p{P}`$]++|(?<![\s\p{P}`$])[\s\p{P}`$]++\Z")
_SPACE = regex.compile(r"\s+")
_LATEX_WRAP = regex.compile(r"\\(?:text|mathrm|mathbf|textbf)\s*\{([^{}]*)\}")
_SHORT = 60
_LONG = 1000
_EXPRESSION = regex.compile(r"\\(?:sqrt|pi|infty|ln|log|sin|cos|tan|binom)\b|√|π|∞|±|\\pm\b")


class MatchesReference(Rule):
    r"""Fails unless the answer is the reference; the score is 1 or 0.

    ``mode = "exact"`` compares texts without case, width, outer punctuation and extra space: what
    the last ``\boxed{…}`` or ``<answer>`` holds, else the whole answer. ``"number"`` compares the
    final number within ``tolerance`` (relative; integers must be equal); a reference that is no
    single number, such as a root, is compared as text. ``"multiple_choice"`` compares the chosen
    letter, one of ``letters``.
    """

    rule: Literal["matches_reference"] = "matches_reference"
    mode: Literal["exact", "number", "multiple_choice"] = "exact"
    tolerance: float = Field(default=1e-6, ge=0.0, lt=1.0)
    letters: str = Field(default="ABCDEFGHIJ", min_length=2, max_length=26)

    @field_validator("letters")
    @classmethod
    def _capitals(cls, value: str) -> str:
        if not (value.isascii() and value.isalpha() and value.isupper()):
            raise ValueError("letters must be capitals from A to Z")
        return value

    def check_reference(self, reference: str | None) -> None:
        """A reference must be there, and name a letter where letters are compared.

        Raises:
            RuleNeedsReference: It is not or does not.
        """
        if reference is None or is_blank(reference):
            raise RuleNeedsReference("matches_reference needs a reference, and there is none")
        if self.mode == "multiple_choice" and not letters_of(reference, self.letters):
            raise RuleNeedsReference(
                "matches_reference compares letters, and the reference names none"
            )

    def check(self, given: RuleInput) -> Finding:
        """Read both sides the same way and compare.

        Raises:
            RuleNeedsReference: There is no reference, or it names no letter to compare with.
        """
        if given.reference is None or is_blank(given.reference):
            raise RuleNeedsReference("matches_reference needs a reference, and there is none")
        if self.mode == "exact":
            same = _exact(given.text, given.reference)
        elif self.mode == "number":
            same = _same_number(given.text, given.reference, self.tolerance)
        else:
            same = _same_choice(given.text, given.reference, self.letters)
        return PASSED if same else failed("not the reference answer")


def _bare(text: str) -> str:
    """Folded, without LaTeX text wrappers, outer punctuation and extra white space."""
    text = _LATEX_WRAP.sub(r"\1", text)
    return _SPACE.sub(" ", _EDGE.sub("", fold(text)))


def _exact(text: str, reference: str) -> bool:
    wanted = _bare(reference) or _SPACE.sub("", fold(reference))
    for found in (last_box(text), last_tag(text, "answer")):
        if found is not None:
            return (_bare(found) or _SPACE.sub("", fold(found))) == wanted
    return (_bare(text) or _SPACE.sub("", fold(text))) == wanted


def _same_number(text: str, reference: str, tolerance: float) -> bool:
    wanted = _reference_number(reference)
    if wanted is None:
        return _exact(text, last_box(reference) or reference)
    found = _final_number(text)
    return found is not None and equal(found, wanted, tolerance)


def _reference_number(reference: str) -> Number | None:
    """A short reference is one number or none; a long one is a solution that ends on it."""
    if len(reference) <= _SHORT and last_box(reference) is None and announced(reference) is None:
        return _only_number(reference)
    return _final_number(reference)


def _final_number(text: str) -> Number | None:
    """The number a text ends on: in its box or tag, where it announces it, else the last one.

    A box or tag must hold one number, after its last "=" if there is one.
    """
    for found in (last_box(text), last_tag(text, "answer")):
        if found is not None:
            return _only_number(found)
    said = announced(text)
    if said is not None:
        first = next(numbers_in(_after_equals(said)), None)
        if first is not None:
            return first
    return last_number(text)


def _only_number(content: str) -> Number | None:
    content = _after_equals(content)
    if len(content) > _LONG or _EXPRESSION.search(content):
        return None
    listed = list(numbers_in(content))
    return listed[0] if len(listed) == 1 else None


def _after_equals(text: str) -> str:
    """What stands after the last "=" that is no "≠", or all of it."""
    return text.replace("!=", "≠").rpartition("=")[2]


def _same_choice(text: str, reference: str, letters: str) -> bool:
    wanted = letters_of(reference, letters)
    if not wanted:
        raise RuleNeedsReference("matches_reference compares letters, and the reference names none")
    return letters_of(text, letters) == wanted
