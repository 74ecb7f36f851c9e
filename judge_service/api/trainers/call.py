"""One trainer's request, understood: its address, its body, and how it is told to try again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import Request

from judge_service.access.key_ring import Caller
from judge_service.api.admission import later
from judge_service.api.body import decode_json, done_with, read_bytes
from judge_service.api.judging import timeout_of
from judge_service.api.problems import Problem
from judge_service.api.trainers.query import Options, Trainer, options_of
from judge_service.api.trainers.scored import Failure
from judge_service.deadline import Deadline
from judge_service.rubric.rubric import Rubric
from judge_service.service import Service
from judge_service.types import Candidate, Prompt

MAX_BYTES = 64 * 1024 * 1024
MAX_VALUES = 1_000_000
RETRY_AFTER_S = 5.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One response. ``member`` is its name in its group, None where only its text tells it apart;
    ``group`` is what else tells its group from others of the same prompt. ``long`` says that the
    response was too long to be looked at, and how many characters it has; its candidate is empty,
    and a member of its group all the same: the others wait for it.
    """

    prompt: Prompt
    candidate: Candidate
    reference: str | None
    text_hash: str
    group: str = ""
    member: str | None = None
    long: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One trainer's request: what its address says, and whose it is."""

    request: Request
    service: Service
    caller: Caller
    trainer: Trainer
    rubric: Rubric
    options: Options
    deadline: Deadline

    @property
    def grouped(self) -> bool:
        """Whether responses are judged in groups."""
        return self.options.group > 1


def call_of(
    request: Request, service: Service, caller: Caller, trainer: Trainer, rubric: str
) -> Call:
    """The request, its address checked and its clock started. Raises Problem or RequestError."""
    options = options_of(request, trainer)
    found = service.engine.library[rubric]
    if found.kind == "compare" and options.group == 1:
        raise Problem(
            422, "invalid_request", f"rubric {rubric!r} compares answers: say how many belong "
            "together with group=", field="group",
        )  # fmt: skip
    return Call(
        request=request, service=service, caller=caller, trainer=trainer, rubric=found,
        options=options, deadline=Deadline.after(timeout_of(request, options.budget_s)),
    )  # fmt: skip


async def read(call: Call, understand: Callable[[Any], T]) -> T:
    """What ``understand`` makes of the body. Raises Problem."""
    body = await read_bytes(call.request, MAX_BYTES)
    return await done_with(body, lambda: understand(decode_json(body, values=MAX_VALUES)))


def failed(failure: Failure, number: int | None = None) -> Problem:
    """The answer that lets a trainer try again later. ``number`` is the failed item of a list."""
    where = "" if number is None else f"item {number}: "
    return later(503, failure.code, where + failure.message, failure.retry_after_s or RETRY_AFTER_S)


def hash_of(*parts: Any) -> str:
    """SHA-256 (hex) of JSON values."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Messages and their calls as JSON values."""
    return [getattr(value, name) for name in value.__dataclass_fields__]
