"""Gold sets for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_gold(folder: Path, name: str = "quality", n: int = 12, **labels: Any) -> Path:
    """A gold set of ``n`` items beside the anchors: its candidates are ``Gold answer <n>.``"""
    gold = folder / "anchors" / "gold"
    gold.mkdir(parents=True, exist_ok=True)
    lines = [
        {
            "id": f"gold-{number}", "prompt": f"Gold question {number}?",
            **(
                labels or {
                    "candidate": f"Gold answer {number}.", "labels": {"quality": [3, 3]},
                }
            ),
        }
        for number in range(n)
    ]  # fmt: skip
    file = gold / f"{name}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file
