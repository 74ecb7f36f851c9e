"""Items for people to look at: the most changed, the highest and the lowest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge_service.candidate.exhibit import prompt_text, unread
from judge_service.drift.data import Lined, Row
from judge_service.drift.judgement import Judgement
from judge_service.gold.item import GoldItem

MAX_TEXT_CHARS = 4_000
"""How much of a text a report shows."""
_OPPOSITE = {frozenset({"first", "second"}): 1.0}


def most_changed(lined: Lined, top: int) -> list[dict[str, Any]]:
    """The items whose judgement changed, the largest change first."""
    changed = [
        (change, row)
        for row in lined.judged
        if (change := change_of(row.baseline, row.candidate)) != 0.0
    ]
    changed.sort(key=lambda entry: (-abs(entry[0]), entry[1].item.id))
    return [{**_entry(row), "change": change} for change, row in changed[:top]]


def extremes(lined: Lined, top: int, *, highest: bool) -> list[dict[str, Any]]:
    """The items that the candidate judge scores highest (lowest); pairs have no such order."""
    scored = [row for row in lined.judged if row.candidate.reward is not None]
    sign = -1.0 if highest else 1.0
    scored.sort(key=lambda row: (sign * (row.candidate.reward or 0.0), row.item.id))
    return [_entry(row) for row in scored[:top]]


def change_of(before: Judgement, after: Judgement) -> float:
    """In [-1, 1]: the change of the score; of a pair, 1 for a winner turned round, else 0.5."""
    if before.outcome is not None or after.outcome is not None:
        if before.outcome == after.outcome:
            return 0.0
        return _OPPOSITE.get(frozenset({str(before.outcome), str(after.outcome)}), 0.5)
    if before.points == after.points:
        return 0.0
    shift = (after.score or 0.0) - (before.score or 0.0)
    # Criteria that moved against each other are a change, too.
    return shift if abs(shift) > 1e-12 else 1e-9


def _entry(row: Row) -> dict[str, Any]:
    item = row.item
    return {
        "id": item.id,
        "prompt": _cut(prompt_text(item.prompt)),
        "reference": None if item.reference is None else _cut(item.reference),
        "candidates": [_cut(_text(item, place)) for place in range(len(item.candidates))],
        "humans": _humans(item),
        "baseline": _side(row.baseline),
        "candidate": _side(row.candidate),
    }


def _text(item: GoldItem, place: int) -> str:
    shown = item.candidates[place]
    if shown.messages is not None:
        return prompt_text(shown.messages)
    return unread(shown).text


def _humans(item: GoldItem) -> dict[str, Sequence[Any]]:
    if item.choices:
        return {"choice": list(item.choices)}
    return {name: list(points) for name, points in item.labels.items()}


def _side(judged: Judgement) -> dict[str, Any]:
    if judged.outcome is not None:
        return {
            "outcome": judged.outcome,
            "orders": dict(judged.orders),
            "reasons": dict(judged.reasons),
        }
    return {
        "points": dict(judged.points),
        "score": judged.score,
        "reward": judged.reward,
        "reasons": dict(judged.reasons),
    }


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARS:
        return text
    return f"{text[:MAX_TEXT_CHARS]} … ({len(text) - MAX_TEXT_CHARS:,} more characters)"
