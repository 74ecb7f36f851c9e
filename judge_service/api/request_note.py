"""What is known of the HTTP request that is being served, for log lines and its access line."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from judge_service.events import Attempted, Handlers, Judged

_current: ContextVar[RequestNote | None] = ContextVar("request_note", default=None)


@dataclass(slots=True)
class RequestNote:
    """One request's note. Tasks it starts share it, so what they find out stands in it, too.

    ``client`` is the name of the caller's key; ``code`` the last failed outcome's; ``body_bytes``
    what the request holds of the room for long bodies.
    """

    request_id: str
    client: str | None = None
    outcomes: int = 0
    failed: int = 0
    code: str | None = None
    upstream_requests: int = 0
    body_bytes: int = 0

    def fields(self) -> dict[str, str | int | None]:
        """What the access line says of it: of one outcome its status, of many how many failed."""
        found: dict[str, str | int | None] = {"client": self.client}
        if self.outcomes == 1:
            found["outcome"] = "failed" if self.failed else "success"
        elif self.outcomes:
            found |= {"outcomes": self.outcomes, "failed": self.failed}
        if self.outcomes or self.upstream_requests:
            found |= {"code": self.code, "upstream_requests": self.upstream_requests}
        return found


def begin_note(request_id: str) -> RequestNote:
    """A note for the request that this task serves from now on."""
    note = RequestNote(request_id)
    _current.set(note)
    return note


def current_note() -> RequestNote | None:
    """The note of the request being served; None outside of requests."""
    return _current.get()


def note_client(name: str) -> None:
    """Take note of whose key the request came with."""
    note = _current.get()
    if note is not None:
        note.client = name


def _judged(event: Judged) -> None:
    note = _current.get()
    if note is None:
        return
    note.outcomes += 1
    if event.code is not None:
        note.failed += 1
        note.code = event.code


def _attempted(event: Attempted) -> None:
    note = _current.get()
    if note is not None:
        note.upstream_requests += event.usage.upstream_requests


NOTED: Final[Handlers] = {Judged: _judged, Attempted: _attempted}
"""What the note of the request being served takes note of."""
