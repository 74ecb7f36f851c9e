"""What is answered or refused before it is sent: texts too long, and what is no JSON."""

from __future__ import annotations

import math
from typing import Any

import pytest
from judge_client import (
    Assess,
    Assessed,
    AssessFailed,
    Compared,
    InvalidRequest,
    JudgeClient,
    Ranked,
)

from tests.clients.stand_in import SUCCESS, StandIn, Told
from tests.harness import RunningService
from tests.provider import FakeProvider

LIMIT = 1024 * 1024
LONG = "x" * (LIMIT + 1)


@pytest.fixture
def client(stand_in: StandIn) -> JudgeClient:
    """A client of the stand-in."""
    return JudgeClient(stand_in.url, rubric="quality", timeout_s=5)


TOO_LONG: dict[str, Any] = {
    "text": LONG,
    "two bytes a character": "é" * (LIMIT // 2 + 1),
    "last turn": [{"role": "assistant", "content": LONG}],
    "earlier turn": [
        {"role": "assistant", "content": LONG},
        {"role": "assistant", "content": "short"},
    ],
    "parts": [{"role": "assistant", "content": [{"type": "text", "text": "x" * 600_000}] * 2}],
    "tool call": [
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": LONG}}]}
    ],
    "many turns": [{"role": "assistant", "content": "x" * 1_000_000}] * 5,
}


@pytest.mark.parametrize("candidate", TOO_LONG.values(), ids=TOO_LONG)
def test_a_candidate_too_long_has_lost(
    client: JudgeClient, stand_in: StandIn, candidate: Any
) -> None:
    """It gets an honest 0 by the rule too_long, without a request."""
    result = client.assess("p", candidate, metadata={"row": 1})

    assert isinstance(result, Assessed)
    assert (result.reward, result.short_circuited) == (0.0, True)
    assert result.raw["rules"]["results"][0]["rule"] == "too_long"
    assert result.metrics["judge_failed"] == 0.0
    assert result.metadata == {"row": 1}
    assert stand_in.requests == []


def test_a_candidate_just_short_enough_is_sent(
    service: RunningService, judge: FakeProvider
) -> None:
    """The service takes what the client sends at its limit."""
    client = JudgeClient(service.url, rubric="short")

    result = client.assess("p", "x" * LIMIT)

    assert isinstance(result, Assessed)
    assert result.raw["rules"]["results"][-1]["rule"] == "max_chars"


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [(LONG, "b", "second"), ("a", LONG, "first"), (LONG, LONG, "tie"), (LONG, " ", "tie")],
    ids=["first", "second", "both", "empty"],
)
def test_a_pair_with_one_too_long(
    client: JudgeClient, stand_in: StandIn, first: str, second: str, outcome: str
) -> None:
    """What is too long loses; against what has lost as well it is a tie."""
    result = client.compare("p", first, second)

    assert isinstance(result, Compared)
    assert result.outcome == outcome
    assert stand_in.requests == []


def test_a_group_with_one_too_long(client: JudgeClient, stand_in: StandIn) -> None:
    """The member is sent empty, so that the service gives it its 0 among the others."""
    stand_in.says(Told(body={**SUCCESS, "rewards": [1.0, 0.0, 0.5], "ranks": [1, 3, 2]}))

    result = client.rank("p", ["a", {"id": "m2", "text": LONG, "family": "xi"}, "c"])

    assert isinstance(result, Ranked)
    assert result.rewards == (1.0, 0.0, 0.5)
    sent = stand_in.requests[0].body["candidates"]
    assert sent == [{"text": "a"}, {"id": "m2", "text": "", "family": "xi"}, {"text": "c"}]


@pytest.mark.parametrize(
    "request_",
    [
        Assess(prompt=LONG, candidate="c"),
        Assess(prompt="p", candidate="c", reference=LONG),
        Assess(prompt=[{"role": "user", "content": LONG}], candidate="c"),
        Assess(prompt="p", candidate=[{"role": "tool", "content": LONG}]),
        Assess(prompt="p", candidate="c", metadata={"m": "x" * (5 * LIMIT)}),
    ],
    ids=["prompt", "reference", "messages", "tool turn", "body"],
)
def test_a_question_too_long_has_failed(
    client: JudgeClient, stand_in: StandIn, request_: Assess
) -> None:
    """That is not the candidate's fault: no reward, and asking again cannot help."""
    for result in (client.ask(request_), *client.assess_many([request_])):
        assert isinstance(result, AssessFailed)
        assert (result.error.code, result.error.retryable) == ("context_too_long", False)
    assert stand_in.requests == []


UNSENDABLE: list[tuple[str, dict[str, Any]]] = [
    ("candidate", {"candidate": "half \udcff"}),
    ("prompt", {"prompt": "\ud83d"}),
    ("reference", {"reference": "\udfff"}),
    ("metadata", {"metadata": {"loss": math.nan}}),
    ("metadata", {"metadata": {"loss": math.inf}}),
    ("metadata", {"metadata": {"when": b"now"}}),
    ("metadata", {"metadata": {"\ud800": 1}}),
    ("candidate", {"candidate": 7}),
    ("candidate", {"candidate": ["a", "b"]}),
    ("prompt", {"prompt": None}),
    ("rubric", {"rubric": ""}),
]


@pytest.mark.parametrize(
    ("field", "given"), UNSENDABLE, ids=[str(given) for _, given in UNSENDABLE]
)
def test_what_cannot_be_sent_is_one_clear_error(
    stand_in: StandIn, field: str, given: dict[str, Any]
) -> None:
    """Half a surrogate pair, NaN and what is no JSON are named by their field, never echoed."""
    client = JudgeClient(stand_in.url)
    fields = {"prompt": "p", "candidate": "c", "rubric": "quality", **given}

    with pytest.raises(InvalidRequest, match=rf"^{field}: ") as caught:
        client.assess(**fields)

    assert caught.value.field == field
    assert str(caught.value).isascii()
    assert stand_in.requests == []
