"""What the tests of gold sets share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def line(number: int = 0, **more: Any) -> dict[str, Any]:
    """A gold line with a point on ``quality``."""
    return {
        "id": f"i{number}",
        "prompt": f"Question {number}?",
        "candidate": f"Answer {number}.",
        "labels": {"quality": [number % 5 + 1]},
        **more,
    }


def pair(number: int = 0, **more: Any) -> dict[str, Any]:
    """A gold line with a choice."""
    return {
        "id": f"p{number}",
        "prompt": f"Question {number}?",
        "candidates": [f"Left {number}.", f"Right {number}."],
        "choice": ["first"],
        **more,
    }


def write(file: Path, lines: Iterable[Any]) -> Path:
    """A JSONL file."""
    file.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return file
