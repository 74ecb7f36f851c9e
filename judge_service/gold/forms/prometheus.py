"""Prometheus: feedback with a score of 1 to 5 on a rubric of its own, or a preference."""

from __future__ import annotations

from typing import Any

from judge_service.gold.forms.form import (
    Options,
    Unusable,
    candidate,
    digest_name,
    number_of,
    sections,
    shuffled,
    text_of,
)
from judge_service.gold.forms.rows import Row
from judge_service.gold.item import GoldItem

_INSTRUCTION, _RESPONSE = "###The instruction to evaluate:", "###Response to evaluate:"
_REFERENCE, _RUBRIC, _FEEDBACK = (
    "###Reference Answer (Score 5):", "###Score Rubrics:", "###Feedback",
)  # fmt: skip
NOT_PEOPLE = (
    "the scores are a model's, not people's; agreement with them is no agreement with people"
)


def prometheus(row: Row, options: Options) -> GoldItem:
    """``orig_instruction, orig_response, orig_score`` (or ``gpt4_score`` with the whole prompt in
    ``instruction``), or ``orig_response_A, orig_response_B, orig_preference``, or two whole prompts
    in ``chosen_instruction, rejected_instruction``.

    The rubric of a row is kept in its metadata, since every row has one of its own.
    """
    if "orig_response_A" in row:
        return _preference(row)
    if "chosen_instruction" in row:
        return _chosen(row)
    if "orig_response" in row:
        prompt, answer = text_of(row, "orig_instruction"), text_of(row, "orig_response")
        reference = row.get("orig_reference_answer")
        rubric = row.get("orig_criteria")
    else:
        prompt, answer, reference, rubric = _parts(text_of(row, "instruction"))
    return GoldItem(
        id=_id(row),
        prompt=prompt,
        candidates=(candidate(answer, row.get("response_source")),),
        reference=reference if isinstance(reference, str) and reference else None,
        labels={options.criterion: _scores(row)},
        metadata={"rubric": rubric} if rubric else None,
    )


def _parts(text: str) -> tuple[str, str, str | None, str]:
    """Instruction, response, reference (which some sets lack) and rubric of a whole prompt."""
    if _REFERENCE in text:
        marks = (_INSTRUCTION, _RESPONSE, _REFERENCE, _RUBRIC, _FEEDBACK)
        prompt, answer, reference, rubric = sections(text, marks)
        return prompt, answer, reference, rubric
    prompt, answer, rubric = sections(text, (_INSTRUCTION, _RESPONSE, _RUBRIC, _FEEDBACK))
    return prompt, answer, None, rubric


def _chosen(row: Row) -> GoldItem:
    prompt, better, reference, rubric = _parts(text_of(row, "chosen_instruction"))
    asked, worse, _, _ = _parts(text_of(row, "rejected_instruction"))
    if prompt != asked:
        raise Unusable("chosen and rejected are not answers to one instruction")
    name = f"{prompt}\n{better}\n{worse}"
    shown, choice = shuffled(name, candidate(better), candidate(worse))
    return GoldItem(
        id=_id(row) if any(key in row for key in _IDS) else digest_name(name),
        prompt=prompt,
        candidates=shown,
        reference=reference or None,
        choices=(choice,),
        metadata={"rubric": rubric},
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
    found = [number_of(score) for score in scores]
    points = tuple(point for point in found if point is not None)
    if len(points) < len(found):
        raise Unusable(f"no score: {str(given)[:40]!r}")
    if not points or not all(point in (1, 2, 3, 4, 5) for point in points):
        raise Unusable(f"a score that is not on 1 to 5: {str(given)[:40]!r}")
    return points


_IDS = ("item", "id", "idx", "orig_id")


def _id(row: Row) -> str:
    name = next((name for name in _IDS if row.get(name) is not None), None)
    if name is not None:
        return text_of(row, name)
    answers = [row.get(key) for key in ("orig_response", "orig_response_A", "orig_response_B")]
    return digest_name(text_of(row, "instruction", "orig_instruction") + str(answers))
