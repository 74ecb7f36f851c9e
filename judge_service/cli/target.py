"""Where requests go: a service in this process, or a running one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from judge_service.cli.configuration import settings_of
from judge_service.cli.exits import UserError
from judge_service.cli.requests import Asked
from judge_service.cli.terminal import err, note
from judge_service.errors import RequestError
from judge_service.request import AssessRequest, CompareRequest

if TYPE_CHECKING:
    from judge_service.service import Service

KEY_VARIABLE = "JUDGE_SERVICE_API_KEY"
"""Where a caller's key for a running service is read from."""
TRIAL_TIMEOUT_S = 120.0
"""Time for a request to the embedded model where none is given: it runs on this machine's cores."""


class Refused(UserError):
    """This one request cannot be right; others may be."""


class Later(UserError):
    """Not now: the service is busy or away. ``after_s`` is how long it asks to wait."""

    def __init__(self, message: str, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class Target(Protocol):
    """Answers requests with outcomes as JSON-ready values."""

    async def ask(self, request: Asked) -> dict[str, Any]:
        """The outcome. Raises Refused for the request's own faults, Later, or UserError."""

    async def rubric(self, rubric_id: str) -> Mapping[str, Any] | None:
        """The rubric's content, or None where it cannot be had."""


class InProcess:
    """The service's engine in this process."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def ask(self, request: Asked) -> dict[str, Any]:
        """Judge here."""
        from judge_service.wire import assess_wire, compare_wire, rank_wire

        engine, domain = self.service.engine, request.domain()
        if self.service.local_model is not None and "timeout_s" not in request.data:
            domain = replace(domain, timeout_s=TRIAL_TIMEOUT_S)
        try:
            if isinstance(domain, AssessRequest):
                return assess_wire(await engine.assess(domain), domain.metadata)
            if isinstance(domain, CompareRequest):
                return compare_wire(await engine.compare(domain), domain.metadata)
            return rank_wire(await engine.rank(domain), domain.metadata)
        except RequestError as error:
            raise Refused(str(error)) from None

    async def rubric(self, rubric_id: str) -> Mapping[str, Any] | None:
        """The content of a loaded rubric."""
        library = self.service.engine.library
        return library[rubric_id].content() if rubric_id in library else None


@asynccontextmanager
async def in_process(
    flags: Mapping[str, object], *, notes: bool = True
) -> AsyncIterator[InProcess]:
    """Open the service as ``serve`` would; ``notes`` says what of its judges is odd. Raises
    ConfigError.
    """
    settings, environ = settings_of(flags)
    async with AsyncExitStack() as stack:
        with err().status("making the judge ready in this process …"):
            from judge_service.service import open_service

            service = await stack.enter_async_context(open_service(settings, environ))
        for remark in _remarks(service, environ) if notes else ():
            note(remark)
        yield InProcess(service)


def _remarks(service: Service, environ: Mapping[str, str]) -> list[str]:
    from judge_service.judges.provider_key import key_warnings

    if service.local_model is None:
        return key_warnings(service.engine.bench.values(), environ)
    return [
        f"the embedded trial model {service.local_model.model_file.stem} judges: it is for trying "
        "things out, not for training; name your own with --judges-file"
    ]


def open_target(
    url: str | None, flags: Mapping[str, object]
) -> AbstractAsyncContextManager[Target]:
    """The running service at ``url``, or one in this process when there is no URL."""
    if url:
        from judge_service.cli.remote import remote

        return remote(url)
    return in_process(flags)
