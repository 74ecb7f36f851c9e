"""Records and results made up for tests, with known biases in them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from judge_service.bias.record import PairRecord, of_judge
from judge_service.outcome import Choice

WON: dict[bool, Choice] = {True: "first", False: "second"}


def pair(
    number: int,
    ab: Choice | None,
    ba: Choice | None,
    *,
    judge: str = "j",
    lengths: tuple[int, int] | None = (100, 100),
    marks: tuple[int, int] | None = None,
    families: tuple[str, str] = ("", ""),
) -> PairRecord:
    """One pair; choices are in the caller's order."""
    first, second = (frozenset({name} if name else ()) for name in families)
    return of_judge(
        judge, f"item {number}", {"AB": ab, "BA": ba},
        lengths=lengths, marks=marks, families=(first, second),
    )  # fmt: skip


def by_length(count: int, *, seed: int, slope: float, quality: float = 0.0) -> list[PairRecord]:
    """Consistent pairs: the log-odds of the first are ``quality`` plus ``slope`` for every 500
    characters that it is longer.
    """
    draw = random.Random(seed)  # noqa: S311 - a repeatable draw, no secret
    pairs = []
    for number in range(count):
        lengths = (draw.randrange(100, 1500), draw.randrange(100, 1500))
        log_odds = quality + slope * (lengths[0] - lengths[1]) / 500
        won = WON[draw.random() < 1 / (1 + 2.718281828**-log_odds)]
        pairs.append(pair(number, won, won, lengths=lengths))
    return pairs


def turned(pairs: Sequence[PairRecord]) -> list[PairRecord]:
    """The same pairs with first and second called the other way round."""
    other: dict[str, Choice] = {"first": "second", "second": "first", "tie": "tie"}
    return [
        of_judge(
            p.judge, p.item, {"AB": other[p.fresh["BA"]], "BA": other[p.fresh["AB"]]},
            lengths=None if p.lengths is None else (p.lengths[1], p.lengths[0]),
            marks=None if p.marks is None else (p.marks[1], p.marks[0]),
        )
        for p in pairs
    ]  # fmt: skip


def compared(
    choices: Mapping[str, tuple[str | None, str | None]],
    *,
    outcome: str | None = "first",
    lengths: tuple[int, int] = (100, 50),
    cached: bool = False,
    metadata: Any = None,
) -> dict[str, Any]:
    """A comparison as it is written: the choices of each judge in both orders."""
    orders = [
        {"order": order, "choice": choice, "judge": judge}
        for judge, both in choices.items()
        for order, choice in zip(("AB", "BA"), both, strict=True)
    ]
    return {
        "status": "failed" if outcome is None else "success",
        "outcome": outcome,
        "orders": orders,
        "verdicts": [
            {**order, "family": f"{order['judge']}-family", "cached": cached}
            for order in orders
            if order["choice"] is not None
        ],
        "short_circuited": False,
        "metrics": {"length_chars/first": lengths[0], "length_chars/second": lengths[1]},
        "metadata": metadata,
    }


def assessed(
    points: Mapping[str, Mapping[str, int]],
    normalized: Mapping[str, tuple[int, float]],
    *,
    chars: int = 100,
    cached: bool = False,
    metadata: Any = None,
) -> dict[str, Any]:
    """An assessment as it is written: each judge's points, and the outcome's point and value by
    criterion, all of equal weight.
    """
    return {
        "status": "success",
        "reward": 0.5,
        "short_circuited": False,
        "rubric_hash": "hash",
        "criteria": {
            name: {"point": point, "normalized": value, "weight": 1 / len(normalized)}
            for name, (point, value) in normalized.items()
        },
        "verdicts": [
            {
                "judge": judge, "family": f"{judge}-family", "criterion": name, "point": point,
                "cached": cached,
            }
            for judge, given in points.items()
            for name, point in given.items()
        ],
        "metrics": {"length_chars": chars},
        "metadata": metadata,
    }  # fmt: skip
