"""What reviewers need to know beside the sheet: the questions, the points, how to fill in."""

from __future__ import annotations

from collections.abc import Iterator

from judge_service.review.key import Key
from judge_service.rubric.rubric import Rubric


def guide(key: Key, rubric: Rubric | None) -> str:
    """The guide as Markdown. Without the rubric in the sheet's version, points have no words."""
    return "\n".join(_lines(key, rubric)) + "\n"


def _lines(key: Key, rubric: Rubric | None) -> Iterator[str]:
    known = rubric if rubric is not None and rubric.rubric_hash == key.rubric_hash else None
    yield f"# Review: {len(key.entries)} items"
    yield ""
    if known is not None and known.description:
        yield from (known.description, "")
    if key.kind == "compare":
        yield (
            "Write into `choice` which answer is better: `1`, `2`, or `tie` where neither is. "
            "Which answer stands first was drawn by lot."
        )
        if known is not None:
            yield from ("", *(f"- **{c.name}**: {c.question}" for c in known.criteria))
    else:
        yield "Write a point into each `label` column. Look at each column by itself."
        for criterion, points in key.scales.items():
            yield from _scale(criterion, points, known)
    yield ""
    yield (
        "Leave a cell blank where you cannot tell. `note` is for you. Keep the column `item`; "
        "rows may stand in any order. The rows are in an order drawn by lot. Label alone: what "
        "others say would make your labels theirs."
    )


def _scale(criterion: str, points: tuple[int, ...], rubric: Rubric | None) -> Iterator[str]:
    yield from ("", f"## label.{criterion}", "")
    named = {c.name: c for c in rubric.criteria} if rubric is not None else {}
    found = named.get(criterion)
    if found is None or found.scale is None:
        yield f"One of {', '.join(map(str, points))}, worst to best."
        return
    yield from (found.question, "")
    yield from (f"- **{point.point}**: {point.means}" for point in found.scale)
