"""A group's distinct answers, in an order that the caller's list has no part in."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from judge_service.candidate.exhibit import Exhibit, prompt_text
from judge_service.candidate.inspection import Inspection
from judge_service.case import Case
from judge_service.text.data_block import encode_messages
from judge_service.text.escape import encode
from judge_service.text.size import LONG, size_of

VERY_LONG = 50 * LONG
"""So many characters are not worked on in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinct:
    """One answer of a group: who stands for it, and at which places of the list it occurs."""

    shown: Exhibit
    places: tuple[int, ...]


async def digests_of(case: Case, inspections: Sequence[Inspection]) -> list[str]:
    """For each candidate a hash of what is shown of it, salted with rubric and prompt.

    Raises DeadlineExceeded.
    """
    salt = f"{case.rubric.rubric_hash}\n{prompt_text(case.request.prompt)}"
    begun = hashlib.sha256()
    _add(begun, salt)
    everything = [one.shown for one in inspections]
    size = size_of(*(one.context for one in everything), *(one.shown for one in everything))
    if size < LONG:
        return _digests(begun, everything)
    digests: list[str] = []
    # One after the other where they are very long: what was begun goes on after the deadline.
    step = len(everything) if size < VERY_LONG else 1
    for at in range(0, len(everything), step):
        work = partial(_digests, begun, everything[at : at + step])
        digests += await case.deadline.in_thread(work, "its candidates were being told apart")
    return digests


def distinct(
    digests: Sequence[str],
    inspections: Sequence[Inspection],
    places: Iterable[int],
    *,
    exact: bool,
) -> list[Distinct]:
    """The distinct answers at ``places``, ordered by their ``digests``.

    ``exact`` takes what looks the same to a judge for the same answer only; otherwise white space
    and invisible characters do not count, as in a comparison.
    """
    ordered = []
    for same in _merged(digests, inspections, places, exact=exact):
        # The place decides only between candidates that are the same to the last character.
        best = min((digests[n], inspections[n].shown.text, n) for n in same)
        ordered.append((best, same))
    return [
        Distinct(shown=inspections[representative].shown, places=tuple(sorted(same)))
        for (_, _, representative), same in sorted(ordered)
    ]


def _merged(
    digests: Sequence[str],
    inspections: Sequence[Inspection],
    places: Iterable[int],
    *,
    exact: bool,
) -> list[list[int]]:
    """The places in groups: two that have one key in common are together."""
    groups: list[tuple[frozenset[Hashable], list[int]]] = []
    for place in places:
        shown = inspections[place].shown
        # A text may spell what messages are shown as.
        keys: frozenset[Hashable] = frozenset({(digests[place], isinstance(shown.shown, str))})
        if not exact:
            keys |= shown.identity.keys
        joined = [group for group in groups if group[0] & keys]
        groups = [group for group in groups if not group[0] & keys]
        groups.append(
            (
                keys.union(*(known for known, _ in joined)),
                [place, *(other for _, others in joined for other in others)],
            )
        )
    return [same for _, same in groups]


def _digests(begun: hashlib._Hash, shown: Iterable[Exhibit]) -> list[str]:
    found = []
    for one in shown:
        digest = begun.copy()
        _add(digest, encode_messages(one.context))
        block = encode(one.shown) if isinstance(one.shown, str) else encode_messages(one.shown)
        _add(digest, block)
        found.append(digest.hexdigest())
    return found


def _add(digest: hashlib._Hash, part: str) -> None:
    data = part.encode("utf-8", "surrogatepass")
    digest.update(b"%d:" % len(data))
    digest.update(data)
