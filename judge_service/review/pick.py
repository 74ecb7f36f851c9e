"""Which items people look at: a few of each reason, each item once."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from judge_service.review.seen import Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many of each. ``random`` ones hide that others were chosen, and show what is usual."""

    highest: int = 0
    lowest: int = 0
    changed: int = 0
    inconsistent: int = 0
    random: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """A chosen item and why it was chosen."""

    seen: Seen
    why: tuple[str, ...]


def pick(seen: Sequence[Seen], counts: Counts, draw: random.Random) -> list[Picked]:
    """The chosen items in an order that says nothing.

    Highest and lowest are by reward, which pairs do not have. An item with several reasons stands
    once with all of them; those at random are of the rest.
    """
    chosen = {
        "highest": _first(seen, counts.highest, lambda s: None if s.reward is None else -s.reward),
        "lowest": _first(seen, counts.lowest, lambda s: s.reward),
        "changed": _first(seen, counts.changed, lambda s: -abs(s.change) or None),
        "inconsistent": _first(seen, counts.inconsistent, lambda s: -s.unsteady or None),
    }
    why: dict[str, list[str]] = {}
    for reason, items in chosen.items():
        for one in items:
            why.setdefault(one.item.id, []).append(reason)
    rest = [one for one in seen if one.item.id not in why]
    for one in draw.sample(rest, min(counts.random, len(rest))):
        why[one.item.id] = ["random"]
    picked = [Picked(seen=one, why=tuple(why[one.item.id])) for one in seen if one.item.id in why]
    draw.shuffle(picked)
    return picked


def _first(seen: Sequence[Seen], count: int, key: Callable[[Seen], float | None]) -> list[Seen]:
    """The ``count`` items of the least key; those without one (None) are none of them."""
    keyed = [(value, one.item.id, one) for one in seen if (value := key(one)) is not None]
    keyed.sort(key=lambda entry: entry[:2])
    return [one for _, _, one in keyed[:count]]


REASONS = tuple(field.name for field in fields(Counts))
"""All there are."""
