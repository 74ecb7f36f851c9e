"""Keeps secrets and prompt text out of a judge's reason before it is returned or stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from judge_service.text.escape import escape_character

MIN_SYSTEM_RUN = 40
"""Characters in a row that a reason may not share with the system message."""
REDACTED = "[redacted]"

_SPACES = re.compile(r"\s")
# Control characters, surrogates, line separators, and the marks that turn the direction of text.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def redact(reason: str, *, secrets: Iterable[str], system: str) -> str:
    r"""``reason`` without any of ``secrets`` and without long quotations of ``system``.

    Secrets count in any case, quotations from ``MIN_SYSTEM_RUN`` characters on, whatever the kind
    of whitespace. Control and direction characters are shown as ``\u{HEX}``; newline and tab stay.
    Linear in the lengths of both texts.
    """
    hidden = bytearray(len(reason))
    lowered = reason.lower() if reason.isascii() else None
    for secret in filter(None, secrets):
        for start in _places(secret, reason, lowered):
            _hide(hidden, start, start + len(secret))
    _hide_quotations(hidden, reason, system)
    if b"\x01" not in hidden:
        return visible(reason)
    parts = []
    for run in re.finditer(rb"\x00+|\x01+", hidden):
        shown = run[0][0] == 0
        parts.append(visible(reason[run.start() : run.end()]) if shown else REDACTED)
    return "".join(parts)


def visible(text: str) -> str:
    r"""``text`` with the characters that act on a terminal or a page shown as ``\u{HEX}``."""
    return _HARMFUL.sub(lambda match: escape_character(match[0]), text)


def _places(secret: str, reason: str, lowered: str | None) -> Iterator[int]:
    """Where the secret stands in the reason, in any case; ``lowered`` is the reason in lower case
    where it is ASCII.
    """
    if lowered is None or not secret.isascii():
        yield from (match.start() for match in re.finditer(re.escape(secret), reason, re.I))
        return
    # Secrets are new for every call: compiling a pattern for each costs more than the search.
    secret = secret.lower()
    start = lowered.find(secret)
    while start >= 0:
        yield start
        start = lowered.find(secret, start + len(secret))


def _hide_quotations(hidden: bytearray, reason: str, system: str) -> None:
    size = MIN_SYSTEM_RUN
    said, source = _SPACES.sub(" ", reason), _evened(system)
    # A run of that length covers one of these pieces, wherever it begins.
    pieces = (said[i : i + size // 2] for i in range(0, len(said) - size // 2 + 1, size // 2))
    if not any(piece in source for piece in pieces):
        return
    runs = {said[i : i + size] for i in range(len(said) - size + 1)}
    shared = {run for i in range(len(source) - size + 1) if (run := source[i : i + size]) in runs}
    if not shared:
        return
    done = 0
    for i in range(len(said) - size + 1):
        if said[i : i + size] in shared:
            _hide(hidden, max(i, done), i + size)
            done = i + size


@lru_cache(maxsize=64)
def _evened(system: str) -> str:
    return _SPACES.sub(" ", system)


def _hide(hidden: bytearray, start: int, end: int) -> None:
    hidden[start:end] = b"\x01" * (end - start)
