"""Where the code of a Markdown text stands: fenced blocks and inline code spans.

Follows CommonMark, except that an opening fence met inside a block shows that the block before it
was never closed: text written by models has such leftovers, and they must not turn what follows
inside out.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

Span = tuple[int, int]

_FENCE = re.compile(r"^[ \t]{0,12}(?:>[ \t]{0,3}){0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_BLANK = re.compile(r"\n[ \t]*\n")


def fenced_spans(text: str, *, unclosed: bool = True) -> list[Span]:
    """Return the spans of fenced blocks, fences included, in order.

    A block that is still open at the end counts when ``unclosed`` is true.
    """
    spans: list[Span] = []
    start, mark = -1, ""
    for match in _FENCE.finditer(text):
        fence, info = match[1], match[2].strip()
        if start >= 0 and fence[0] == mark[0] and len(fence) >= len(mark) and not info:
            spans.append((start, match.end()))
            start = -1
        elif (start < 0 or fence[0] == mark[0]) and "`" not in info:
            start, mark = match.start(), fence
    if start >= 0 and unclosed:
        spans.append((start, len(text)))
    return spans


def code_spans(text: str, *, unclosed: bool = True) -> list[Span]:
    """Return the spans of fenced blocks and inline code, in order and without overlap."""
    if "`" not in text and "~~~" not in text:
        return []
    fences = fenced_spans(text, unclosed=unclosed)
    found: list[Span] = []
    position = 0
    for start, end in (*fences, (len(text), len(text))):
        found.extend(_inline(text, position, start))
        if end > start:
            found.append((start, end))
        position = end
    return found


def inside(spans: Sequence[Span], position: int) -> bool:
    """Whether ``position`` lies in one of ``spans`` (ordered, without overlap)."""
    index = bisect_right(spans, (position, sys.maxsize)) - 1
    return index >= 0 and position < spans[index][1]


def _inline(text: str, start: int, end: int) -> list[Span]:
    """Inline code between two offsets: a run of backticks up to the next run as long, in linear
    time because that next run is looked up from a table filled from the back.
    """
    runs = [m.span() for m in _TICKS.finditer(text, start, end)]
    if len(runs) < 2:
        return []
    blanks = [m.start() for m in _BLANK.finditer(text, start, end)]
    closers: dict[int, int] = {}
    closing = [0] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing[index] = closers.get(length, 0)
        closers[length] = index
    found: list[Span] = []
    index = 0
    while index < len(runs):
        other = closing[index]
        if other and _one_paragraph(blanks, runs[index][1], runs[other][0]):
            found.append((runs[index][0], runs[other][1]))
            index = other
        index += 1
    return found


def _one_paragraph(blanks: Sequence[int], start: int, end: int) -> bool:
    at = bisect_left(blanks, start)
    return at == len(blanks) or blanks[at] >= end
