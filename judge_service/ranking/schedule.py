"""Which pairs of a group are asked in which order, for a number of calls.

All orders of all pairs stand in one fixed sequence, and a budget takes its beginning: rings of a
circulant graph first (each member is shown first once and second once per ring), short and long
steps in turn so that few rings already connect everybody closely, then the same rings the other way
round. With every order asked, nothing is left to a model.
"""

from __future__ import annotations

from typing import NamedTuple

FULL_UP_TO = 8
ONCE_UP_TO = 16
CALLS_PER_MEMBER = 8
GRADED_ONCE_UP_TO = 8
GRADED_CALLS_PER_MEMBER = 4
AFTER_LISTS_CALLS_PER_MEMBER = 5


class Meeting(NamedTuple):
    """One call: who is shown first and who second, as numbers from 0."""

    first: int
    second: int


def all_orders(members: int) -> int:
    """How many calls it takes to ask every pair in both orders."""
    return members * (members - 1)


def fewest(members: int) -> int:
    """The smallest budget with which all are connected and position cannot pass for strength: a
    pair in both orders, or a ring in which everybody is shown first once and second once.
    """
    return members


def default_calls(members: int, *, graded: bool = False, after_lists: bool = False) -> int:
    """The calls per judge when the caller sets no budget.

    Up to 8 members every pair in both orders, up to 16 every pair once, above that 8 calls for
    each member. Of ``graded`` preferences it takes fewer: up to 8 members every pair once, above
    that 4 calls for each member. ``after_lists`` it takes no more than 5 for each member, lists
    included.
    """
    if after_lists:
        return min(default_calls(members, graded=graded), AFTER_LISTS_CALLS_PER_MEMBER * members)
    if graded:
        once = max(fewest(members), all_orders(members) // 2)
        return once if members <= GRADED_ONCE_UP_TO else GRADED_CALLS_PER_MEMBER * members
    if members <= FULL_UP_TO:
        return all_orders(members)
    if members <= ONCE_UP_TO:
        return all_orders(members) // 2
    return CALLS_PER_MEMBER * members


def schedule(members: int, calls: int) -> list[Meeting]:
    """The first ``calls`` meetings; never more than there are."""
    once = [meeting for offset in _offsets(members) for meeting in _ring(members, offset)]
    both = once + [Meeting(second, first) for first, second in once]
    return both[: max(0, calls)]


def _offsets(members: int) -> list[int]:
    """Steps from one member to the next, 1 first, then those farthest from all before."""
    left = list(range(2, members // 2 + 1))
    taken = [1] if members > 1 else []
    while left:
        best = max(left, key=lambda step: (min(abs(step - t) for t in taken), -step))
        left.remove(best)
        taken.append(best)
    return taken


def _ring(members: int, offset: int) -> list[Meeting]:
    """Everybody against the one ``offset`` places further, each pair once.

    The orders turn from ring to ring and alternate where a ring meets itself halfway, so that
    nobody is shown first much more often than second.
    """
    if 2 * offset == members:
        pairs = [Meeting(a, a + offset) for a in range(offset)]
        return [p if p.first % 2 == 0 else Meeting(p.second, p.first) for p in pairs]
    return [Meeting(a, (a + offset) % members) for a in range(members)]
