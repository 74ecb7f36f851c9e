"""A group's distinct answers, in an order that the caller's list has no part in."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from judge_service.candidate.exhibit import Exhibit, prompt_text
from judge_service.candidate.inspection import Inspection
from judge_service.envelope.data_block import encode_messages
from judge_service.envelope.escape import encode
from judge_service.judging.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinct:
    """One answer of a group: who stands for it, and at which places of the list it occurs."""

    shown: Exhibit
    places: tuple[int, ...]


def distinct(
    case: Case, inspections: Sequence[Inspection], places: Iterable[int], *, exact: bool
) -> list[Distinct]:
    """The distinct answers at ``places``, ordered by a hash of what is shown under this prompt.

    ``exact`` takes what looks the same to a judge for the same answer only; otherwise white space
    and invisible characters do not count, as in a comparison.
    """
    salt = f"{case.rubric.rubric_hash}\n{prompt_text(case.request.prompt)}"
    ordered = []
    for same in _merged(salt, inspections, places, exact=exact):
        # The place decides only between candidates that are the same to the last character.
        best = min(
            (_digest(salt, inspections[n].shown), inspections[n].shown.text, n) for n in same
        )
        ordered.append((best, same))
    return [
        Distinct(shown=inspections[representative].shown, places=tuple(sorted(same)))
        for (_, _, representative), same in sorted(ordered)
    ]


def _merged(
    salt: str, inspections: Sequence[Inspection], places: Iterable[int], *, exact: bool
) -> list[list[int]]:
    """The places in groups: two that have one key in common are together."""
    groups: list[tuple[frozenset[Hashable], list[int]]] = []
    for place in places:
        shown = inspections[place].shown
        keys: frozenset[Hashable] = frozenset({_digest(salt, shown)})
        if not exact:
            keys |= shown.keys
        joined = [group for group in groups if group[0] & keys]
        groups = [group for group in groups if not group[0] & keys]
        groups.append(
            (
                keys.union(*(known for known, _ in joined)),
                [place, *(other for _, others in joined for other in others)],
            )
        )
    return [same for _, same in groups]


def _digest(salt: str, shown: Exhibit) -> str:
    digest = hashlib.sha256()
    block = encode(shown.shown) if isinstance(shown.shown, str) else encode_messages(shown.shown)
    for part in (salt, encode_messages(shown.context), block):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()
