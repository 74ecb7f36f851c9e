"""The rows of a batch as trainers hand them out, and the groups in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge_client.errors import InvalidRequest
from judge_client.messages import refuse
from judge_client.trainer_input import completion_of, reference_of, told
from judge_client.values import listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One completion: a ``text`` or ``turns``, for a ``prompt``."""

    prompt: str | list[dict[str, Any]]
    text: str | None
    turns: list[dict[str, Any]] | None
    reference: str | None


def rows_of(
    prompts: object, completions: object, references: Sequence[Any], column: str | None = None
) -> list[Row]:
    """The rows of a batch, of texts or of messages; ``column`` is where the references come from.

    Raises InvalidRequest, which names the place.
    """
    asked, said = batch_of(prompts, "prompts"), batch_of(completions, "completions")
    if len(asked) != len(said):
        raise InvalidRequest(f"{len(asked)} prompts for {len(said)} completions")
    return [
        row_of(*one, places=(f"prompts[{at}]", f"completions[{at}]", f"{column}[{at}]"))
        for at, one in enumerate(zip(asked, said, references, strict=True))
    ]


def batch_of(values: object, field: str) -> list[Any]:
    """A list of values, one for each row. Raises InvalidRequest."""
    found = listed(values)
    if not isinstance(found, list):
        refuse(field, "not a list")
    return found


def row_of(
    prompt: object,
    completion: object,
    reference: object = None,
    *,
    places: tuple[str, str, str] = ("prompt", "completion", "reference"),
) -> Row:
    """Prompt, completion and reference in the service's forms: texts, or messages as dicts or as
    objects of a trainer's own. Raises InvalidRequest, which names one of the ``places``.
    """
    said = completion_of(completion, places[1])
    return Row(
        prompt=told(prompt, places[0]),
        text=said if isinstance(said, str) else None,
        turns=None if isinstance(said, str) else said,
        reference=reference_of(reference, places[2]),
    )


def groups(rows: Sequence[Row], size: int) -> list[list[int]]:
    """The places of each group: runs of ``size`` rows with one prompt and one reference.

    In an evaluation every prompt may stand alone. Raises InvalidRequest where groups are split.
    """
    runs = _runs(rows)
    if all(len(run) == 1 for run in runs):
        return runs
    return [group for run in runs for group in _cut(run, size)]


def split(rows: Sequence[Row], size: int) -> tuple[list[list[int]], list[int]]:
    """The places of each group that is whole, and those of members whose group goes on elsewhere.

    A process has a slice of the whole batch, so only its first and its last run can be parts of
    groups. Raises InvalidRequest.
    """
    runs = _runs(rows)
    whole: list[list[int]] = []
    apart: list[int] = []
    for number, run in enumerate(runs):
        if len(run) % size and number in (0, len(runs) - 1):
            apart += run
        else:
            whole += _cut(run, size)
    return whole, apart


def same_question(one: Row, other: Row) -> bool:
    """Whether two rows may be of one group: what is asked is the same, and so is what is right."""
    return one.prompt == other.prompt and one.reference == other.reference


def _runs(rows: Sequence[Row]) -> list[list[int]]:
    """The places of neighbours that ask the same."""
    runs: list[list[int]] = []
    for at, row in enumerate(rows):
        if runs and same_question(rows[runs[-1][0]], row):
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _cut(run: list[int], size: int) -> list[list[int]]:
    if len(run) % size:
        raise InvalidRequest(
            f"group_size: {len(run)} completions of one prompt are no groups of {size}; if this is "
            "an evaluation, let a column of the data say so (split_column); else is group_size "
            "the trainer's num_generations, or are groups split over processes (then use "
            'across_ranks="gather" or "server")?',
            field="group_size",
        )
    return [run[at : at + size] for at in range(0, len(run), size)]


def gathered(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """The rows of all processes in order, and where this one's begin."""
    from accelerate import PartialState
    from accelerate.utils import gather_object

    own = PartialState().process_index
    parts: list[tuple[int, list[Row]]] = gather_object([(own, list(rows))])
    parts.sort(key=lambda part: part[0])
    start = sum(len(part) for index, part in parts if index < own)
    return [row for _, part in parts for row in part], start
