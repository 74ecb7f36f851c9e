"""What ends without a judge: broken rules, empty answers, nobody who may judge."""

from __future__ import annotations

import pytest

from tests.assess.support import (
    FOREIGN,
    assess,
    flags,
)
from tests.harness import RunningService
from tests.provider import FakeProvider


@pytest.mark.parametrize(
    ("rule", "candidate"),
    [
        ("non_empty", ""),
        ("non_empty", " \n\t "),
        ("non_empty", "\u200b\u2060"),
        ("max_chars", "A word and another one, different ones each, until it is too long by far."),
        ("forbidden_text", "As an AI, I know it boils."),
        ("finished", {"text": "It boils at", "family": FOREIGN, "finish_reason": "length"}),
        ("refusal", "I'm sorry, but I can't help with that."),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else None,
)
def test_a_broken_hard_rule_is_a_zero_without_a_judge(
    rule: str, candidate: object, service: RunningService, provider: FakeProvider
) -> None:
    """Success, reward 0.0, the rule named, nobody asked and nothing spent."""
    answer = assess(service, candidate, rubric="ruled")
    assert (answer["status"], answer["reward"], answer["short_circuited"]) == ("success", 0.0, True)
    assert rule in {r["rule"] for r in answer["rules"]["results"] if not r["passed"]}
    assert answer["verdicts"] == []
    assert answer["metrics"]["short_circuited"] == 1.0
    assert answer["metrics"]["judge_failed"] == 0.0
    assert provider.requests == []
    assert answer["usage"]["upstream_requests"] == 0
    assert answer["usage"]["cost_usd"] == 0.0


def test_an_empty_answer_is_zero_in_every_rubric(
    service: RunningService, provider: FakeProvider
) -> None:
    """Also in a rubric that has no rule against it."""
    answer = assess(service, "")
    assert (answer["reward"], answer["short_circuited"]) == (0.0, True)
    assert provider.requests == []


@pytest.mark.parametrize(
    ("judge", "candidate"),
    [
        ("main", {"text": "x", "family": "alpha"}),
        ("main", {"text": "x", "family": ["beta", "Alpha"]}),
        ("listed", {"text": "x", "policy_model": "gpt-4.1-mini"}),
        ("listed", {"text": "x", "policy_model": "azure/gpt-4o-2024-08-06"}),
        ("distilled", {"text": "x", "family": "qwen"}),
        ("distilled", {"text": "x", "policy_model": "deepseek-ai/DeepSeek-R1"}),
    ],
)
def test_no_judge_of_another_family_is_a_failure(
    judge: str, candidate: object, service: RunningService, provider: FakeProvider
) -> None:
    """A judge never judges its own family; without another one there is no verdict, ever."""
    answer = assess(service, candidate, judges=[judge])
    assert answer["error"]["code"] == "no_eligible_judge"
    assert answer["error"]["retryable"] is False
    assert answer["metrics"]["judge_failed"] == 1.0
    assert provider.requests == []


def test_the_family_given_wins_over_the_policy_model(service: RunningService) -> None:
    """Whoever says whose lineage a model is knows better than a table of names."""
    candidate = {"text": "x", "policy_model": "gpt-4o", "family": "my-own"}
    answer = assess(service, candidate, judges=["listed"])
    assert answer["status"] == "success"
    assert flags(answer) == set()


@pytest.mark.parametrize("more", [{}, {"policy_model": "our-secret-sauce"}])
def test_an_unknown_family_is_flagged(more: dict[str, str], service: RunningService) -> None:
    """Nothing can be excluded then, and the outcome says so."""
    answer = assess(service, {"text": "x", **more})
    assert answer["status"] == "success"
    assert flags(answer) == {"family_unknown"}
