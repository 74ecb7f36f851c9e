"""A guard around uvicorn's HTTP protocol: sizes, deadlines, one request at a time, a clean end.

Uvicorn hands whatever arrives to its parser. Here a head is held back until it is complete and has
been read strictly, a body is counted to its end, and what comes after waits until the request is
answered: a second request never runs beside the first or after a refusal. Reading goes on
meanwhile, because that is how a caller who hangs up is noticed; closing the sending half counts as
hanging up.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.server import ServerState

from judge_service.api.door.head import (
    END,
    WATCHED,
    body_length,
    check_beginning,
    check_head,
    too_many_fields,
)
from judge_service.api.door.leaving import ANSWER, BODY, HEAD, LEAVING, LeavingProtocol
from judge_service.api.door.limits import most_connections
from judge_service.api.door.line import LINE, Line
from judge_service.api.door.refusal import Refusal, bad_request, overloaded, too_slow

log = logging.getLogger("judge_service.door")


class _SecondRequest(Exception):
    """The parser met the beginning of a request while another one waits for its answer."""


class GuardedProtocol(LeavingProtocol):
    """One connection. ``limits`` is a class attribute, for uvicorn makes the instances."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._inner: Any = self.app
        self.app = self._run
        self._watched: list[tuple[bytes, bytes]] = []
        self._to_come: int | None = 0  # of a body; None when chunked
        self._arrived = 0  # of a body
        self._around = 0  # bytes of a chunked body since its last byte of content
        self._body_since = 0.0
        self._keeps_alive = False  # what the request says about the connection

    # The connection.

    # Narrower than asyncio's, as uvicorn's own.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let it in, or say that there is no room."""
        most = min(self.limits.connections, most_connections())
        others = len(self.connections)
        super().connection_made(transport)
        if others < most or self._make_room():
            self._wait(self.limits.head_s, self._head_late)
        elif others < most + 4 * self.limits.spare:
            self._refuse(overloaded("too many connections", self.limits.retry_after_s))
        else:
            self._phase = LEAVING
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything, and let the request know."""
        super().connection_lost(exc)
        # Of what refers to itself only the collector would get rid.
        self.app = self._inner

    def shutdown(self) -> None:
        """The service ends: what is complete is answered, what is not is sent away."""
        if self._phase is ANSWER:
            self._ahead.clear()
            self.cycle.keep_alive = False
        elif self._phase is BODY or self._begun:
            self._refuse(overloaded("the service is stopping", self.limits.retry_after_s))
        else:
            self.leave()

    # What arrives.

    def data_received(self, data: bytes) -> None:
        """Take, keep or throw away."""
        self._unset_keepalive_if_required()
        if self._phase is LEAVING:
            self._throw_away(len(data))
        elif self._phase is ANSWER:
            self._keep(data)
        else:
            try:
                self._take(data)
            except Refusal as refusal:
                self._refuse(refusal)

    def _keep(self, data: bytes) -> None:
        """Keep what was sent ahead; beyond the limit none of it will be answered."""
        if len(self._ahead) + len(data) <= self.limits.ahead_bytes and self.cycle.keep_alive:
            self._ahead += data
        else:
            self._ahead.clear()
            self.cycle.keep_alive = False
            self._throw_away(len(data))

    def _take(self, data: bytes) -> None:
        if self._phase is HEAD:
            data = self._take_head(self._begun + data if self._begun else data)
        if self._phase is BODY:
            if data:
                data = self._take_body(data)
            if self._phase is BODY and self._timer is None:
                self._body_since = self.loop.time()
                self._wait(self.limits.body_s, self._body_late)
        if data and self._phase is ANSWER:
            self._keep(data)

    def _take_head(self, data: bytes) -> bytes:
        """Begin a request when its head is all there; returns what comes after it."""
        if data.startswith(b"\r\n"):
            data = data[2:]  # some clients end a body with a line
        end = data.find(END)
        if end < 0:
            self._begun = data
            if data:
                check_beginning(data, self.limits)
            if self._timer is None:
                self._wait(self.limits.head_s, self._head_late)
            return b""
        end += len(END)
        head = check_head(data[:end], self.limits)
        self._begun = b""
        self._stop_waiting()
        self._watched.clear()
        self._phase = BODY
        self._feed(head)
        return data[end:]

    def _take_body(self, data: bytes) -> bytes:
        """Feed what belongs to the body; returns what comes after it."""
        self._arrived += len(data)
        if self._to_come is None:
            before = len(self.cycle.body)
            self._feed(data)
            self._around = self._around + len(data) if len(self.cycle.body) == before else 0
            if self._around > self.limits.bodiless_bytes and self._phase is BODY:
                raise bad_request("a chunked body has too much around it")
            return b""
        body, after = data[: self._to_come], data[self._to_come :]
        self._to_come -= len(body)
        self._feed(body)
        return after

    def _feed(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if self._phase is not ANSWER:
                if isinstance(error.__context__, Refusal):
                    raise error.__context__ from None
                raise bad_request("the request is malformed") from None
            # The parser has been told to read no further: a chunked body has no end that could be
            # counted to, so what came behind it is not answered.
            self.cycle.keep_alive = False

    def _check_room(self) -> None:
        spare = self.limits.spare if self._to_come == 0 else 0
        if len(self.tasks) >= self.limits.requests + spare:
            raise overloaded("too many requests at once", self.limits.retry_after_s)

    def _make_room(self) -> bool:
        """Close a connection on which nothing is asked."""
        for other in self.connections:
            if isinstance(other, GuardedProtocol) and other.timeout_keep_alive_task is not None:
                other.leave()
                return True
        return False

    # What the parser says.

    def on_message_begin(self) -> None:
        """A request begins."""
        if self._phase is ANSWER:
            raise _SecondRequest
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of its head, or a trailer."""
        name = name.lower()
        if name in WATCHED:
            self._watched.append((name, value))
            if name == b"expect":
                # HTTP/1.0 knows no interim answers; other expectations are refused.
                self.expect_100_continue = self.parser.get_http_version() != "1.0"
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Start the app on it. Raises Refusal."""
        if len(self.headers) > self.limits.fields:
            raise too_many_fields(self.limits)
        version = self.parser.get_http_version()
        self._to_come = body_length(self._watched, version)
        self._arrived = self._around = 0
        if len(self.tasks) >= self.limits.requests:
            self._check_room()
        self._line = Line()
        self.scope["extensions"] = {LINE: {"line": self._line}}
        super().on_headers_complete()
        cycle = self.cycle
        cycle.transport = self._exit
        # Until it is all there: nobody waits for the rest of a request that has been answered.
        self._keeps_alive, cycle.keep_alive = cycle.keep_alive, False
        # Trailers come as headers; the list that the app sees is not theirs to add to.
        self.headers = []

    def on_message_complete(self) -> None:
        """It is all there."""
        super().on_message_complete()
        if self._phase is BODY:
            self._phase = ANSWER
            self._stop_waiting()
            if not self.cycle.response_started:
                self.cycle.keep_alive = self._keeps_alive

    # The answer.

    async def _run(self, scope: Any, receive: Any, send: Any) -> None:
        """The app, as the request's task runs it."""
        try:
            await self._inner(scope, receive, send)
        except asyncio.CancelledError:
            # The grace period is over. How the request would have ended is not known, and that is
            # what a closed connection says.
            log.warning("a request was cut off")
            self.cycle.disconnected = True
            self.transport.abort()

    def on_response_complete(self) -> None:
        """The next request, or none."""
        super().on_response_complete()
        if self._phase is not ANSWER:
            self.leave()
            self._unset_keepalive_if_required()
            return
        self._phase = HEAD
        if self._ahead:
            ahead, self._ahead = bytes(self._ahead), bytearray()
            self.data_received(ahead)

    # Time.

    def _head_late(self) -> None:
        self._timer = None
        if self._begun:
            self._refuse(too_slow("head_too_slow", "the request's head took too long to arrive"))
        else:
            self.leave()

    def _body_late(self) -> None:
        limits = self.limits
        allowed = min(limits.body_s + self._arrived / limits.body_bytes_per_s, limits.body_max_s)
        left = self._body_since + allowed - self.loop.time()
        if self.flow.read_paused:
            # It is the service that does not read.
            left = max(left, 0.5)
        if left > 0:
            self._wait(left, self._body_late)
        else:
            self._refuse(too_slow("body_too_slow", "the request's body took too long to arrive"))
