"""Says where a panel is divided: of an even number of judges two points stand in the middle."""

from __future__ import annotations

from collections.abc import Iterable

from judge_service.case import Case
from judge_service.flags import Flag


def flag_split(case: Case, criterion: str, points: Iterable[int]) -> None:
    """Flag a criterion whose two middle points differ: the lower one counts, and no judge need have
    been of one mind with another.
    """
    ordered = sorted(points)
    half = len(ordered) // 2
    if ordered and len(ordered) % 2 == 0 and ordered[half - 1] != ordered[half]:
        case.flag(
            Flag(
                "split_panel",
                f"{criterion}: half of the judges gave more than the point that counts",
            )
        )
