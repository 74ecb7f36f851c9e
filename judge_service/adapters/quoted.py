"""What an error says by itself: without what it quotes of the request.

Providers repeat parts of a request in their errors. Those words are a candidate's, and must not be
taken for the provider's own.
"""

from __future__ import annotations

from bisect import bisect_left

WINDOW = 10
"""Every stretch of twice this many characters in common is found, and some shorter ones."""
PLACE = "…"


def without_quoted(message: str, sent: str) -> str:
    """``message`` with each longer stretch that stands in ``sent``, too, replaced by ``PLACE``.

    White space counts as one blank on both sides. A few searches through ``sent`` for every
    ``WINDOW`` characters of the message, whatever they are.
    """
    message, text = " ".join(message.split()), " ".join(sent.split())
    parts: list[str] = []
    done = at = 0
    while at + WINDOW <= len(message):
        if message[at : at + WINDOW] not in text:
            at += WINDOW
            continue
        start = _start(message, text, done, at)
        end = _end(message, text, start, at + WINDOW)
        parts += [message[done:start], PLACE]
        done = at = end
    return "".join([*parts, message[done:]])


def _start(message: str, text: str, least: int, at: int) -> int:
    """The earliest place from which all up to the end of the window at ``at`` is in ``text``."""
    places = range(least, at + 1)
    return places[bisect_left(places, True, key=lambda n: message[n : at + WINDOW] in text)]


def _end(message: str, text: str, start: int, least: int) -> int:
    """The latest place up to which all from ``start`` is in ``text``."""
    places = range(least, len(message) + 1)
    return places[bisect_left(places, True, key=lambda n: message[start:n] not in text) - 1]
