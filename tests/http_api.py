"""What the tests of the HTTP API share: a service with the shipped rubrics, requests, answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from judge_service.api.answers import (
    AssessAnswer,
    BulkAnswer,
    CompareAnswer,
    JoinAnswer,
    RankAnswer,
)
from judge_service.settings import Settings
from tests.harness import Judges, RunningService, serve
from tests.provider import FakeProvider

KEY = "sk-canary-1234567890"
GOOD: dict[str, Any] = {
    "rubric": "quick-look",
    "prompt": "A question?",
    "candidate": {"text": "An answer.", "family": "own"},
}
PAIR: dict[str, Any] = {
    "rubric": "pairwise-helpfulness",
    "prompt": "A question?",
    "candidates": [{"text": "One answer.", "family": "own"}, {"text": "Another answer."}],
}
ANSWERS: dict[str, type[Any]] = {
    "/v1/assess": AssessAnswer,
    "/v1/compare": CompareAnswer,
    "/v1/rank": RankAnswer,
    "/v1/groups/join": JoinAnswer,
    "/v1/bulk": BulkAnswer,
}


@contextmanager
def shipped_service(folder: Path) -> Iterator[tuple[RunningService, FakeProvider]]:
    """A service with the shipped rubrics and two judges, one of them with a key."""
    with FakeProvider() as provider:
        provider.oracle(lambda _: 2)
        judges = Judges(provider).add("alpha", api_key_env="ALPHA_KEY").add("beta", rpm=600)
        with serve(Settings(judges=judges.write(folder)), {"ALPHA_KEY": KEY}) as service:
            service.post("/v1/assess", GOOD)  # the first request of all is slower
            yield service, provider


def strict_json(answer: httpx.Response) -> Any:
    """The body of an answer; NaN and infinities, which are not JSON, fail the test."""

    def no_constant(word: str) -> Any:
        raise AssertionError(f"{word} in an answer")

    return json.loads(answer.text, parse_constant=no_constant)
