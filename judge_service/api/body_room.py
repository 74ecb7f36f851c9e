"""How much of long bodies an app holds at once: each may be long, all of them may not."""

from __future__ import annotations

from judge_service.api.admission import later
from judge_service.api.request_note import RequestNote, current_note

LONG_BYTES = 1024 * 1024
"""Shorter bodies are not counted: how many of them there can be is bounded by the door."""
MOST_BYTES = 256 * 1024 * 1024
"""Of all long bodies of one app. What they say takes several times as much memory."""


class BodyRoom:
    """The bytes of long bodies that requests hold from their arrival to their answer; of bodies
    longer than ``LONG_BYTES``.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._held = 0

    def hold(self, size: int) -> None:
        """The body of the request being served is ``size`` bytes long so far.

        Raises Problem 503 when the others leave no room for it.
        """
        note = current_note()
        if note is None:
            return
        more = size - note.body_bytes
        if self._held + more > self._most:
            raise later(503, "overloaded", "too many large bodies at once", None)
        self._held += more
        note.body_bytes = size

    def leave(self, note: RequestNote) -> None:
        """A request is over."""
        self._held -= note.body_bytes
        note.body_bytes = 0
