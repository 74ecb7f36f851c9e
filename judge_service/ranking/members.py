"""A group's distinct answers, in an order that the caller's list has no part in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judge_service.case import Case
from judge_service.data_block import render_messages
from judge_service.exhibit import Exhibit, prompt_text
from judge_service.inspection import Inspection


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinct:
    """One answer of a group: who stands for it, and at which places of the list it occurs."""

    shown: Exhibit
    places: tuple[int, ...]


def distinct(
    case: Case, inspections: Sequence[Inspection], places: Iterable[int], *, exact: bool
) -> list[Distinct]:
    """The distinct answers at ``places``, ordered by a hash of their texts under this prompt.

    ``exact`` takes the same text for the same answer only; otherwise white space and invisible
    characters do not count, as in a comparison.
    """
    salt = f"{case.rubric.rubric_hash}\n{prompt_text(case.request.prompt)}"
    found: dict[str, list[tuple[str, int]]] = {}
    for place in places:
        shown = inspections[place].shown
        digest = _digest(salt, shown)
        found.setdefault(digest if exact else shown.key, []).append((digest, place))
    ordered = sorted((*min(same), same) for same in found.values())
    return [
        Distinct(
            shown=inspections[representative].shown,
            places=tuple(sorted(place for _, place in same)),
        )
        for _, representative, same in ordered
    ]


def _digest(salt: str, shown: Exhibit) -> str:
    digest = hashlib.sha256()
    for part in (salt, render_messages(shown.context), shown.shown_text):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()
