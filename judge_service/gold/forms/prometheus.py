"""Prometheus: feedback with a score of 1 to 5 on a rubric of its own, or a preference."""

from __future__ import annotations

from typing import Any

from judge_service.gold.forms.form import Options, Unusable, candidate, sections, text_of
from judge_service.gold.forms.rows import Row
from judge_service.gold.item import GoldItem

_MARKS = (
    "###The instruction to evaluate:",
    "###Response to evaluate:",
    "###Reference Answer (Score 5):",
    "###Score Rubrics:",
    "###Feedback",
)
NOT_PEOPLE = (
    "the scores are a model's, not people's; agreement with them is no agreement with people"
)


def prometheus(row: Row, options: Options) -> GoldItem:
    """``orig_instruction, orig_response, orig_score`` (or ``gpt4_score`` with the whole prompt in
    ``instruction``), or ``orig_response_A, orig_response_B, orig_preference``.

    The rubric of a row is kept in its metadata, since every row has one of its own.
    """
    if "orig_response_A" in row:
        return _preference(row)
    if "orig_response" in row:
        prompt, answer = text_of(row, "orig_instruction"), text_of(row, "orig_response")
        reference = row.get("orig_reference_answer")
        rubric = row.get("orig_criteria")
    else:
        prompt, answer, reference, rubric = sections(text_of(row, "instruction"), _MARKS)
    return GoldItem(
        id=_id(row),
        prompt=prompt,
        candidates=(candidate(answer, row.get("response_source")),),
        reference=reference if isinstance(reference, str) and reference else None,
        labels={options.criterion: _scores(row)},
        metadata={"rubric": rubric} if rubric else None,
    )


def _preference(row: Row) -> GoldItem:
    said = str(row.get("orig_preference"))
    if said not in ("A", "B"):
        raise Unusable(f"orig_preference {said[:40]!r} is neither A nor B")
    reference = row.get("orig_reference_answer")
    return GoldItem(
        id=_id(row),
        prompt=text_of(row, "orig_instruction"),
        candidates=(
            candidate(text_of(row, "orig_response_A")),
            candidate(text_of(row, "orig_response_B")),
        ),
        reference=reference if isinstance(reference, str) and reference else None,
        choices=("first" if said == "A" else "second",),
        metadata={"rubric": row["orig_criteria"]} if row.get("orig_criteria") else None,
    )


def _scores(row: Row) -> tuple[float, ...]:
    given: Any = next(
        (row[k] for k in ("gpt4_score", "human_score", "orig_score") if k in row), None
    )
    scores = given if isinstance(given, list) else [given]
    try:
        points = tuple(float(score) for score in scores)
    except (TypeError, ValueError):
        raise Unusable(f"no score: {str(given)[:40]!r}") from None
    if not points or not all(point in (1, 2, 3, 4, 5) for point in points):
        raise Unusable(f"a score that is not on 1 to 5: {str(given)[:40]!r}")
    return points


def _id(row: Row) -> str:
    for name in ("item", "id", "idx", "orig_id"):
        if name in row:
            return text_of(row, name)
    from hashlib import sha256

    text = text_of(row, "instruction", "orig_instruction") + str(row.get("orig_response"))
    return sha256(text.encode()).hexdigest()[:12]
