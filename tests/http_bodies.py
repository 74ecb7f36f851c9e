"""What the tests of request bodies share: a small service, bodies, and how one is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge_service.api.answers import ProblemAnswer
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

MIB = 1024 * 1024
MAX_SECONDS = 20.0
MAX_ECHO = 200
JSON = {"content-type": "application/json"}
GOOD: dict[str, Any] = {
    "rubric": "quality",
    "prompt": "A question?",
    "candidate": {"text": "An answer.", "family": "own"},
}


@contextmanager
def small_service(folder: Path) -> Iterator[tuple[RunningService, FakeProvider]]:
    """A service with the rubrics quality, pair and panel (which needs two judges).

    Every text is worth 4 points of 5.
    """
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "panel", panel_size=2, quorum=2)
    with FakeProvider() as provider:
        provider.oracle(lambda _: 4)
        with judged_by(Judges(provider).add("alpha").add("beta"), folder) as running:
            running.assess()  # the first request of all is slower
            yield running, provider


def raw(body: object) -> bytes:
    """A body as it goes over the wire."""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def changed(**fields: object) -> bytes:
    """A good body with other fields."""
    return raw({**GOOD, **fields})


def candidate(**fields: object) -> bytes:
    """A good body with another candidate."""
    return changed(candidate=fields)


def assistant(**fields: object) -> bytes:
    """A good body whose candidate is one assistant turn."""
    return candidate(messages=[{"role": "assistant", **fields}])


def spliced(json_text: str) -> bytes:
    """A good body with one more member, written out as JSON text that need not be JSON."""
    return json.dumps(GOOD)[:-1].encode() + b"," + json_text.encode() + b"}"


def pair(candidates: object) -> bytes:
    """A comparison of whatever is given."""
    return raw({"rubric": "pair", "prompt": "A question?", "candidates": candidates})


def refused(
    service: RunningService,
    body: bytes | Iterator[bytes],
    status: int = 422,
    *,
    path: str = "/v1/assess",
    headers: dict[str, str] | None = None,
) -> ProblemAnswer:
    """Post a body that must be refused, in time and in the form that is promised."""
    started = time.monotonic()
    answer = service.http.post(path, content=body, headers=JSON if headers is None else headers)
    seconds = time.monotonic() - started
    assert answer.status_code == status, answer.text[:300]
    assert seconds < MAX_SECONDS
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    if isinstance(body, bytes):
        assert_no_echo(answer.text, body)
    return ProblemAnswer.model_validate(answer.json())


def assert_no_echo(text: str, body: bytes) -> None:
    """No stretch of the body longer than the limit stands in the answer."""
    shown = body.decode("utf-8", "replace")
    size = MAX_ECHO + 1
    windows = (text[at : at + size] for at in range(len(text) - MAX_ECHO))
    assert not any(window in shown for window in windows)
