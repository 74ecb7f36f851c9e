"""The rows of a batch as trainers hand them out, and the groups in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge_client.errors import InvalidRequest
from judge_client.turns import as_text, conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One completion: a ``text`` or ``turns``, for a ``prompt``."""

    prompt: str | list[dict[str, Any]]
    text: str | None
    turns: list[dict[str, Any]] | None
    reference: str | None


def rows_of(
    prompts: Sequence[Any], completions: Sequence[Any], references: Sequence[Any]
) -> list[Row]:
    """The rows of a batch, of texts or of messages. Raises InvalidRequest."""
    if len(prompts) != len(completions):
        raise InvalidRequest(f"{len(prompts)} prompts for {len(completions)} completions")
    return [
        _row(prompt, completion, reference)
        for prompt, completion, reference in zip(prompts, completions, references, strict=True)
    ]


def _row(prompt: object, completion: object, reference: object) -> Row:
    is_text = isinstance(completion, str)
    return Row(
        prompt=_whole(prompt) if isinstance(prompt, str) else _turns(prompt),
        text=_whole(as_text(completion)) if is_text else None,
        turns=None if is_text else _turns(completion),
        reference=None if reference is None else _whole(as_text(reference)),
    )


def _turns(messages: object) -> list[dict[str, Any]]:
    talk = conversation(messages, None)
    turns: list[dict[str, Any]] = _whole([*talk.prompt, *talk.turns])
    return turns


def _whole(value: Any) -> Any:
    """The same with halves of surrogate pairs replaced: one odd sample must not stop a training."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {name: _whole(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_whole(part) for part in value]
    return value


def groups(rows: Sequence[Row], size: int) -> list[list[int]]:
    """The places of each group: runs of ``size`` rows with one prompt.

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


def _runs(rows: Sequence[Row]) -> list[list[int]]:
    """The places of neighbours with the same prompt."""
    runs: list[list[int]] = []
    for at, row in enumerate(rows):
        if runs and rows[runs[-1][0]].prompt == row.prompt:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _cut(run: list[int], size: int) -> list[list[int]]:
    if len(run) % size:
        raise InvalidRequest(
            f"group_size: {len(run)} completions of one prompt are no groups of {size}; is it "
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
