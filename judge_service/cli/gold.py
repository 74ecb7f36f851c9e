"""Gold sets: which human-labelled items lie beside the anchors, and for which rubric."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from judge_service.rubric import Rubric


@dataclass(slots=True, kw_only=True)
class GoldFile:
    """One ``anchors/gold/<name>.jsonl``: its items, and the criteria or choices they label."""

    name: str
    items: int = 0
    choices: int = 0
    criteria: set[str] = field(default_factory=set)

    def fits(self, rubric: Rubric) -> bool:
        """Whether the labels are about this rubric's criteria, or about a choice for pairs."""
        if rubric.kind == "compare":
            return self.choices > 0
        return {c.name for c in rubric.criteria} <= self.criteria


def read_gold(folder: Path) -> tuple[list[GoldFile], list[str]]:
    """The gold files of a folder, and the faults in them: ``file: line: what``."""
    files: list[GoldFile] = []
    faults: list[str] = []
    for path in sorted(folder.glob("*.jsonl")):
        found = GoldFile(name=path.stem)
        try:
            lines = path.read_text(encoding="utf-8-sig").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            faults.append(f"{path}: cannot be read: {error}")
            continue
        for number, line in enumerate(lines, start=1):
            if line.strip():
                fault = _take(found, line)
                faults += [f"{path}: line {number}: {fault}"] if fault else []
        files.append(found)
    return files, faults


def _take(file: GoldFile, line: str) -> str | None:
    """Count one item; returns what is wrong with it."""
    try:
        item = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    if not isinstance(item, dict):
        return "not an object"
    labels, choice = item.get("labels"), item.get("choice")
    if not isinstance(labels, dict) and not isinstance(choice, list):
        return "neither labels nor choice"
    file.items += 1
    if isinstance(labels, dict):
        file.criteria |= labels.keys()
    else:
        file.choices += 1
    return None


def gold_for(rubric: Rubric, files: list[GoldFile]) -> GoldFile | None:
    """The gold set of a rubric: the one of its name, else the largest that fits."""
    own = next((file for file in files if file.name == rubric.id and file.items), None)
    if own is not None:
        return own
    fitting = [file for file in files if file.items and file.fits(rubric)]
    return max(fitting, key=lambda file: file.items, default=None)
