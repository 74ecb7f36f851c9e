"""Answers of judging: metadata, failures, each caller's own."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.harness import RunningService, new_prompt
from tests.http_api import ANSWERS, GOOD, PAIR, strict_json
from tests.provider import FakeProvider, behaviours


@pytest.mark.parametrize(("path", "body"), [("/v1/assess", GOOD), ("/v1/compare", PAIR)])
def test_metadata_comes_back_and_goes_nowhere_else(
    service: RunningService, provider: FakeProvider, path: str, body: dict[str, Any]
) -> None:
    """Metadata is echoed as it was, and no judge sees it."""
    metadata = {"step": 7, "canary": "x-metadata-x", "nested": [{"a": None}, 1.5, "\u2028"]}

    answer = service.post(path, {**body, "prompt": new_prompt(), "metadata": metadata})

    assert answer["metadata"] == metadata
    assert provider.requests
    assert not any("x-metadata-x" in json.dumps(dict(r.body)) for r in provider.requests)


@pytest.mark.parametrize(("path", "body"), [("/v1/assess", GOOD), ("/v1/compare", PAIR)])
def test_a_failure_has_the_published_form(
    service: RunningService, provider: FakeProvider, path: str, body: dict[str, Any]
) -> None:
    """A failed outcome is HTTP 200, has no reward, and its metrics have the usual names."""
    judged = service.post(path, body)
    provider.behave_by_default(behaviours.says("I would rather not."))

    answer = service.http.post(path, json={**body, "prompt": new_prompt()})

    assert answer.status_code == 200
    failed = ANSWERS[path].model_validate(strict_json(answer))
    assert failed.status == "failed"
    assert failed.error is not None
    assert failed.error.code == "unparsable"
    assert failed.error.retryable
    assert failed.metrics.keys() == judged["metrics"].keys()
    assert failed.metrics["judge_failed"] == 1.0
    assert strict_json(answer).get("reward" if path == "/v1/assess" else "preference") is None


def test_requests_do_not_mix(service: RunningService, provider: FakeProvider) -> None:
    """Concurrent requests each get their own answer."""
    provider.behave_by_default(
        behaviours.decides(lambda seen: 3 if "good" in seen.candidate else 1)
    )

    def ask(number: int) -> tuple[int, float, str]:
        word = "good" if number % 3 else "poor"
        answer = service.http.post(
            "/v1/assess",
            json={
                **GOOD,
                "prompt": f"Question {number}?",
                "candidate": {"text": f"A {word} answer, number {number}.", "family": "own"},
                "metadata": {"number": number},
            },
            headers={"x-request-id": f"id-{number}"},
        )
        body = answer.json()
        return body["metadata"]["number"], body["reward"], answer.headers["x-request-id"]

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(48)))

    assert answers == [(n, 1.0 if n % 3 else 0.0, f"id-{n}") for n in range(48)]
