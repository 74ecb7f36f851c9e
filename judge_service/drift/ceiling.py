"""A ceiling of cost: what may still be asked for without passing it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import SideName
from judge_service.drift.side import Side
from judge_service.errors import ConfigError
from judge_service.gold.item import GoldItem

CHARS_PER_TOKEN = 3.5
SYSTEM_CHARS = 3_000
"""What a judge is told beside the rubric, roughly."""


class UnknownPrice(ConfigError):
    """A ceiling cannot be kept with a judge whose price is not known."""


@dataclass(slots=True, kw_only=True)
class Ceiling:
    """``usd`` bounds what a run may cost. A judgement counts as dear as the dearest of its side so
    far. Before there is one it counts by the judge's ``price``, with replies as long as they may
    be; where only the provider knows the price, the first is asked for alone, to learn it.
    """

    usd: float
    sides: Mapping[SideName, Side]
    spent: float = 0.0
    _dearest: dict[SideName, float] = field(default_factory=dict)
    _in_flight: Counter[SideName] = field(default_factory=Counter)

    def is_known(self, side: SideName) -> bool:
        """Whether a judgement of the side has cost something to go by."""
        return side in self._dearest

    def why_not(self, side: SideName, item: GoldItem) -> str | None:
        """Why one more judgement may not be asked for; None where it may."""
        flying = sum(number * self._dearest.get(s, 0.0) for s, number in self._in_flight.items())
        if self.spent + flying + self._expected(side, item) <= self.usd:
            return None
        return f"the ceiling of ${self.usd:g} would be passed: ${self.spent:.4f} spent"

    def begin(self, side: SideName) -> None:
        """One more is asked for."""
        self._in_flight[side] += 1

    def end(self, side: SideName) -> None:
        """It is over, whatever came of it."""
        self._in_flight[side] -= 1

    def count(self, side: SideName, item: GoldItem, judgement: Judgement) -> None:
        """What a judgement has cost; one of whose requests was not answered, what it may have.

        Raises UnknownPrice.
        """
        usage = judgement.usage
        cost = usage.cost_usd
        if usage.unknown_cost_calls:
            guess = _request_usd(self.sides[side], item)
            cost = None if guess is None else guess * usage.upstream_requests
        if cost is None:
            raise UnknownPrice(
                "a ceiling of cost cannot be kept: the price of a judge is not known; give it one "
                "with price in judges.toml"
            )
        self.spent += cost
        if usage.upstream_requests:
            self._dearest[side] = max(cost, self._dearest.get(side, 0.0))

    def _expected(self, side: SideName, item: GoldItem) -> float:
        known = self._dearest.get(side)
        if known is not None:
            return known
        guess = _request_usd(self.sides[side], item)
        if guess is None:
            return 0.0 if self.usd > 0.0 else math.inf
        return guess * _requests(self.sides[side])


def _requests(side: Side) -> int:
    """How many a judgement takes where all goes well."""
    if side.kind == "compare":
        return 2
    return 1 if side.rubric.judging.ask == "together" else len(side.rubric.criteria)


def _request_usd(side: Side, item: GoldItem) -> float | None:
    """About the most that one request may cost; None where the price is not in ``judges.toml``."""
    price = side.judge.price
    if price is None:
        return None
    chars = SYSTEM_CHARS + len(side.rubric.model_dump_json()) + _chars(item)
    tokens = chars / CHARS_PER_TOKEN
    return (tokens * price.input + side.judge.max_output_tokens * price.output) / 1e6


def _chars(item: GoldItem) -> int:
    prompt = item.prompt if isinstance(item.prompt, str) else "".join(m.text for m in item.prompt)
    said = [
        c.text if c.text is not None else "".join(m.text for m in c.messages or ())
        for c in item.candidates
    ]
    return sum(map(len, (prompt, item.reference or "", *said)))
