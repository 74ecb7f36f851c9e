"""What routes find on a request: the running service and who is calling."""

from __future__ import annotations

from typing import Annotated, TypedDict

from fastapi import Depends, Request

from judge_service.access.key_ring import OPERATOR, Caller, KeyRing
from judge_service.access.keys_file import peppers_of
from judge_service.access.quota import Quotas
from judge_service.api.auth import authenticate
from judge_service.api.drift_desk import DriftDesk
from judge_service.api.repeats import Repeats
from judge_service.api.request_note import note_client
from judge_service.service import Service


class State(TypedDict):
    """The lifespan's state, typed."""

    service: Service
    keys: KeyRing | None
    quotas: Quotas
    drift: DriftDesk
    repeats: Repeats


def state_of(service: Service) -> State:
    """The state of a running service. Raises ConfigError for a keys file that is wrong."""
    file = service.settings.api_keys_file
    return State(
        service=service,
        keys=None if file is None else KeyRing(file, *peppers_of(service.secret)),
        quotas=Quotas(service.store, service.observer),
        drift=DriftDesk(service.engine, service.settings.beside_store("drift-runs")),
        repeats=Repeats(),
    )


def held(request: Request) -> State:
    """What the app holds. Starlette's ``request.state`` is the same behind four calls a look."""
    state: State = request.scope["state"]
    return state


async def service_of(request: Request) -> Service:
    """The running service."""
    return held(request)["service"]


async def caller_of(request: Request) -> Caller:
    """The authenticated caller. Raises Problem 401 or 403."""
    return _noted(authenticate(request, held(request)["keys"]))


async def trainer_of(request: Request) -> Caller:
    """The same where the key may stand in the query. Raises Problem 401 or 403."""
    return _noted(authenticate(request, held(request)["keys"], query_token=True))


def _noted(caller: Caller) -> Caller:
    if caller is not OPERATOR:
        note_client(caller.name)
    return caller


ServiceDep = Annotated[Service, Depends(service_of)]
CallerDep = Annotated[Caller, Depends(caller_of)]
TrainerDep = Annotated[Caller, Depends(trainer_of)]
