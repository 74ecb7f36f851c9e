"""What routes find on a request: the running service and who is calling."""

from __future__ import annotations

from typing import Annotated, TypedDict

from fastapi import Depends, Request

from judge_service.api.auth import Caller, KeyRing, authenticate
from judge_service.service import Service


class State(TypedDict):
    """The lifespan's state, typed."""

    service: Service
    keys: KeyRing | None


async def service_of(request: Request) -> Service:
    """The running service."""
    service: Service = request.state.service
    return service


async def caller_of(request: Request) -> Caller:
    """The authenticated caller. Raises Problem 401 or 403."""
    return authenticate(request, request.state.keys)


ServiceDep = Annotated[Service, Depends(service_of)]
CallerDep = Annotated[Caller, Depends(caller_of)]
