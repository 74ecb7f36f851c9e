"""Recorded reviews: scores of two answers in one reply, and what they come to."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.recorded_pairs import read
from judge_service.statistics.bootstrap import Bootstrap
from judge_service.statistics.shift import mean_shift

_NAMED = [
    re.compile(rf"^Assistant {n}: *([0-9]+(?:\.[0-9]+)?)(?:/10)?$", re.MULTILINE) for n in (1, 2)
]


def number(text: str) -> float | None:
    """The number that a text is; None where it is none."""
    try:
        return float(text.strip())
    except ValueError:
        return None


def review_cells(folder: Path) -> dict[str, dict[str, Any]]:
    """Scores of two answers in one reply, each question asked in one order only."""
    scores: defaultdict[str, list[tuple[float, float] | None]] = defaultdict(list)
    for row in read(folder, "vicuna_reviews_gpt35_vs_vicuna.jsonl.gz"):
        scores[f"vicuna reviews|{row['judge']}"].append(_two_scores(row["text"]))
    found: dict[str, dict[str, Any]] = {}
    for cell, given in scores.items():
        known = [pair for pair in given if pair is not None]
        shifts = [second - first for first, second in known]
        columns = [[pair[place] for pair in known] for place in (0, 1)]
        shift = mean_shift(*columns, draws=Bootstrap(len(known), draws=1))
        found[cell] = {
            "n": len(given),
            "error": len(given) - len(known),
            "first": sum(moved < 0 for moved in shifts),
            "second": sum(moved > 0 for moved in shifts),
            "tie": sum(moved == 0 for moved in shifts),
            "mean_shift": None if shift is None else shift.value,
        }
    return found


def _two_scores(text: str) -> tuple[float, float] | None:
    """The two numbers of the first line, or those that the assistants' names stand before; None
    for anything else.
    """
    first_line = text.strip().partition("\n")[0].replace(",", " ")
    numbers = [number(word) for word in first_line.split()]
    if len(numbers) == 2 and numbers[0] is not None and numbers[1] is not None:
        return numbers[0], numbers[1]
    named = [_NAMED[place].findall(text) for place in (0, 1)]
    if any(len(found) != 1 for found in named):
        return None
    return float(named[0][0]), float(named[1][0])
