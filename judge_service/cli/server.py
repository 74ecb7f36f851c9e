"""Running the app behind uvicorn: one readable line for what goes wrong, one banner when ready."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import closing, contextmanager
from functools import partial
from types import FrameType
from typing import Any

import typer
import uvicorn
from uvicorn.config import STARTUP_FAILURE

from judge_service.api.app import app_from_env
from judge_service.api.door import door_options
from judge_service.api.door.limits import allow_many_files
from judge_service.cli.banner import announce
from judge_service.cli.exits import WRONG, UserError
from judge_service.cli.garbage import keep_all, look_never, look_rarely
from judge_service.cli.hurry import Hurry
from judge_service.cli.logs import log_config
from judge_service.cli.preflight import prepare
from judge_service.cli.shared_metrics import shared_metrics
from judge_service.cli.shared_port import shared_port
from judge_service.cli.terminal import complain
from judge_service.cli.workers import Workers, heed_parent
from judge_service.errors import ConfigError
from judge_service.rubric.library import Library
from judge_service.settings import Settings

APP = "judge_service.cli.server:app"
"""Where each process finds the app it is to make."""
GRACE_S = 25
"""How long requests may still run after a signal, in seconds. Orchestrators kill after 30."""
WORKER_ANSWER_S = 20
"""A worker that is silent for so many seconds hangs. A large body can take one some seconds."""
Ready = Callable[[], None]


def run_service(
    settings: Settings, environ: Mapping[str, str], *, as_json: bool, ready: Ready
) -> None:
    """Serve until a signal ends it. ``ready`` is called when the service listens.

    Raises ConfigError, UserError (an address that cannot be had) or Exit.
    """
    prepared = prepare(settings, environ)
    allow_many_files()
    bound = bind(settings.host, settings.port, shared=settings.workers > 1)
    # Workers are processes of their own: what they read is the environment.
    os.environ.update(environ)
    config = uvicorn.Config(
        # Worker processes find the app by its name, and load its rubrics themselves.
        APP if settings.workers > 1 else partial(app, prepared.library),
        factory=True,
        workers=settings.workers,
        **door_options(),
        loop="uvloop",
        lifespan="on",
        timeout_graceful_shutdown=GRACE_S,
        timeout_worker_healthcheck=WORKER_ANSWER_S,
        log_config=log_config(settings),
    )

    def listening() -> None:
        ready()
        announce(prepared, bound.getsockname()[1], as_json=as_json)

    with closing(bound), _obeyed(signal.SIGINT, signal.SIGTERM), shared_metrics(settings.workers):
        if settings.workers > 1:
            _run_workers(config, bound, listening)
        else:
            _run_one(config, bound, listening)


@contextmanager
def _obeyed(*signals: signal.Signals) -> Iterator[None]:
    """Uvicorn raises the signals it met once more when it is done; they have been obeyed by then.
    Nor does one that comes later change how the process ends, unless the start fails.
    """
    before = {number: signal.signal(number, lambda *_: None) for number in signals}
    try:
        yield
    except BaseException:
        for number, handler in before.items():
            signal.signal(number, handler)
        raise
    for number in signals:
        signal.signal(number, signal.SIG_IGN)


def bind(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket with the address, on which nobody is heard before the service is ready; one to be
    ``shared`` is for several workers.

    Raises UserError when the address cannot be had.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            if shared:
                bound = shared_port(bound)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        hint = "; another port: --port" if port else ""
        raise UserError(
            f"cannot listen on {host}:{port}: {error.strerror or error}{hint}"
        ) from None
    bound.set_inheritable(True)
    return bound


def app(library: Library | None = None) -> Any:
    """The app of one process, as uvicorn loads it; settings come from the environment."""
    heed_parent()
    look_never()
    return GuardedStart(app_from_env(library))


class GuardedStart:
    """Around the app: what stops the start or the end is told in a line, not in a traceback, and
    what the start has made is no longer looked through for garbage.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """ASGI entry."""
        if scope["type"] != "lifespan":
            await self._inner(scope, receive, send)
            return

        doing = "start"

        async def told(message: MutableMapping[str, Any]) -> None:
            nonlocal doing
            if message["type"] == "lifespan.startup.complete":
                doing = "close everything"
                keep_all()
            elif message["type"].endswith(".failed"):
                if _is_cancelled():
                    return  # nobody listens any more
                message = {**message, "message": ""}
            await send(message)

        try:
            await self._inner(scope, receive, told)
        except ConfigError as error:
            complain(error)
            raise
        except asyncio.CancelledError:
            # The loop ends, for a hurried stop took too long, and that has been told.
            if not _is_cancelled():
                raise
        except Exception:
            logging.getLogger("judge_service").exception("the service could not %s", doing)
            raise


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _Server(uvicorn.Server):
    """Tells when it listens, and hurries when it is told twice to stop."""

    def __init__(self, config: uvicorn.Config, listening: Ready) -> None:
        super().__init__(config)
        self._listening = listening
        self._hurry: Hurry | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets)
        if self.started and not self.should_exit:
            self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; from now on one more signal means in a hurry."""
        self._hurry = Hurry(self)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop. ``timeout`` and others send a signal twice at once; that is one wish."""
        if self._hurry is not None:
            self._hurry.begin()
        # A second SIGINT would make uvicorn leave the app's own ending out.
        super().handle_exit(signal.SIGTERM, frame)


def _run_one(config: uvicorn.Config, bound: socket.socket, listening: Ready) -> None:
    try:
        _Server(config, listening).run([bound])
    except SystemExit as end:
        raise typer.Exit(WRONG if end.code else 0) from None


def _run_workers(config: uvicorn.Config, bound: socket.socket, listening: Ready) -> None:
    workers = Workers(config, bound, listening)
    look_rarely()  # the start of this process, through which it did not look, is over
    workers.run()
    if any(process.exitcode == STARTUP_FAILURE for process in workers.processes):
        raise typer.Exit(WRONG)
