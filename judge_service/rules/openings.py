"""The rule ``opener_only``: an answer that is a stock opening, punctuation or an empty form.

Such strings make judges report success for no answer at all ("One Token to Fool LLM-as-a-Judge",
arXiv 2507.08794), so they are stopped before one is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

import regex

from .opening_forms import form, forms_of
from .opening_phrases import FILLERS, PHRASES
from .rule import PASSED, Finding, Rule, RuleInput, failed
from .words import compose, fold, is_blank, pieces

_APOSTROPHES = regex.compile(r"['’‘`´ʼ]")
_FENCE = regex.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+#.\-]*[ \t]*$", regex.MULTILINE)
# The forms an answer is asked to be put into; with nothing inside they say nothing.
_ANSWER_TAG = regex.compile(
    r"</?\s*(?:final[_\- ]?)?(?:answer|response|result|output|solution|final|think|thinking|thought"
    r"|thoughts|reasoning|analysis|explanation|conclusion|summary|scratchpad|step|reply)"
    r"\b[^<>]{0,200}>",
    regex.IGNORECASE,
)
_LATEX_FORM = regex.compile(
    r"\\(?:boxed|fbox|framebox|text\w{0,4}|math\w{1,4}|[dq]?quad|hspace|phantom|begin|end"
    r"|displaystyle|left|right)\b\*?|\\[\[\](),;:! ]"
)
_LIST_NUMBER = regex.compile(r"^[ \t>#*_-]{0,20}+\d{1,3}[.):]\s(?=\W{0,9}\p{L})", regex.MULTILINE)
_RULE_LINE = regex.compile(r"([^\w\s])\1{2,}+")
# Symbols that can be an answer; the rest of punctuation cannot.
_SYMBOL = regex.compile(r"[[\p{S}%&@/\\]--[`^~|¨´¸$\ufffd]]", regex.V1)
_EMPTY_DATA = frozenset({"[]", "{}"})
MOST_WORDS = 200
"""Longer texts are more than openings built to a form."""


@cache
def _table() -> dict[str, list[tuple[list[str], bool]]]:
    """First word of a phrase: the phrases that start with it, and whether they are openings."""
    table: dict[str, list[tuple[list[str], bool]]] = {}
    for listed, opens in ((PHRASES, True), (FILLERS, False)):
        for phrase in listed:
            parts = _plain(pieces(fold(phrase)))
            table.setdefault(parts[0], []).append((parts, opens))
    return table


def _plain(said: Sequence[str]) -> list[str]:
    """The same words, with "lets" for "let us"."""
    plain: list[str] = []
    for word in said:
        if word == "us" and plain and plain[-1] == "let":
            plain[-1] = "lets"
        else:
            plain.append(word)
    return plain


def get_ready() -> None:
    """Make what ``is_stock`` needs."""
    form(), _table()


def is_stock(said: Sequence[str]) -> bool:
    """Whether the words (as from ``pieces``) are nothing but stock openings, one after another.

    Fillers such as "okay" may stand between them, but are no opening by themselves.
    """
    said = _plain(said)
    table = _table()
    forms = forms_of(said) if len(said) <= MOST_WORDS else {}
    # Where a phrase may start, and whether a way there holds an opening.
    reached = {0: False}
    for at in range(len(said)):
        if not reached:
            return False
        if at not in reached:
            continue
        opened = reached.pop(at)
        for parts, opens in table.get(said[at], ()):
            end = at + len(parts)
            if said[at:end] == parts:
                reached[end] = reached.get(end, False) or opened or opens
        if at in forms:
            reached[forms[at]] = True
    return reached.get(len(said), False)


class OpenerOnly(Rule):
    """Fails when the answer only opens: stock phrases, punctuation, markup, an empty form.

    A short real answer passes ("42", "B", "是", "+"), so does whatever equals the reference, and
    a turn with tool calls.
    """

    rule: Literal["opener_only"] = "opener_only"

    def get_ready(self) -> None:
        """Make the table of openings."""
        get_ready()

    def check(self, given: RuleInput) -> Finding:
        """Take off forms and markup, then look for a word that is not part of an opening."""
        if given.tool_calls or is_blank(given.text) or _is_reference(given):
            return PASSED if given.tool_calls or not is_blank(given.text) else failed("empty")
        text = compose(given.text)
        if text.strip() in _EMPTY_DATA:
            return PASSED
        text = _ANSWER_TAG.sub(" ", _FENCE.sub(" ", text))
        text = _LIST_NUMBER.sub(" ", _LATEX_FORM.sub(" ", text))
        said = pieces(fold(_APOSTROPHES.sub("", text)))
        if not said:
            symbol = _SYMBOL.search(_RULE_LINE.sub(" ", text))
            return PASSED if symbol else failed("no content: only punctuation or empty markup")
        return failed("only a stock opening") if is_stock(said) else PASSED


def _is_reference(given: RuleInput) -> bool:
    if given.reference is None:
        return False
    return fold(given.text).split() == fold(given.reference).split()
