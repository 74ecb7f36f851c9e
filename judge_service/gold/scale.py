"""Whether the labels of people are on the scale that a judge is asked on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from judge_service.gold.item import GoldItem
from judge_service.rubric.rubric import Rubric


def scales_of(rubric: Rubric) -> dict[str, tuple[int, ...]]:
    """The points of each criterion that has a scale, worst to best."""
    return {c.name: c.points.values for c in rubric.criteria if c.scale is not None}


def off_scale(items: Iterable[GoldItem], scales: Mapping[str, Sequence[int]]) -> list[str]:
    """A line for each item and criterion with a label that is not on the scale; criteria without
    one are not looked at.

    Whole labels must be points; one that is the mean of several people may lie between two.
    """
    found = []
    for item in items:
        for name, labels in item.labels.items():
            scale = scales.get(name)
            off = [label for label in labels if scale and not _is_on(label, scale)]
            if off:
                found.append(
                    f"{item.id}: {name}: {off[0]:g} is not on the scale {tuple(scale or ())}"
                )
    return found


def _is_on(label: float, scale: Sequence[int]) -> bool:
    return label in scale if label == int(label) else scale[0] < label < scale[-1]
