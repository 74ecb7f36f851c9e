"""What a bulk is: the wire schema of its items, and each kind's schema, use case and answer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field

from judge_service.api.schemas import (
    ASSESS_EXAMPLE,
    COMPARE_EXAMPLE,
    AssessBody,
    CompareBody,
    RankBody,
    RequestBody,
)
from judge_service.candidate.message_schema import Wire
from judge_service.engine import Engine
from judge_service.request import MAX_TIMEOUT_S
from judge_service.wire import assess_wire, compare_wire, rank_wire

MAX_ITEMS = 1_024
Kind = Literal["assess", "compare", "rank"]

BULK_EXAMPLE: dict[str, Any] = {
    "items": [
        {"kind": "assess", **{k: v for k, v in ASSESS_EXAMPLE.items() if k != "timeout_s"}},
        {"kind": "compare", **{k: v for k, v in COMPARE_EXAMPLE.items() if k != "timeout_s"}},
    ],
    "timeout_s": 120,
}


class AssessItem(AssessBody):
    """An assessment in a bulk: the body of ``POST /v1/assess`` and its kind."""

    kind: Literal["assess"]


class CompareItem(CompareBody):
    """A comparison in a bulk: the body of ``POST /v1/compare`` and its kind."""

    kind: Literal["compare"]


class RankItem(RankBody):
    """A ranking in a bulk: the body of ``POST /v1/rank`` and its kind."""

    kind: Literal["rank"]


class BulkFrame(Wire):
    """A bulk whose items have not been looked at yet."""

    items: Annotated[list[Any], Field(min_length=1, max_length=MAX_ITEMS)]
    timeout_s: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S)] | None = None
    metadata: dict[str, Any] | None = None


class BulkBody(BulkFrame):
    """``POST /v1/bulk``: up to 1,024 requests at once. ``timeout_s`` is for the items that name
    none; every item's time counts from when the bulk arrived.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [BULK_EXAMPLE]})

    items: Annotated[
        list[Annotated[AssessItem | CompareItem | RankItem, Field(discriminator="kind")]],
        Field(min_length=1, max_length=MAX_ITEMS),
    ]


Judge: TypeAlias = Callable[..., Coroutine[None, None, Any]]
"""A use case of the engine: the request, its case, and ``lost`` as in ``Engine.assess``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKind:
    """One kind of item: how it is read, judged, and told."""

    schema: type[RequestBody]
    request: Callable[[Any, float], Any]
    judge: Callable[[Engine], Judge]
    wire: Callable[[Any], dict[str, Any]]


KINDS: Mapping[str, ItemKind] = {
    "assess": ItemKind(
        schema=AssessItem,
        request=AssessBody.request,
        judge=lambda engine: engine.assess,
        wire=assess_wire,
    ),
    "compare": ItemKind(
        schema=CompareItem,
        request=CompareBody.request,
        judge=lambda engine: engine.compare,
        wire=compare_wire,
    ),
    "rank": ItemKind(
        schema=RankItem,
        request=RankBody.request,
        judge=lambda engine: engine.rank,
        wire=rank_wire,
    ),
}
"""Another kind of request becomes one of a bulk by an entry here, and one in ``BulkBody``."""
