"""From the body of a bulk to checked requests, or to one list of what is wrong with which item."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from judge_service.access.key_ring import Caller
from judge_service.api.bulk_schema import KINDS, BulkFrame, ItemKind
from judge_service.api.json_response import finite_json
from judge_service.api.problems import MAX_ECHO, Problem, from_validation, problem_of
from judge_service.api.schemas import RequestBody
from judge_service.case import Case
from judge_service.deadline import Deadline
from judge_service.engine import Engine
from judge_service.errors import RequestError
from judge_service.request import DEFAULT_TIMEOUT_S

MAX_LISTED = 100
"""How many faults of a bulk are told one by one."""
MAX_LISTED_OF_ITEM = 3
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NAMES = ", ".join(KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkItem:
    """A checked item; ``metadata`` is JSON already."""

    kind: ItemKind
    case: Case
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """A checked bulk; ``metadata`` is JSON already, None where there is none."""

    items: Sequence[BulkItem]
    metadata: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """How a bulk came: from whom, when (``time.monotonic()``), and the most time its caller has."""

    caller: Caller
    at: float
    limit_s: float


def checked(data: object, engine: Engine, arrival: Arrival) -> Bulk:
    """Check all of a bulk without judging any of it. Raises Problem for the whole.

    All items are checked against the rubrics of this moment.
    """
    try:
        frame = BulkFrame.model_validate(data)
    except ValidationError as error:
        raise from_validation(error) from None
    engine = dataclasses.replace(engine, library=engine.library.snapshot())
    default_s = DEFAULT_TIMEOUT_S if frame.timeout_s is None else frame.timeout_s
    faults = _Faults()
    items = []
    for number, given in enumerate(frame.items):
        try:
            items.append(_item(given, engine, arrival, default_s))
        except Problem as problem:
            faults.add(number, problem)
        except RequestError as error:
            faults.add(number, problem_of(error), names=True)
    faults.raise_if_any(len(frame.items))
    metadata = None if frame.metadata is None else finite_json(frame.metadata)
    return Bulk(items=items, metadata=metadata)


def _item(given: object, engine: Engine, arrival: Arrival, default_s: float) -> BulkItem:
    """Raises Problem or RequestError."""
    kind = _kind(given)
    try:
        body: RequestBody = kind.schema.model_validate(given)
    except ValidationError as error:
        raise from_validation(error) from None
    if body.audit and not arrival.caller.may("admin"):
        raise Problem(403, "forbidden", "audit needs an admin key", field="audit")
    named = "timeout_s" in body.model_fields_set
    timeout_s = min(body.timeout_s if named else default_s, arrival.limit_s)
    request = kind.request(body, timeout_s)
    request = dataclasses.replace(request, tenant=arrival.caller.tenant, metadata=None)
    case = engine.check(request, Deadline(arrival.at + timeout_s))
    return BulkItem(kind=kind, case=case, metadata=finite_json(body.metadata))


def _kind(given: object) -> ItemKind:
    if not isinstance(given, dict):
        raise _wrong("", "must be an object")
    if "kind" not in given:
        raise _wrong("kind", f"missing; one of {_NAMES}")
    name = given["kind"]
    if not isinstance(name, str) or name not in KINDS:
        raise _wrong("kind", f"must be one of {_NAMES}")
    return KINDS[name]


def _wrong(where: str, message: str) -> Problem:
    return Problem(422, "invalid_request", message, field=where or None)


@dataclass(slots=True)
class _Faults:
    """Collects what is wrong, and repeats little of the caller's own words."""

    listed: list[dict[str, str]] = field(default_factory=list)
    answers: set[tuple[int, str]] = field(default_factory=set)
    items: int = 0
    _echoed: int = 0

    def add(self, number: int, problem: Problem, *, names: bool = False) -> None:
        """Take note of an item's faults. ``names``: the message may hold the caller's own words."""
        self.items += 1
        self.answers.add((problem.status, problem.code))
        own = problem.faults or [{"field": problem.field or "", "message": str(problem)}]
        for fault in own[:MAX_LISTED_OF_ITEM]:
            if len(self.listed) < MAX_LISTED:
                self.listed.append(self._told(number, fault, names=names))

    def _told(self, number: int, fault: Mapping[str, str], *, names: bool) -> dict[str, str]:
        where, message = fault["field"], fault["message"]
        # The first fault also stands in the message and in ``field`` of the whole.
        times = 1 if self.listed else 3
        if names and message not in (one["message"] for one in self.listed):
            self._echoed += sum(map(len, _QUOTED.findall(message))) * times
            if self._echoed > MAX_ECHO and self.listed:
                message = "names something that does not exist or does not fit the rubric"
        elif message == "unknown field":
            self._echoed += len(where.rpartition(".")[2]) * times
            if self._echoed > MAX_ECHO and self.listed:
                where = where.rpartition(".")[0]
        path = f"items[{number}]"
        if where:
            path += f".{where}"
        return {"field": path[:200], "message": message[:200]}

    def raise_if_any(self, count: int) -> None:
        """Raise one Problem for all faults of ``count`` items."""
        if not self.items:
            return
        same = len(self.answers) == 1
        status, code = next(iter(self.answers)) if same else (422, "invalid_request")
        first = self.listed[0]
        message = f"{first['field']}: {first['message']}"
        if self.items > 1:
            message = f"{message} ({self.items:,} of {count:,} items cannot be right)"
        raise Problem(status, code, message[:300], field=first["field"], faults=self.listed)
