"""The samples of a batch as ms-swift hands them out, and the groups in them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from judge_client.errors import InvalidRequest
from judge_client.messages import Message, messages_of, refuse
from judge_client.requests import Rank, Request
from judge_client.rollouts import assess_of, candidate_of
from judge_client.rows import Row, batch_of, gathered, row_of
from judge_client.trainer_input import completion_of, reference_of
from judge_client.turns import conversation
from judge_client.values import listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One completion; samples with the same ``key`` answer one prompt, with one reference."""

    row: Row
    key: Hashable
    finish_reason: object


def samples_of(
    completions: object,
    messages: Any,
    columns: Mapping[str, Any],
    reference_column: str | None,
) -> list[Sample]:
    """The samples of a batch, in order. Raises InvalidRequest for a column that is missing."""
    said = batch_of(completions, "completions")
    count = len(said)
    talks = _column("messages", messages, count)
    references = (
        [None] * count
        if reference_column is None
        else _column(reference_column, columns.get(reference_column), count)
    )
    return [
        _sample(
            _talk(talks[at], f"messages[{at}]"),
            completion_of(said[at], f"completions[{at}]"),
            reference_of(references[at], f"{reference_column}[{at}]"),
            prompt_id=_at(columns.get("prompt_id"), at, count),
            finish_reason=_at(columns.get("finish_reason"), at, count),
        )
        for at in range(count)
    ]


def _talk(messages: object, field: str) -> list[Message]:
    """What was asked, and maybe said. Raises InvalidRequest where there is nothing."""
    found = messages_of(messages, field)
    if not found:
        refuse(field, "no message in the list")
    return found


def _sample(
    messages: list[Message],
    completion: str | list[Message],
    reference: str | None,
    *,
    prompt_id: object,
    finish_reason: object,
) -> Sample:
    talk = conversation(messages, None)
    turns = talk.turns
    if not turns or turns[-1]["role"] != "assistant":
        # The prompt's messages only.
        said = [{"role": "assistant", "content": completion}]
        turns = [*turns, *(said if isinstance(completion, str) else completion)]
    row = row_of(talk.prompt, turns, reference)
    asked = prompt_id if isinstance(prompt_id, str) and prompt_id else repr(row.prompt)
    return Sample(row=row, key=(asked, reference), finish_reason=finish_reason)


def _column(name: str, values: Any, count: int) -> Any:
    found = listed(values)
    if not isinstance(found, list) or len(found) != count:
        raise InvalidRequest(f"{name}: not one for each of {count} completions", field=name)
    return found


def _at(found: Any, at: int, count: int) -> object:
    """A value of a column that not every version has."""
    column = listed(found)
    return column[at] if isinstance(column, list) and len(column) == count else None


def gather(samples: Sequence[Sample]) -> tuple[Sequence[Sample], int]:
    """The samples of all processes in order, and where this one's begin."""
    everybody, start = gathered(cast("Sequence[Row]", samples))
    return cast("Sequence[Sample]", everybody), start


def groups(samples: Sequence[Sample], size: int | None) -> list[list[int]]:
    """The places of each group: samples of one prompt, ``size`` at a time.

    In an evaluation every prompt may stand alone. Raises InvalidRequest where groups are split.
    """
    found: dict[Hashable, list[int]] = {}
    for at, sample in enumerate(samples):
        found.setdefault(sample.key, []).append(at)
    if size is None or all(len(members) == 1 for members in found.values()):
        return list(found.values())
    for members in found.values():
        if len(members) % size:
            raise InvalidRequest(
                f"group_size: {len(members)} completions of one prompt are no groups of {size}; is "
                "it num_generations, or are groups split over processes (then use "
                'across_ranks="gather")?',
                field="group_size",
            )
    return [m[at : at + size] for m in found.values() for at in range(0, len(m), size)]


def assess(sample: Sample) -> Request[Any]:
    """An assessment."""
    return assess_of(sample.row, finish_reason=sample.finish_reason)


def rank(samples: Sequence[Sample]) -> Request[Any]:
    """A ranking; of one alone, as in an evaluation, an assessment."""
    if len(samples) == 1:
        return assess(samples[0])
    return Rank(
        prompt=samples[0].row.prompt or "",
        candidates=[candidate_of(s.row, finish_reason=s.finish_reason) for s in samples],
        reference=samples[0].row.reference,
    )
