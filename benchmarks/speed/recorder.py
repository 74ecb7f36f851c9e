"""A judge that keeps what it was sent, byte for byte, and whose provider has a prompt cache."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.provider.envelope_reader import read

TOKEN_BYTES = 4
"""So many bytes of a message count as a token."""


def shared(one: bytes, other: bytes) -> int:
    """The bytes up to the first difference."""
    most = min(len(one), len(other))
    return next((n for n in range(most) if one[n] != other[n]), most)


@dataclass(slots=True)
class Recorder:
    """The bodies in the order of arrival, and the tokens that the prompt cache has served: those of
    a system message that came before.
    """

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    cached_tokens: int = 0
    _known: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: bytes) -> dict[str, Any]:
        """A verdict on the first value that is offered."""
        asked = json.loads(body)
        system, user = (message["content"] for message in asked["messages"])
        with self._lock:
            self.bodies.append(body)
            cached = len(system) // TOKEN_BYTES if system in self._known else 0
            self._known.add(system)
            self.cached_tokens += cached
        form = read(user).form
        verdict = {"v": form.v, "reason": "So.", form.kind: form.allowed[0], "end": form.end}
        return {
            "id": "chat", "object": "chat.completion", "created": 1, "model": asked["model"],
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": json.dumps(verdict)}}],
            "usage": {"prompt_tokens": (len(system) + len(user)) // TOKEN_BYTES,
                      "completion_tokens": 20, "total_tokens": 0,
                      "prompt_tokens_details": {"cached_tokens": cached}},
        }  # fmt: skip


@contextmanager
def recorder() -> Iterator[Recorder]:
    """Run one on a free port of loopback."""
    kept = Recorder()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            data = json.dumps(kept.answer(body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    kept.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield kept
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
