"""By what an answer among many is known: a mark of the request, which comes back in its metadata.

Answers are in the order of the requests. Whether they really are is not left to whatever stands
between: every request of a batch says its number and a hash of what it asks, and an answer that
gives another mark back is no answer to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from judge_client.reading import protocol_failure
from judge_client.results import Failure

MARK = "judge_client_item"


def mark_of(number: int, body: bytes) -> str:
    """The mark of request number ``number`` (from 0) with this body."""
    return f"{number}-{hashlib.blake2b(body, digest_size=8).hexdigest()}"


def marked(metadata: Mapping[str, Any] | None, mark: str) -> dict[str, Any]:
    """Metadata with the mark."""
    return {**(metadata or {}), MARK: mark}


def in_place(answers: Sequence[object], marks: Sequence[str | None]) -> list[object | Failure]:
    """Each answer without its mark, or a failure where the mark is another request's.

    A service that gives no metadata back to anybody has only its word for the order.
    """
    told = any(_mark(answer) is not None for answer in answers)
    return [
        _checked(answer, mark) if told else answer
        for answer, mark in zip(answers, marks, strict=True)
    ]


def _checked(answer: object, mark: str | None) -> object | Failure:
    if _mark(answer) != mark or not isinstance(answer, dict):
        return protocol_failure("an answer in the place of another request's")
    metadata = {name: value for name, value in answer["metadata"].items() if name != MARK}
    # Those who gave none get none back.
    return {**answer, "metadata": metadata or None}


def _mark(answer: object) -> object:
    metadata = answer.get("metadata") if isinstance(answer, dict) else None
    return metadata.get(MARK) if isinstance(metadata, dict) else None
