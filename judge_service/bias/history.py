"""What each judge did lately with pairs: position and length, for flags and live figures."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import comb
from typing import NamedTuple

from judge_service.outcome import Choice
from judge_service.pairwise import gained

WINDOW = 500
MIN_PAIRS = 20
LENGTH_SHARE = 0.9
LENGTH_P = 0.001


class Pair(NamedTuple):
    """One pair, in both orders. ``longer_won`` is None for ties, flips and equal lengths.
    ``lengths`` in characters and ``marks`` of formatting are those of the caller's two answers.
    """

    ab: Choice
    ba: Choice
    longer_won: bool | None
    lengths: tuple[int, int]
    marks: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasFigures:
    """Counts over a judge's recent pairs.

    ``first_position_share`` is the share of single orders with a winner in which the candidate
    shown first won; it is 0.5 for a judge without position bias whatever the candidates are.
    ``orders_decided`` is how many such orders there are, ``lengths_decided`` how many pairs with a
    consistent winner and different lengths ``longer_won_share`` is made of.
    """

    pairs: int
    consistent: int
    ties: int
    primacy: int
    recency: int
    first_position_share: float | None
    longer_won_share: float | None
    orders_decided: int = 0
    lengths_decided: int = 0


@dataclass(slots=True)
class PairHistory:
    """The last ``WINDOW`` pairs of every judge."""

    _pairs: dict[str, deque[Pair]] = field(default_factory=dict)

    def add(
        self,
        judge: str,
        ab: Choice,
        ba: Choice,
        lengths: tuple[int, int],
        marks: tuple[int, int] | None = None,
    ) -> None:
        """Note a pair in which both orders have a verdict. ``lengths`` in characters."""
        longer: bool | None = None
        if ab == ba and ab != "tie" and lengths[0] != lengths[1]:
            longer = (lengths[0] > lengths[1]) == (ab == "first")
        pair = Pair(ab, ba, longer, lengths, marks)
        self._pairs.setdefault(judge, deque(maxlen=WINDOW)).append(pair)

    def all(self) -> dict[str, tuple[Pair, ...]]:
        """The pairs of every judge, oldest first."""
        return {judge: tuple(pairs) for judge, pairs in self._pairs.items()}

    def figures(self, judge: str) -> BiasFigures:
        """The figures of one judge; all zero and None before its first pair."""
        pairs = self._pairs.get(judge, deque())
        # In order AB the candidate shown first is the caller's first, in BA the second.
        shown_first = [p.ab == "first" for p in pairs if p.ab != "tie"]
        shown_first += [p.ba == "second" for p in pairs if p.ba != "tie"]
        by_length = [p.longer_won for p in pairs if p.longer_won is not None]
        return BiasFigures(
            pairs=len(pairs),
            consistent=sum(p.ab == p.ba for p in pairs),
            ties=sum(p.ab == p.ba == "tie" for p in pairs),
            primacy=sum(gained(p.ab, p.ba) == "primacy" for p in pairs),
            recency=sum(gained(p.ab, p.ba) == "recency" for p in pairs),
            first_position_share=_share(shown_first),
            longer_won_share=_share(by_length),
            orders_decided=len(shown_first),
            lengths_decided=len(by_length),
        )

    def follows_length(self, judge: str) -> bool:
        """Whether the judge's recent wins are explained by length alone.

        At least ``MIN_PAIRS`` decided pairs, nine in ten of them won by the longer answer, and
        that under a fair coin less likely than one in a thousand (one-sided binomial test).
        """
        by_length = [p.longer_won for p in self._pairs.get(judge, ()) if p.longer_won is not None]
        n, wins = len(by_length), sum(by_length)
        if n < MIN_PAIRS or wins < LENGTH_SHARE * n:
            return False
        return sum(comb(n, k) for k in range(wins, n + 1)) / 2.0**n < LENGTH_P


def _share(values: list[bool]) -> float | None:
    return sum(values) / len(values) if values else None
