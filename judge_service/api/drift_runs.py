"""``/v1/drift-runs``: compare two judges on a gold set, while the service goes on."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import Response

from judge_service.access.key_ring import Caller
from judge_service.api.admission import later
from judge_service.api.body import read_json
from judge_service.api.drift_runs_schema import DRIFT_EXAMPLE, DriftRunBody
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.judging import PROBLEMS
from judge_service.api.openapi import shown, taken
from judge_service.api.problems import Problem, from_validation
from judge_service.api.state import CallerDep, ServiceDep, held
from judge_service.drift.keeper import Busy, DriftRun, Order
from judge_service.errors import ConfigError
from judge_service.gold.item import GoldSet
from judge_service.rubric.library import shipped
from judge_service.service import Service

router = APIRouter(prefix="/v1/drift-runs", tags=["drift"])
MAX_DRIFT_BYTES = 16 * 1024 * 1024
MAX_FAULTS = 20
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_ERRORS: dict[int | str, dict[str, Any]] = {status: PROBLEMS[status] for status in (401, 403)}
_MISSING: dict[int | str, dict[str, Any]] = {
    404: {**PROBLEMS[404], "description": "No such run, or none that has a report"},
    422: {**PROBLEMS[422], "description": "Not in use"},
}


@router.post(
    "",
    summary="Compare two judges on a gold set",
    status_code=202,
    responses={
        202: shown("DriftRunAnswer", "Begun, or continued"),
        **_ERRORS,
        **{status: PROBLEMS[status] for status in (408, 413, 415, 422, 503)},
    },
    openapi_extra=taken("DriftRunBody", DRIFT_EXAMPLE),
)
async def start(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """Begin a run; ``GET`` tells how far it is. The same body continues one that was interrupted.

    Verdicts are asked for past the cache, billed to nobody's quota and never part of a reward.
    """
    _admin(caller)
    try:
        body = DriftRunBody.model_validate(await read_json(request, MAX_DRIFT_BYTES))
    except ValidationError as error:
        raise from_validation(error) from None
    gold = await asyncio.to_thread(_gold, body, service)
    runs = held(request)["drift"].runs()
    try:
        run = await runs.start(
            Order(
                gold=gold, baseline=body.baseline, candidate=body.candidate, repeat=body.repeat,
                top=body.top, concurrency=body.concurrency, timeout_s=body.timeout_s,
                max_cost_usd=body.max_cost_usd,
            )
        )  # fmt: skip
    except Busy as error:
        raise later(503, "busy", str(error), 30) from None
    except ConfigError as error:
        raise Problem(422, "invalid_request", str(error)[:500]) from None
    except OSError as error:
        why = f"runs cannot be kept: {error.strerror}"
        raise later(503, "storage_failed", why, 10) from None
    headers = {"Location": f"/v1/drift-runs/{run.id}"}
    return FiniteJSONResponse(_answer(run), 202, headers=headers)


@router.get("", summary="All drift runs", responses={200: shown("DriftListAnswer"), **_ERRORS})
async def list_runs(request: Request, caller: CallerDep) -> Response:
    """The latest first, without their reports."""
    _admin(caller)
    runs = held(request)["drift"].runs()
    found = await asyncio.to_thread(runs.all)
    return FiniteJSONResponse({"runs": [run.summary() for run in found]})


@router.get(
    "/{run_id}",
    summary="One drift run",
    responses={200: shown("DriftRunAnswer"), **_ERRORS, **_MISSING},
)
async def one_run(run_id: str, request: Request, caller: CallerDep) -> Response:
    """How far it is, and its report once there is one."""
    return FiniteJSONResponse(_answer(await _found(run_id, request, caller)))


@router.post(
    "/{run_id}/stop",
    summary="Stop a drift run",
    status_code=202,
    responses={
        202: shown("DriftRunAnswer", "Stopped, or over before"),
        **_ERRORS,
        **_MISSING,
        503: PROBLEMS[503],
    },
)
async def stop_run(run_id: str, request: Request, caller: CallerDep) -> Response:
    """Ask for nothing more. What was asked is kept, and the same request as before goes on with it;
    a run that is over stays as it is.
    """
    await _found(run_id, request, caller)
    runs = held(request)["drift"].runs()
    try:
        run = await runs.stop(run_id)
    except OSError as error:
        raise later(503, "storage_failed", f"no word can be left: {error.strerror}", 10) from None
    if run is None:
        raise Problem(404, "unknown_run", "there is no such drift run")
    return FiniteJSONResponse(_answer(run), 202)


@router.get(
    "/{run_id}/report.html",
    summary="The report of a drift run as a page",
    responses={
        200: {"content": {"text/html": {"schema": {"type": "string"}}}, "description": "A page"},
        **_ERRORS,
        **_MISSING,
    },
)
async def page(run_id: str, request: Request, caller: CallerDep) -> Response:
    """The report with its pictures: one file that loads nothing."""
    from judge_service.drift.html import html_report

    run = await _found(run_id, request, caller)
    if run.report is None:
        raise Problem(404, "no_report", f"drift run {run.id} has no report: it is {run.status}")
    text = await asyncio.to_thread(html_report, run.report)
    headers = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
    return Response(text.encode(), media_type="text/html; charset=utf-8", headers=headers)


async def _found(run_id: str, request: Request, caller: Caller) -> DriftRun:
    _admin(caller)
    runs = held(request)["drift"].runs()
    run = await asyncio.to_thread(runs.get, run_id)
    if run is None:
        raise Problem(404, "unknown_run", "there is no such drift run")
    return run


def _answer(run: DriftRun) -> dict[str, Any]:
    return {**run.summary(), "report": run.report}


def _admin(caller: Caller) -> None:
    if not caller.may("admin"):
        raise Problem(403, "forbidden", "drift runs need an admin key")


def _gold(body: DriftRunBody, service: Service) -> GoldSet:
    """The gold set of a body: by its name beside the anchors, or its lines. Raises Problem 422."""
    from judge_service.gold.file import gold_of

    if isinstance(body.gold, str):
        folder = (service.settings.anchors_dir or shipped("anchors")) / "gold"
        return _named(body.gold, folder)
    gold, faults = gold_of(body.gold, name=body.gold_name, where="gold")
    if faults or not gold.items:
        told = [{"field": f.partition(": ")[0], "message": f[:200]} for f in faults[:MAX_FAULTS]]
        first = told[0]["message"] if told else "gold: no items"
        raise Problem(422, "invalid_request", first, field="gold", faults=told or None)
    return gold


def _named(name: str, folder: Path) -> GoldSet:
    from judge_service.gold.file import load_gold

    known = sorted(path.stem for path in folder.glob("*.jsonl"))
    if not _NAME.fullmatch(name) or name not in known:
        raise Problem(
            422, "invalid_request", f"there is no such gold set; known: {', '.join(known)[:200]}",
            field="gold",
        )  # fmt: skip
    try:
        return load_gold(folder / f"{name}.jsonl")
    except ConfigError as error:
        raise Problem(422, "invalid_request", str(error)[:200], field="gold") from None
