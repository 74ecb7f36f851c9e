"""What the door says to a request it does not let in."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from http import HTTPStatus


class Refusal(Exception):
    """An answer of the door: ``status``, a word for machines, a sentence for people.

    The sentence never repeats what the caller sent.
    """

    def __init__(self, status: int, code: str, message: str, *fields: tuple[bytes, bytes]) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.fields = fields

    def answer(self, defaults: Iterable[tuple[bytes, bytes]]) -> bytes:
        """The response's bytes, after which the connection is closed."""
        body = json.dumps({"error": {"code": self.code, "message": str(self)}}).encode()
        fields = [
            *defaults,
            *self.fields,
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            (b"x-request-id", secrets.token_hex(16).encode()),
        ]
        lines = b"".join(b"%b: %b\r\n" % field for field in fields)
        phrase = HTTPStatus(self.status).phrase.encode()
        return b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (self.status, phrase, lines, body)


def bad_request(message: str) -> Refusal:
    """400: not a request that every server on the way reads the same."""
    return Refusal(400, "bad_request", message)


def too_slow(code: str, message: str) -> Refusal:
    """408."""
    return Refusal(408, code, message)


def overloaded(message: str, retry_after_s: int) -> Refusal:
    """503 with Retry-After: nothing of the request was done."""
    return Refusal(503, "overloaded", message, (b"retry-after", b"%d" % retry_after_s))
