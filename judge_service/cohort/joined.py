"""What became of a member's group, as it is posted on the board and told to each member."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_service.cohort.entries import Entry
from judge_service.errors import CohortIncomplete, JudgingError
from judge_service.outcome import Ranked, RankOutcome
from judge_service.usage import Usage
from judge_service.wire import error_wire, rank_wire

_BLAMED = re.compile(r"\Acandidates\[\d+\](?:, candidates\[\d+\])*(?=: )")
Posted = Mapping[str, Any]
"""``group`` is the wire form of a ranking or None, ``members`` the names in its order, ``arrived``
how many members there were (None where that is not known), ``error`` what it failed of, ``tries``
how often it was judged so far.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What became of the group of the member ``name``. ``spent`` is what this member's request has
    cost: of all that a group costs, one request bears each part.
    """

    name: str
    generation: int
    posted: Posted
    spent: Usage = field(default_factory=Usage)


Led = tuple[Posted, Usage]
"""What came of a generation, and what that has cost here."""


def judged_group(entries: Sequence[Entry], size: int, outcome: RankOutcome, tries: int) -> Posted:
    """What is posted of a group that was judged, with a reward or in vain."""
    error: dict[str, Any] | None = None
    if not isinstance(outcome, Ranked):
        error = dict(error_wire(outcome.error))
        error["message"] = _by_name(error["message"], entries)
    return {"members": [one.name for one in entries], "arrived": len(entries), "size": size,
            "group": rank_wire(outcome), "error": error, "tries": tries}  # fmt: skip


def _by_name(message: str, entries: Sequence[Entry]) -> str:
    """The message with members by their names, where it begins with whose fault it is: their
    order is the group's own, and nobody has sent them as a list. Those that are alike have none.
    """

    def names(places: re.Match[str]) -> str:
        found = [entries[int(place)] for place in re.findall(r"\d+", places[0])]
        told = ["a member" if one.text else f"member {one.name!r}" for one in found]
        return ", ".join(dict.fromkeys(told))

    return _BLAMED.sub(names, message, count=1)


def without_group(
    error: JudgingError, size: int, tries: int = 0, *, arrived: int | None = None
) -> Posted:
    """What is told where there is no ranking."""
    return {"members": None, "arrived": arrived, "size": size, "group": None,
            "error": error_wire(error), "tries": tries}  # fmt: skip


def incomplete(arrived: int, size: int) -> Posted:
    """What is told of a group that did not come together."""
    lacking = CohortIncomplete(f"{arrived} of {size} members arrived in time")
    return without_group(lacking, size, arrived=arrived)
