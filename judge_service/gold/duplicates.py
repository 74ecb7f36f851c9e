"""The same item more than once in a gold set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from judge_service.gold.item import GoldItem
from judge_service.gold.remarks import Remark, fault, some, warn
from judge_service.types import Candidate


def duplicates(items: Sequence[GoldItem]) -> list[Remark]:
    """Items that are there twice, with the same label or another; pairs in both orders; twins."""
    same: defaultdict[str, list[GoldItem]] = defaultdict(list)
    for item in items:
        same[item.digest].append(item)
    conflicting: list[str] = []
    twice: list[str] = []
    for twins in (group for group in same.values() if len(group) > 1):
        differ = len({_value(item) for item in twins}) > 1
        (conflicting if differ else twice).append(" = ".join(item.id for item in twins))
    identical = [
        item.id
        for item in items
        if item.kind == "compare" and _shown(item.candidates[0]) == _shown(item.candidates[1])
    ]
    found = [fault(f"{name}: the same item with different labels") for name in conflicting]
    if twice:
        found.append(warn(f"{some(twice)}: the same item, which counts more than others"))
    if identical:
        found.append(
            warn(f"{some(identical)}: both candidates are the same, a tie without a judge")
        )
    mirrored = _mirrored(items)
    if mirrored:
        found.append(warn(f"{some(mirrored)}: the same pair in the other order"))
    return found


def _mirrored(items: Sequence[GoldItem]) -> list[str]:
    """Pairs that are there in both orders: both orders are asked of each anyway."""
    seen: dict[tuple[str, Any, Any], GoldItem] = {}
    found = []
    for item in items:
        if item.kind != "compare":
            continue
        first, second = (_shown(c) for c in item.candidates)
        twin = seen.get((item.group, second, first))
        if twin is not None and first != second:
            found.append(f"{twin.id} = {item.id}")
        seen.setdefault((item.group, first, second), item)
    return found


def _shown(candidate: Candidate) -> Any:
    return candidate.text if candidate.messages is None else candidate.messages


def _value(item: GoldItem) -> Any:
    if item.choices:
        return item.human_choice
    return tuple(sorted((name, item.human(name)) for name in item.labels))
