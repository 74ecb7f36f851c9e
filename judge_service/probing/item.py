"""What probes are made from: a prompt, an honest good answer and an honest poor one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError, model_validator

from judge_service.errors import ConfigError
from judge_service.rubric.library import explain

Text = Annotated[str, StringConstraints(min_length=1, max_length=200_000, pattern=r"\S")]


class ProbeItem(BaseModel):
    """One line of a file of items.

    ``good`` is an honest answer that deserves a high reward, ``weak`` an honest attempt that does
    not: on the subject, but wrong or of little use. ``also_good`` is as good in other words,
    ``foreign`` the weak answer in another language than the prompt's; probes that need them leave
    an item without them out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    domain: str | None = None
    prompt: Text
    good: Text
    weak: Text
    also_good: Text | None = None
    foreign: Text | None = None
    reference: Text | None = None

    @model_validator(mode="after")
    def _differ(self) -> ProbeItem:
        if " ".join(self.good.split()) == " ".join(self.weak.split()):
            raise ValueError("good and weak are the same text")
        return self


def parse_items(lines: Iterable[str], name: str) -> tuple[ProbeItem, ...]:
    """The items of a JSONL file. Raises ConfigError with every fault: file, line, field."""
    found: list[ProbeItem] = []
    faults: list[str] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{name}: line {number}"
        try:
            item = ProbeItem.model_validate(json.loads(line))
        except ValidationError as error:
            faults += [f"{where}: {fault}" for fault in explain(error)]
            continue
        except (ValueError, RecursionError):
            faults.append(f"{where}: not JSON")
            continue
        if item.id in seen:
            faults.append(f"{where}: the id {item.id!r} is that of line {seen[item.id]}")
        seen[item.id] = number
        found.append(item)
    if not found and not faults:
        faults.append(f"{name}: no items")
    if faults:
        raise ConfigError("\n".join(faults[:20]))
    return tuple(found)


@cache
def shipped_items() -> tuple[ProbeItem, ...]:
    """The items that ship: short, English, of several domains."""
    return parse_items(_data("items.jsonl").splitlines(), "items.jsonl")


@cache
def filler() -> tuple[str, ...]:
    """Sentences that fit every question and say nothing."""
    return tuple(_data("filler.txt").splitlines())


def _data(name: str) -> str:
    return files("judge_service.probing").joinpath("data", name).read_text(encoding="utf-8")
