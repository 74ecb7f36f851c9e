"""A server in the place of the service: it answers what a test tells it to, and counts."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

SUCCESS: dict[str, Any] = {
    "status": "success",
    "reward": 0.75,
    "short_circuited": False,
    "metrics": {"judge_failed": 0.0, "rule_score": 1.0, "model_score": 0.75},
    "flags": [{"flag": "family_unknown", "detail": None}],
    "error": None,
    "metadata": None,
}
HTML = b"<html><body>The proxy is having a rest.</body></html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One answer. ``body`` is JSON unless it is bytes; ``drop`` hangs up instead of answering,
    ``gate`` is waited for and then ``hold_s`` before it, ``drip_s`` between the bytes of the body.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False
    gate: threading.Event | None = None
    hold_s: float = 0.0
    drip_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """One request: ``n`` counts from 1."""

    n: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


Script = Callable[[Got], Told]


def failed(code: str = "timeout", *, retryable: bool = True) -> dict[str, Any]:
    """A failed outcome as the service gives it."""
    error = {"code": code, "message": "no verdict", "retryable": retryable, "retry_after_s": None}
    return {**SUCCESS, "status": "failed", "reward": None, "error": error}


def problem(code: str, message: str = "not like this") -> dict[str, Any]:
    """A service's problem body."""
    return {"error": {"code": code, "message": message, "field": "candidate"}}


def _echoed(got: Got, told: Told) -> Told:
    """The answer with each item's metadata given back, as the service does, unless it has some."""
    results = told.body.get("results") if isinstance(told.body, dict) else None
    items = got.body.get("items") if isinstance(got.body, dict) else None
    if not isinstance(results, list) or not isinstance(items, list):
        return told
    made = list(results)
    for at, (result, item) in enumerate(zip(results, items, strict=False)):
        if isinstance(result, dict) and result.get("metadata") is None:
            made[at] = {**result, "metadata": item.get("metadata")}
    return replace(told, body={**told.body, "results": made})


class StandIn:
    """The server; a context manager."""

    def __init__(self) -> None:
        self.requests: list[Got] = []
        self.connections = 0
        self.script: Script = lambda got: Told(body=SUCCESS)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def says(self, *answers: Told) -> None:
        """Give these answers in turn, the last one for ever."""
        self.script = lambda got: answers[min(got.n, len(answers)) - 1]

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Told:
        """Take note of a request; returns what to answer."""
        with self._lock:
            got = Got(
                n=len(self.requests) + 1, method=method, path=path, headers=headers,
                body=json.loads(body) if body else None,
            )  # fmt: skip
            self.requests.append(got)
        return _echoed(got, self.script(got))

    def asked(self, times: int) -> bool:
        """Wait until it has got so many requests; False when they did not come in time."""
        until = time.monotonic() + 60.0
        while len(self.requests) < times:
            if self._ended.wait(0.005) or time.monotonic() > until:
                return False
        return True

    def wait(self, seconds: float) -> None:
        """Wait, but not beyond the end of the test."""
        self._ended.wait(seconds)

    def __enter__(self) -> StandIn:
        """Start."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is what some tests want."""


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            stand_in.connections += 1

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            told = stand_in.answer(self.command, self.path, headers, self.rfile.read(length))
            if told.gate is not None:
                told.gate.wait(60)
            stand_in.wait(told.hold_s)
            if told.drop:
                self.close_connection = True
                return
            body = told.body if isinstance(told.body, bytes) else json.dumps(told.body).encode()
            self.send_response(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self._send(body, told.drip_s)

        do_GET = do_POST

        def _send(self, body: bytes, drip_s: float) -> None:
            if not drip_s:
                self.wfile.write(body)
                return
            for at in range(len(body)):
                self.wfile.write(body[at : at + 1])
                self.wfile.flush()
                stand_in.wait(drip_s)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    return Handler
