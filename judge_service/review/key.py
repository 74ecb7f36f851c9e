"""The key of a sheet: what reviewers must not see, and what their labels are put back into."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judge_service.errors import ConfigError
from judge_service.gold.file import decode_line
from judge_service.gold.item import GoldItem, Kind
from judge_service.gold.line import line_of, shown_item
from judge_service.review.pick import REASONS, Picked
from judge_service.review.seen import Pool

VERSION = 1
HEAD = "review_key"
MAX_BYTES = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of a sheet. ``swapped`` is whether the pair's second candidate is shown first."""

    item: GoldItem
    why: tuple[str, ...]
    said: tuple[Mapping[str, Any], ...]
    swapped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A sheet's id, what is to be labelled, and its entries by the name they have on the sheet."""

    id: str
    kind: Kind
    rubric: str
    rubric_hash: str
    scales: Mapping[str, tuple[int, ...]]
    entries: Mapping[str, Entry]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that reviewers fill in."""
        if self.kind == "compare":
            return ("choice",)
        return tuple(f"label.{criterion}" for criterion in self.scales)


def make_key(pool: Pool, picked: Sequence[Picked], flips: Sequence[bool]) -> Key:
    """A key with names in the order of ``picked``; ``flips`` says which pairs change sides."""
    width = max(3, len(str(len(picked))))
    return Key(
        id=secrets.token_hex(4),
        kind=pool.kind,
        rubric=pool.rubric,
        rubric_hash=pool.rubric_hash,
        scales=dict(pool.scales),
        entries={
            f"r{number:0{width}d}": Entry(
                item=one.seen.item,
                why=one.why,
                said=tuple(said.wire() for said in one.seen.said),
                swapped=swapped and pool.kind == "compare",
            )
            for number, (one, swapped) in enumerate(zip(picked, flips, strict=True), start=1)
        },
    )


def write_key(path: Path, key: Key) -> None:
    """Write the key, readable by its owner only. Raises ConfigError."""
    data = {
        HEAD: VERSION, "id": key.id, "kind": key.kind, "rubric": key.rubric,
        "rubric_hash": key.rubric_hash, "scales": {n: list(s) for n, s in key.scales.items()},
        "entries": {
            name: {
                "item": line_of(entry.item), "swapped": entry.swapped, "why": list(entry.why),
                "said": list(entry.said),
            }
            for name, entry in key.entries.items()
        },
    }  # fmt: skip
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, indent=1) + "\n"
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "w", encoding="ascii") as opened:
            opened.write(text)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise ConfigError(f"{path}: {error.strerror or error}") from None


def read_key(path: Path) -> Key:
    """Read a key. Raises ConfigError."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{path}: larger than {MAX_BYTES:,} bytes")
        data = decode_line(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise ConfigError(f"{path}: cannot be read: {why}") from None
    if not isinstance(data, dict) or data.get(HEAD) != VERSION:
        raise ConfigError(f"{path}: is no key of a review")
    try:
        return _key_of(data)
    except (KeyError, TypeError, ValueError, AttributeError, ValidationError) as error:
        raise ConfigError(f"{path}: not a key of a review: {str(error).splitlines()[0]}") from None


def _key_of(data: Mapping[str, Any]) -> Key:
    entries = {
        str(name): Entry(
            item=shown_item(given["item"]),
            why=tuple(reason for reason in given["why"] if reason in REASONS),
            said=tuple(given["said"]),
            swapped=given["swapped"] is True,
        )
        for name, given in data["entries"].items()
    }
    kind: Kind = "compare" if data["kind"] == "compare" else "assess"
    if not entries or any(entry.item.kind != kind for entry in entries.values()):
        raise ValueError("its entries are not of its kind")
    return Key(
        id=str(data["id"]),
        kind=kind,
        rubric=str(data["rubric"]),
        rubric_hash=str(data["rubric_hash"]),
        scales={str(n): tuple(map(int, points)) for n, points in data["scales"].items()},
        entries=entries,
    )
