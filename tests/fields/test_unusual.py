"""Fields that are unusual but right: judged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import RunningService
from tests.http_bodies import (
    GOOD,
)

TAKEN: dict[str, Any] = {
    "null where optional": {**GOOD, "reference": None, "judges": None, "metadata": None},
    "whole number for timeout_s": {**GOOD, "timeout_s": 30},
    "longest timeout": {**GOOD, "timeout_s": 600},
    "same judge twice": {**GOOD, "judges": ["alpha", "alpha"]},
    "same family twice": {**GOOD, "candidate": {"text": "x", "family": ["own", "own"]}},
    "metadata of any shape": {**GOOD, "metadata": {"": [None, {"a": 1.5}], "\0": "\U0001f600"}},
    "large number in metadata": {**GOOD, "metadata": {"seed": 2**64}},
    "empty prompt": {**GOOD, "prompt": ""},
    "null content": {**GOOD, "prompt": [{"role": "user", "content": None}]},
}


@pytest.mark.parametrize("body", TAKEN.values(), ids=TAKEN)
def test_unusual_requests_that_are_right(service: RunningService, body: dict[str, Any]) -> None:
    """What is unusual but says something clear is judged."""
    answer = service.post("/v1/assess", body)

    assert answer["status"] == "success"
    assert answer["metadata"] == body.get("metadata")


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": "x"}]], ids=["none", "user"])
def test_no_assistant_turn_is_an_empty_answer(
    service: RunningService, messages: list[dict[str, str]]
) -> None:
    """Messages without an assistant turn are an answer that is empty, not a mistake."""
    answer = service.assess({"messages": messages, "family": "own"})

    assert (answer["status"], answer["reward"], answer["short_circuited"]) == ("success", 0.0, True)
