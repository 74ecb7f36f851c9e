"""What the measures read: one pair in both orders, one answer with its points."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import regex

from judge_service.outcome import Choice, Order, PairOutcome
from judge_service.pairwise import PREFERENCE, Gain, gained, pair_outcome

PANEL = ""
"""In place of a judge's id: what a panel came to together. No judge has an empty id."""
Families: TypeAlias = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRecord:
    """A pair as one judge, or a panel, saw it in both orders.

    ``item`` names what was asked: equal items are the same question. ``outcome`` is None when an
    order has no verdict. Of ``decided`` single orders with a winner, the answer shown first won
    ``first_won``; ``fresh`` are the choices that did not come from the cache. ``lengths`` in
    characters and ``marks`` (of markup and emoji) are those of the caller's first and second, None
    where they are not known; ``families`` are empty then.
    """

    judge: str
    item: str
    outcome: PairOutcome | None
    gain: Gain | None
    first_won: int
    decided: int
    fresh: Mapping[Order, Choice] = field(default_factory=dict)
    lengths: tuple[int, int] | None = None
    marks: tuple[int, int] | None = None
    families: tuple[Families, Families] = (frozenset(), frozenset())

    @property
    def preference(self) -> float | None:
        """For the first: 1.0, 0.0, 0.5 for a tie; None when inconsistent or failed."""
        return None if self.outcome is None else PREFERENCE[self.outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRecord:
    """An answer as one judge, or a panel, scored it.

    ``value`` in [0, 1] is its criteria's normalised points by weight, before length control and
    rules; ``fresh`` are the points, by criterion, that did not come from the cache. Values are
    compared within one ``rubric`` only.
    """

    judge: str
    item: str
    rubric: str
    value: float
    fresh: Mapping[str, int] = field(default_factory=dict)
    chars: int
    marks: int | None = None
    families: Families = frozenset()


def of_judge(
    judge: str,
    item: str,
    orders: Mapping[Order, Choice | None],
    *,
    lengths: tuple[int, int] | None = None,
    marks: tuple[int, int] | None = None,
    families: tuple[Families, Families] = (frozenset(), frozenset()),
    cached: Collection[Order] = (),
) -> PairRecord:
    """One judge's pair; a choice is in the caller's order, None where there is no verdict.

    ``cached`` are the orders whose verdict was kept from before.
    """
    given: dict[Order, Choice] = {order: c for order, c in orders.items() if c is not None}
    ab, ba = given.get("AB"), given.get("BA")
    whole = ab is not None and ba is not None
    first_won, decided = shown_first(given) if whole else (0, 0)
    return PairRecord(
        judge=judge,
        item=item,
        outcome=None if ab is None or ba is None else pair_outcome(ab, ba),
        gain=None if ab is None or ba is None else gained(ab, ba),
        first_won=first_won,
        decided=decided,
        fresh={order: choice for order, choice in given.items() if order not in cached},
        lengths=lengths,
        marks=marks,
        families=families,
    )


def of_panel(pairs: Sequence[PairRecord], outcome: PairOutcome | None) -> PairRecord:
    """What a panel's ``pairs`` (at least one) came to together, by the outcome it was given.

    Where it is inconsistent, the position that gained with more of its judges is the one that
    gained, and none where they balance.
    """
    gains = Counter(pair.gain for pair in pairs if pair.gain is not None)
    gain: Gain | None = None
    if outcome == "inconsistent" and gains["primacy"] != gains["recency"]:
        gain = "primacy" if gains["primacy"] > gains["recency"] else "recency"
    one = pairs[0]
    return PairRecord(
        judge=PANEL,
        item=one.item,
        outcome=outcome,
        gain=gain,
        first_won=sum(pair.first_won for pair in pairs),
        decided=sum(pair.decided for pair in pairs),
        lengths=one.lengths,
        marks=one.marks,
        families=one.families,
    )


def shown_first(orders: Mapping[Order, Choice]) -> tuple[int, int]:
    """Of the orders with a winner: how many the answer shown first won, and how many they are."""
    # In order AB the candidate shown first is the caller's first, in BA the second.
    won = (orders.get("AB") == "first") + (orders.get("BA") == "second")
    return won, sum(choice != "tie" for choice in orders.values())


# Of a line with its end before it: a search for that is quicker than one for the place behind it.
_LINE_MARKS = re.compile(r"\n[ \t]{0,3}(?:#{1,6} |[-*+•] |\d{1,3}[.)] |\||>)")
_EMOJI = regex.compile(r"\p{Emoji_Presentation}|[\U0001f000-\U0001faff]")
_FENCE = "```"
LOOKED_AT = 20_000
"""Characters whose marks are counted; those of a longer text are taken to go on at that rate."""


def marks_of(text: str) -> int:
    """How many marks of formatting stand in ``text``: headings, list items, quotes, table rows,
    pairs of ``**``, ``__`` and backticks, code fences, emoji. What stands inside a fence is code
    and not looked at. Quick rather than exact, for it is counted on live traffic.
    """
    if len(text) > LOOKED_AT:
        return round(marks_of(text[:LOOKED_AT]) * len(text) / LOOKED_AT)
    parts = text.split(_FENCE)
    prose = "\n".join(parts[::2])
    marks = len(parts) // 2
    marks += len(_LINE_MARKS.findall("\n" + prose))
    marks += sum(prose.count(mark) // 2 for mark in ("**", "__", "`"))
    return marks + (0 if prose.isascii() else len(_EMOJI.findall(prose)))
