"""A trainer's values as plain ones: arrays, tuples, models and odd characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge_client.errors import InvalidRequest

MAX_DEPTH = 64


def plain(value: Any, depth: int = 0, field: str = "a sample") -> Any:
    """The same as texts, numbers, lists and dicts: arrays become lists, and halves of surrogate
    pairs a replacement, for one odd sample must not stop a training. Raises InvalidRequest.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if depth > MAX_DEPTH:
        raise InvalidRequest(f"{field}: nested too deeply", field=field)
    if isinstance(value, Mapping):
        return {
            plain(name) if isinstance(name, str) else name: plain(part, depth + 1, field)
            for name, part in value.items()
        }
    given = listed(value)
    if isinstance(given, list):
        return [plain(part, depth + 1, field) for part in given]
    return given


def listed(value: Any) -> Any:
    """An array or a sequence as a list; anything else as it is, texts and bytes among them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    is_text = isinstance(value, (str, bytes, bytearray, memoryview))
    return list(value) if isinstance(value, Sequence) and not is_text else value


def mapping(value: Any) -> dict[str, Any] | None:
    """A mapping or a model as a dict; None for anything else."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    found = dump() if callable(dump) and not isinstance(value, type) else None
    return dict(found) if isinstance(found, Mapping) else None
