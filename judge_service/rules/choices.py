"""Reading the letter of a multiple-choice answer."""

from __future__ import annotations

import regex

from .answer_forms import announced, last_box, last_tag
from .words import compose, strip_invisible

# A letter alone, in brackets, or with its option's text behind a mark: "B", "(B)", "**B.** Paris".
_OPEN = r"""[\s*_("'`\[{$>#]*"""
_WRAP = r"(?:\\(?:text\w{0,4}|math\w{1,4})\s*\{\s*)?"
_LEAD = r"(?P<lead>(?:the\s+)?(?:correct\s+|right\s+|best\s+)?(?:option|choice)[\s:：]*)?"
_START = regex.compile(
    rf"{_OPEN}{_LEAD}{_OPEN}{_WRAP}(?P<first>[A-Za-z])(?P<mark>[\s*_`'\"]*[)\].:：、,}}$\-–—]|\s*$|[*_`'\"]+|\s)",
    regex.IGNORECASE,
)
_SET = regex.compile(
    r"""[\s*_("'`\[{$]*([A-Z])(?:[\s*_)\]}]*(?:,|&|\+|;|、|，|\s(?:and|und|et|y)\s|和|及)\s*(?:and\s)?[*_(\[{]*([A-Z])(?![\p{L}]))+[\s*_)\]}"'`$.]*"""
)
_RUN = regex.compile(
    r"""[\s*_("'`\[{$]*+(?:\\(?:text\w{0,4}|math\w{1,4})\s*\{\s*)?([A-Z]{2,26}+)[\s*_)\]}"'`$.]*+"""
)
_EITHER = regex.compile(r"^\s*(?:,|;|/|\bor\b|\band\b|或)\s*[*_(\[]*[A-Z](?![\p{L}'])")
_IS_WRONG = regex.compile(
    r"[*_`'\"]*\s(?:is|was)\s+(?:wrong|incorrect|not\s+(?:correct|right)|not\s+the\s+answer)\b"
)
_ARTICLES = frozenset("AI")


def letters_of(text: str, allowed: str) -> frozenset[str]:
    """The option(s) a text chooses, as upper-case letters; empty when it chooses none clearly.

    Looked for in the last box, the last ``<answer>`` tag, after the last "answer is", as the whole
    text, at the start of a one-line text, and as a last line of its own, in this order. "A or B"
    chooses nothing; "A, C" and "AC" choose both.
    """
    box = last_box(text)
    tag = last_tag(text, "answer")
    for found in (box, tag):
        if found is not None:
            return _read(compose(found).strip(), allowed, bare=True)
    plain = strip_invisible(compose(text)).strip()
    said = announced(plain)
    chosen = _read(said, allowed, bare=False) if said is not None else frozenset()
    lines = [line for line in plain.splitlines() if line.strip()]
    if not chosen and len(lines) == 1:
        chosen = _read(lines[0], allowed, bare=True)
    if not chosen and lines:
        chosen = _alone(lines[-1], allowed) or _alone(lines[0], allowed)
    return chosen


def _alone(line: str, allowed: str) -> frozenset[str]:
    """A line that is a letter and nothing else, or a list of letters."""
    line = regex.sub(r"[\s*_()\[\]{}.:`'\"$\\#>]", "", line)
    if len(line) == 1 and line.upper() in allowed:
        return frozenset({line.upper()})
    return _run(line, allowed)


def _run(text: str, allowed: str) -> frozenset[str]:
    """Several letters without anything between them, in the order of the alphabet: "ACD"."""
    found = _RUN.fullmatch(text)
    letters = "" if found is None else found[1]
    in_order = letters == "".join(sorted(set(letters)))
    return frozenset(letters) if in_order and set(letters) <= set(allowed) else frozenset()


def _read(text: str, allowed: str, *, bare: bool) -> frozenset[str]:
    """The letter(s) at the start of a text; ``bare`` says that nothing announced them."""
    text = text[:400]
    several = _SET.match(text)
    if several and not text[several.end() :].strip():
        listed = frozenset([several[1], *several.captures(2)])
        return listed if listed <= frozenset(allowed) else frozenset()
    together = _run(text, allowed)
    if together:
        return together
    match = _START.match(text)
    if match is None or _IS_WRONG.match(text[match.end("first") :]):
        return frozenset()
    letter, rest = match["first"], text[match.end() :]
    clear = not match["mark"].isspace() or not rest.strip()
    led = match["lead"] is not None
    if not clear and not led and (bare or letter.islower() or letter in _ARTICLES):
        return frozenset()
    if letter.upper() not in allowed or _EITHER.match(text[match.end("first") :].lstrip("*_)]}`")):
        return frozenset()
    return frozenset({letter.upper()})
