"""The gold sets that lie beside the anchors, and which of them is about a rubric."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from judge_service.gold.file import read_gold_file
from judge_service.rubric.rubric import Rubric


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
        gold, wrong = read_gold_file(path)
        faults += wrong
        files.append(
            GoldFile(
                name=path.stem,
                items=len(gold.items),
                choices=sum(bool(item.choices) for item in gold.items),
                criteria=set(gold.criteria),
            )
        )
    return files, faults


def gold_for(rubric: Rubric, files: list[GoldFile]) -> GoldFile | None:
    """The gold set of a rubric: the one of its name, else the largest that fits."""
    own = next((file for file in files if file.name == rubric.id and file.items), None)
    if own is not None:
        return own
    fitting = [file for file in files if file.items and file.fits(rubric)]
    return max(fitting, key=lambda file: file.items, default=None)
