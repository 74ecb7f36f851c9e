"""What stands on a board, as values: who is in a generation, when it began, how it was closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

Arrival = Literal["there", "taken", "full"]
"""``taken`` says that the same member is there with another candidate."""
Mark = Literal["gone", "done"]
"""What became of a held member that is no longer there: its caller was lost before it was
answered, or it was answered.
"""


class Entry(NamedTuple):
    """One member: its name and the hash of its candidate. Of a held one also who waits for it,
    ``caller``, in which process, ``host``, and, where members are alike, the text it has in common
    with others.
    """

    name: str
    own: str
    caller: str = ""
    host: str = ""
    text: str = ""


class Left(NamedTuple):
    """What a member left at its place: its candidate as JSON values."""

    entry: Entry
    candidate: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """``serial`` is the generation's number as callers are told it, ``closes_at`` (wall clock,
    seconds) when it stops waiting, None as long as anybody waits; ``at`` when it was written.
    """

    serial: int
    closes_at: float | None
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """Who belongs to a generation once and for all; they are judged if they are ``enough``."""

    entries: tuple[Entry, ...]
    enough: bool

    def find(self, name: str) -> Entry | None:
        """A member by its name."""
        return next((one for one in self.entries if one.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One generation as it is found; ``began`` is None where there is none."""

    number: int
    began: Began | None
    closed: Closed | None

    def waits(self, now: float) -> bool:
        """Whether it still takes members."""
        if self.began is None or self.closed is not None:
            return False
        return self.began.closes_at is None or now < self.began.closes_at

    def ends(self, now: float) -> bool:
        """Whether its time is up and nobody has closed it yet."""
        return self.began is not None and self.closed is None and not self.waits(now)


def closed_json(closed: Closed) -> dict[str, Any]:
    """As plain JSON values."""
    return asdict(closed)


def closed_of(data: Mapping[str, Any]) -> Closed:
    """From its JSON values."""
    entries = tuple(Entry(*entry) for entry in data["entries"])
    return Closed(entries=entries, enough=data["enough"])
