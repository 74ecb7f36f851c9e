"""What a trainer's address says in its query: checked, closed, and nothing twice."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, cast

from starlette.requests import Request

from judge_service.api.auth import TOKEN
from judge_service.api.problems import MAX_NAME, Problem
from judge_service.request import MAX_GROUP

MAX_NAMES = 5
MAX_FAMILIES = 8
Purpose = Literal["train", "validate"]
PURPOSES: tuple[Purpose, ...] = ("train", "validate")
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")
_COUNT = re.compile(r"[1-9][0-9]?")
_FAMILY = re.compile(r"[^\s\x00-\x1f\x7f]{1,64}")
_SEPARATORS = re.compile(r"[,\s]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trainer:
    """What is particular to a trainer: its name, and how long its client waits, in seconds."""

    name: str
    budget_s: float
    max_budget_s: float
    numbers: bool = False
    """Whether it also takes a bare number for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What an address says. ``drop``: failures are told by the trainer's own signal. ``group`` is
    the size of a prompt's group, 1 where every response is judged alone. ``purpose`` is what the
    judges are for, None where that is not said.
    """

    drop: bool
    budget_s: float
    group: int
    families: frozenset[str]
    policy_model: str | None
    purpose: Purpose | None = None
    number: bool = False


def options_of(request: Request, trainer: Trainer) -> Options:
    """The checked query of a trainer's request. Raises Problem 422."""
    said = _said(request, trainer)
    drop = _word(said, "on_fail", ("error", "drop")) == "drop"
    if drop and _word(said, "filtering", ("off", "on")) != "on":
        raise _wrong(
            "on_fail",
            "on_fail=drop needs filtering=on, which says that the trainer drops such samples: "
            "otherwise its placeholder would be trained on",
        )
    number = trainer.numbers and _word(said, "answer", ("object", "number")) == "number"
    if number and drop:
        raise _wrong("answer", "answer=number has no way to say that a sample is to be dropped")
    _word(said, "filtering", ("off", "on"))
    return Options(
        drop=drop,
        budget_s=_budget(said, trainer),
        group=_group(said),
        families=_families(said),
        policy_model=_policy_model(said),
        purpose=_purpose(said),
        number=number,
    )


def parameters(trainer: Trainer) -> list[dict[str, Any]]:
    """The query's parameters for the OpenAPI page."""
    found: list[tuple[str, dict[str, Any], str]] = [
        (TOKEN, {"type": "string"}, "An API key, where the service has a keys file"),
        ("on_fail", {"enum": ["error", "drop"]}, "What a response that could not be judged is "
         "answered with; drop only together with filtering=on"),
        ("filtering", {"enum": ["off", "on"]}, "Whether the trainer filters samples dynamically"),
        ("budget_s", {"type": "number", "exclusiveMinimum": 0, "maximum": trainer.max_budget_s,
                      "default": trainer.budget_s}, "How long an answer may take, in seconds"),
        ("group", {"type": "integer", "minimum": 1, "maximum": MAX_GROUP, "default": 1},
         "How many responses to one prompt are ranked against each other"),
        ("family", {"type": "string"}, "The policy's families, with commas between"),
        ("policy_model", {"type": "string"}, "The policy's model name, where its family is known"),
        ("purpose", {"enum": [*PURPOSES]}, "Only judges for this purpose are asked"),
    ]  # fmt: skip
    if trainer.numbers:
        found.append(("answer", {"enum": ["object", "number"]}, "The form of the answer"))
    return [
        {"name": name, "in": "query", "required": False, "schema": schema, "description": text}
        for name, schema, text in found
    ]


def _said(request: Request, trainer: Trainer) -> dict[str, str]:
    items = request.query_params.multi_items()
    known = {one["name"] for one in parameters(trainer)}
    unknown = [name for name, _ in items if name not in known]
    if unknown:
        raise _wrong(None, f"unknown parameter: {_listed(unknown)}; known: {_listed(known, 99)}")
    twice = [name for name, count in Counter(name for name, _ in items).items() if count > 1]
    if twice:
        raise _wrong(twice[0], f"given more than once: {_listed(twice)}")
    return dict(items)


def _word(said: dict[str, str], name: str, words: tuple[str, ...]) -> str:
    """One of ``words``; the first where nothing is said."""
    word = said.get(name, words[0])
    if word not in words:
        raise _wrong(name, f"{name} must be {' or '.join(words)}")
    return word


def _budget(said: dict[str, str], trainer: Trainer) -> float:
    text = said.get("budget_s")
    if text is None:
        return trainer.budget_s
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not 0.0 < value <= trainer.max_budget_s:
        raise _wrong(
            "budget_s",
            f"budget_s must be a number of seconds above 0 and at most {trainer.max_budget_s:g}: "
            f"{trainer.name} does not wait longer",
        )
    return value


def _group(said: dict[str, str]) -> int:
    text = said.get("group", "1")
    if not _COUNT.fullmatch(text) or int(text) > MAX_GROUP:
        raise _wrong("group", f"group must be a whole number from 1 to {MAX_GROUP}")
    return int(text)


def _families(said: dict[str, str]) -> frozenset[str]:
    if "family" not in said:
        return frozenset()
    words = [word for word in _SEPARATORS.split(said["family"]) if word]
    if not 1 <= len(words) <= MAX_FAMILIES or not all(map(_FAMILY.fullmatch, words)):
        raise _wrong("family", f"family must be 1 to {MAX_FAMILIES} words with commas between")
    return frozenset(words)


def _policy_model(said: dict[str, str]) -> str | None:
    name = said.get("policy_model")
    if name is not None and not (1 <= len(name) <= 512 and _CONTROL.search(name) is None):
        raise _wrong("policy_model", "policy_model must have 1 to 512 characters, none a control")
    return name


def _purpose(said: dict[str, str]) -> Purpose | None:
    """None where nothing is said: then it is as in a body that says nothing."""
    if "purpose" not in said:
        return None
    return cast("Purpose", _word(said, "purpose", PURPOSES))


def _listed(names: Collection[str], most: int = MAX_NAMES) -> str:
    unlike = sorted(dict.fromkeys(names))
    return ", ".join(ascii(name[:MAX_NAME])[1:-1] for name in unlike[:most])


def _wrong(name: str | None, message: str) -> Problem:
    return Problem(422, "invalid_request", message, field=name)
