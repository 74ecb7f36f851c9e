"""A candidate that is too long for the judge: the rule fits_judge."""

from __future__ import annotations

import pytest

from tests.assess.support import (
    FOREIGN,
    assess,
)
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, faults
from tests.provider.replies import error


def test_a_candidate_that_surely_does_not_fit_is_zero_before_any_call(
    service: RunningService, provider: FakeProvider
) -> None:
    """The window of the judge is known and the candidate alone is longer: nobody is asked."""
    answer = assess(service, "many words " * 2000, judges=["small"])
    assert (answer["status"], answer["reward"], answer["short_circuited"]) == ("success", 0.0, True)
    assert answer["rules"]["results"][-1]["rule"] == "fits_judge"
    assert provider.requests == []


@pytest.mark.parametrize(
    ("judge", "script"),
    [
        ("main", faults.context_too_long()),
        ("main", faults.context_too_long("vllm")),
        ("window", faults.context_too_long("anthropic")),
        ("unsaid", faults.context_too_long("anthropic")),
        ("silent", faults.always(error(400, "Input is too long for requested model."))),
    ],
    ids=["openai", "vllm", "window from the spec", "window after the number", "no window named"],
)
def test_a_candidate_that_the_provider_finds_too_long_is_zero(
    judge: str, script: Behaviour, service: RunningService, provider: FakeProvider
) -> None:
    """Prompt and reference fit, the candidate does not: its own fault, after one request."""
    provider.behave(judge, script)
    answer = assess(service, "many words " * 2000, judges=[judge])
    assert (answer["status"], answer["reward"]) == ("success", 0.0)
    assert answer["rules"]["results"][-1]["rule"] == "fits_judge"
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 1


@pytest.mark.parametrize(
    ("prompt", "candidate"),
    [
        ("A question?", "Short."),
        ("long ago " * 9000, "Short."),
        ("long ago " * 9000, "and " * 9000),
    ],
    ids=["nothing is long", "the prompt is", "both are"],
)
def test_a_request_that_is_too_long_otherwise_fails(
    prompt: str, candidate: str, service: RunningService, provider: FakeProvider
) -> None:
    """The candidate is not to blame, so there is no reward; asking again cannot help."""
    provider.behave("main", faults.context_too_long())
    answer = assess(service, candidate, prompt=prompt)
    assert answer["error"]["code"] == "context_too_long"
    assert answer["error"]["retryable"] is False
    assert len(provider.requests) == 1


def test_tool_results_count_as_part_of_a_trajectory(
    service: RunningService, provider: FakeProvider
) -> None:
    """A short answer behind a very long conversation does not fit either."""
    messages = [
        {"role": "assistant", "tool_calls": [{"function": {"name": "read"}}]},
        {"role": "tool", "content": "many words " * 2000},
        {"role": "assistant", "content": "Done."},
    ]
    candidate = {"messages": messages, "family": FOREIGN}
    answer = assess(service, candidate, rubric="trajectory", judges=["small"])
    assert (answer["reward"], answer["short_circuited"]) == (0.0, True)
    assert provider.requests == []


@pytest.mark.parametrize(
    "more",
    [{"prompt": "long ago " * 2000}, {"prompt": "Why?", "reference": "long ago " * 2000}],
    ids=["the prompt", "the reference"],
)
@pytest.mark.parametrize("path", ["/v1/assess", "/v1/rank"])
def test_a_long_candidate_is_not_to_blame_where_the_rest_does_not_fit_either(
    path: str, more: dict[str, str], service: RunningService, provider: FakeProvider
) -> None:
    """Nobody can be judged under such a prompt, so that a zero would say nothing of the answer."""
    long = {"text": "many words " * 2000, "family": FOREIGN}
    body = {"rubric": "quality", "judges": ["small"], **more}
    one = (
        {"candidate": long}
        if path == "/v1/assess"
        else {"candidates": [long, {**long, "text": "Short."}]}
    )
    answer = service.post(path, {**body, **one})
    assert answer["status"] == "failed"
    assert answer["error"]["code"] == "context_too_long"
    assert provider.requests == []


def test_of_a_pair_both_may_be_too_long(service: RunningService, provider: FakeProvider) -> None:
    """Each alone is, beside a short prompt: a tie without a call."""
    answer = service.compare("many words " * 2000, "more words " * 2000, judges=["small"])
    assert (answer["outcome"], answer["short_circuited"]) == ("tie", True)
    assert provider.requests == []
