"""``PUT /v1/rubrics/{id}``: a new version of a rubric, for requests that come after it."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import ConfigDict, Field, ValidationError, WithJsonSchema
from starlette.responses import Response

from judge_service.access.key_ring import Caller
from judge_service.api.admission import later
from judge_service.api.body import read_json
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.judging import PROBLEMS
from judge_service.api.openapi import shown, taken
from judge_service.api.problems import Problem
from judge_service.api.state import CallerDep, ServiceDep
from judge_service.errors import ConfigError
from judge_service.rubric.file import FolderRefused, Put, VersionExists
from judge_service.rubric.folder import RubricFolder
from judge_service.rubric.library import check_rubric, faults_of, shipped
from judge_service.rubric.rubric import ID_PATTERN, Rubric
from judge_service.rules import Rule
from judge_service.service import Service
from judge_service.settings import PREFIX

log = logging.getLogger("judge_service.rubrics")
router = APIRouter(prefix="/v1", tags=["rubrics"])
MAX_RUBRIC_BYTES = 1024 * 1024
MAX_FAULTS = 50
HASH = "rubric_hash"
"""What GET adds to a rubric; PUT takes it back and does not look at it."""
_ID = re.compile(ID_PATTERN.removeprefix("^").removesuffix("$"))
_RULE_SCHEMA: dict[str, Any] = {
    "type": "object", "required": ["rule"], "properties": {"rule": {"type": "string"}},
}  # fmt: skip
_NOT_OURS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

RUBRIC_EXAMPLE: dict[str, Any] = {
    "id": "support-answers",
    "version": "2",
    "description": "Whether a support answer solves the customer's problem.",
    "criteria": [
        {
            "name": "solves",
            "weight": 1.0,
            "question": "Does the answer solve the problem that the customer describes?",
            "scale": [
                {"point": 1, "means": "No: another problem, or no solution."},
                {"point": 2, "means": "In part: a step is missing or wrong."},
                {"point": 3, "means": "Yes: following it solves the problem."},
            ],
        }
    ],
    "rules": [{"rule": "non_empty", "hard": True}],
    "anchors": [
        {
            "criterion": "solves",
            "point": 1,
            "prompt": "The app does not start any more.",
            "candidate": "Thank you for your patience!",
            "reason": "Nothing that the customer could do.",
        }
    ],
}


class RubricBody(Rubric):
    """A rubric as its TOML file has it, with its anchors."""

    # For the OpenAPI page only: a body is checked as a Rubric, like a file.

    model_config = ConfigDict(json_schema_extra={"examples": [RUBRIC_EXAMPLE]})

    # What else a rule has depends on which one it is.
    rules: Annotated[
        tuple[Rule, ...], WithJsonSchema({"type": "array", "items": _RULE_SCHEMA})
    ] = ()
    rubric_hash_: Annotated[
        str | None, Field(default=None, alias=HASH, description="As GET gives it; ignored")
    ]


RESPONSES: dict[int | str, dict[str, Any]] = {
    200: shown("RubricPutAnswer", "There before: as it is, or current again"),
    201: shown("RubricPutAnswer", "A new version"),
    **{status: PROBLEMS[status] for status in (401, 403, 408, 413, 415, 422, 503)},
    409: {**PROBLEMS[409], "description": "The version exists with other content"},
}


@router.put(
    "/rubrics/{rubric_id}",
    summary="Put a new version of a rubric",
    responses=RESPONSES,
    openapi_extra=taken("RubricBody", RUBRIC_EXAMPLE),
)
async def put_rubric(
    rubric_id: str, request: Request, service: ServiceDep, caller: CallerDep
) -> Response:
    """Check and keep a rubric. Requests that run go on with the one they began with."""
    folder = _writable(service, caller)
    if not _ID.fullmatch(rubric_id):
        raise Problem(422, "invalid_request", f"an id is {_ID.pattern}", field="rubric_id")
    data = await read_json(request, MAX_RUBRIC_BYTES)
    done, rubric = await asyncio.to_thread(_put, rubric_id, data, folder, service)
    if done != "unchanged":
        log.info("rubric %r: %s, version %r, by %r", rubric_id, done, rubric.version, caller.name)
    answer = {
        "id": rubric.id,
        "version": rubric.version,
        HASH: rubric.rubric_hash,
        "result": done,
        "warnings": rubric.warnings(),
    }
    return FiniteJSONResponse(answer, 201 if done == "created" else 200)


def _writable(service: Service, caller: Caller) -> RubricFolder:
    """The folder to write to. Raises Problem 403."""
    settings = service.settings
    if not caller.may("admin"):
        raise Problem(403, "forbidden", "putting a rubric needs an admin key")
    if not settings.allow_rubric_put:
        raise Problem(403, "forbidden", f"this service does not allow it: {PREFIX}ALLOW_RUBRIC_PUT")
    folder = service.rubric_folder
    if folder is None or settings.rubrics_dir is None or _is_shipped(settings.rubrics_dir):
        raise Problem(
            403,
            "forbidden",
            f"the shipped rubrics are never written to; set {PREFIX}RUBRICS_DIR to a folder",
        )
    return folder


def _is_shipped(folder: os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(folder, shipped("rubrics"))
    except OSError:
        return False


def _put(
    rubric_id: str, data: object, folder: RubricFolder, service: Service
) -> tuple[Put, Rubric]:
    from judge_service.api.rubric_toml import rubric_toml  # its library is needed here alone

    rubric = _checked(rubric_id, data, service)
    try:
        return folder.put(rubric, rubric_toml), rubric
    except VersionExists as error:
        raise Problem(409, "version_exists", str(error), field="version") from None
    except FolderRefused as error:
        raise Problem(403, "forbidden", str(error)) from None
    except ConfigError as error:
        raise Problem(422, "invalid_request", str(error)[:300]) from None
    except OSError as error:
        why = f"the folder of rubrics cannot be written to: {error.strerror}"
        if error.errno in _NOT_OURS:
            raise Problem(403, "forbidden", why) from None
        log.exception("a rubric could not be written")
        raise later(503, "storage_failed", why, 10) from None


def _checked(rubric_id: str, data: object, service: Service) -> Rubric:
    """The rubric of a body, by the same checks as at load. Raises Problem 422."""
    if not isinstance(data, dict):
        raise Problem(422, "invalid_request", "the body must be an object")
    content = {name: value for name, value in data.items() if name != HASH}
    try:
        rubric = check_rubric(content, rule_modules=service.settings.rule_modules)
    except ValidationError as error:
        found = [{"field": f[:200], "message": m[:200]} for f, m in faults_of(error)]
        first = found[0]
        message = ": ".join(part for part in (first["field"], first["message"]) if part)
        raise Problem(
            422,
            "invalid_rubric",
            message[:300] + (f" (and {len(found) - 1} more)" if len(found) > 1 else ""),
            field=first["field"] or None,
            faults=found[:MAX_FAULTS],
        ) from None
    if rubric.id != rubric_id:
        raise Problem(
            422, "invalid_rubric", f"id: {rubric.id!r} is not the one of the path", field="id"
        )
    return rubric
