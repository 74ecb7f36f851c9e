"""One small control question to every judge, asked the way real questions are."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge_service.cli.exits import UserError
from judge_service.cli.requests import asked
from judge_service.cli.target import in_process
from judge_service.rubric.library import Library
from judge_service.rubric.rubric import Criterion, Rubric
from judge_service.rubric.scale import Point

if TYPE_CHECKING:
    from judge_service.cli.remote import Remote

# Said outright, so that no judge is excluded and none is flagged.
FAMILY = "control-item"
CONTROL = Rubric(
    id="ping",
    version="1",
    description="Whether a judge answers at all.",
    criteria=(
        Criterion(
            name="right",
            weight=1.0,
            question="Is the answer right?",
            scale=(Point(point=0, means="Wrong."), Point(point=1, means="Right.")),
        ),
    ),
)


async def ping_in_process(flags: Mapping[str, object], seconds: float) -> dict[str, dict[str, Any]]:
    """Ask all judges at once; what came of it, by judge id."""
    from judge_service.engine import Engine
    from judge_service.wire import assess_wire

    async with in_process(flags, notes=False) as target:
        service = target.service.engine
        engine = Engine(library=Library([CONTROL]), bench=service.bench, source=service.source)

        async def one(judge_id: str) -> dict[str, Any]:
            request = asked("assess", _body(CONTROL.id, judge_id, seconds)).domain()
            # What was asked as "assess" is an AssessRequest; the checker sees only the union.
            outcome = await engine.assess(request)  # type: ignore[arg-type]
            capability = service.asker.capability(service.bench[judge_id])
            return {**_summary(assess_wire(outcome)), "reply": capability.mode}

        ids = list(service.bench)
        return dict(zip(ids, await asyncio.gather(*map(one, ids)), strict=True))


async def ping_remote(service: Remote, ids: list[str], seconds: float) -> dict[str, dict[str, Any]]:
    """The same through a running service, on a rubric that it has."""
    from judge_service.cli.remote_answers import RubricsShape

    rubrics = [
        r
        for r in (await service.get("/v1/rubrics", RubricsShape))["rubrics"]
        if r["kind"] == "assess" and r["reference"] != "required"
    ]
    rubrics.sort(key=lambda r: (len(r["criteria"]), r["judged"] != "last_turn", r["id"]))
    if not rubrics:
        raise UserError(f"{service.url}: no rubric there to ask a control question with")

    async def one(judge_id: str) -> dict[str, Any]:
        body = _body(rubrics[0]["id"], judge_id, seconds)
        return _summary(await service.ask(asked("assess", body)))

    return dict(zip(ids, await asyncio.gather(*map(one, ids)), strict=True))


def _body(rubric: str, judge_id: str, seconds: float) -> dict[str, Any]:
    # A question nobody has asked before: a verdict from the cache would say nothing of the judge.
    first, second = (secrets.randbelow(900_000) + 100_000 for _ in range(2))
    return {
        "rubric": rubric,
        "prompt": f"What is {first} + {second}?",
        "candidate": {
            "text": f"{first} + {second} is {first + second}.",
            "family": FAMILY,
        },
        "judges": [judge_id],
        "panel_size": 1,
        "timeout_s": seconds,
    }


def _summary(outcome: dict[str, Any]) -> dict[str, Any]:
    verdicts = outcome["verdicts"]
    return {
        "status": outcome["status"],
        "error": outcome["error"],
        "latency_ms": max((v["latency_ms"] for v in verdicts), default=None),
        "model_served": verdicts[0]["model_served"] if verdicts else None,
        "usage": outcome["usage"],
    }
