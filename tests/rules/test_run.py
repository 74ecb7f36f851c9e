"""Running rules: the report, the score, and rules that break."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_service.rules import (
    BUILT_IN,
    RuleError,
    RuleInput,
    RuleNeedsReference,
    RulesReport,
    parse_rules,
    run_rules,
)

HERE = "tests.rules.custom_rules"


def run(tables: list[dict[str, Any]], text: str) -> RulesReport:
    """Run rules read from tables."""
    return run_rules(parse_rules(tables, allowed_modules=[HERE]), RuleInput(text=text))


def test_without_rules_everything_passes() -> None:
    """No rules is a rule score of 1."""
    assert run([], "x") == RulesReport(passed=True, score=1.0, results=())


def test_hard_rules_decide_and_weighted_rules_count() -> None:
    """The score is the mean of the weighted rules only."""
    report = run(
        [
            {"rule": "non_empty", "hard": True},
            {"rule": "max_chars", "limit": 5, "weight": 3.0},
            {"rule": "min_chars", "limit": 5, "weight": 1.0},
            {"rule": "max_words", "limit": 1, "hard": True},
        ],
        "one two three",
    )
    assert not report.passed
    assert report.score == pytest.approx((3 * 5 / 13 + 1) / 4)
    assert [result.rule for result in report.results] == [
        "non_empty",
        "max_chars",
        "min_chars",
        "max_words",
    ]
    assert [result.passed for result in report.results] == [True, False, True, False]


def test_a_failing_weighted_rule_does_not_stop() -> None:
    """Only hard rules do."""
    report = run([{"rule": "max_chars", "limit": 1, "weight": 1.0}], "ab")
    assert report.passed
    assert report.score == 0.5


@pytest.mark.parametrize(
    "what",
    ["nan", "two", "negative", "true", "word", "none", "number", "truthy", "detail"],
)
def test_a_finding_that_is_none_breaks_the_run(what: str) -> None:
    """No score is made up for a rule that returned nonsense."""
    table = {"rule": f"{HERE}:returns", "weight": 1.0, "params": {"what": what}}
    with pytest.raises(RuleError, match=f"{HERE}:returns"):
        run([table], "x")


def test_a_rule_that_raises_breaks_the_run_without_quoting_the_candidate() -> None:
    """The error names the rule; the text stays in its cause."""
    with pytest.raises(RuleError, match=f"{HERE}:breaks.*KeyError") as raised:
        run([{"rule": f"{HERE}:breaks", "hard": True}], "a secret")
    assert "secret" not in str(raised.value)


def test_a_missing_reference_is_not_a_broken_rule() -> None:
    """It is the caller's mistake and keeps its own type."""
    with pytest.raises(RuleNeedsReference):
        run([{"rule": "matches_reference", "hard": True}], "x")


def test_details_stay_short() -> None:
    """A detail never carries a large part of a candidate."""
    report = run([{"rule": "forbidden_text", "text": "x" * 200, "hard": True}], "x" * 200)
    assert len(report.results[0].detail or "") <= 200


NEEDED: dict[str, dict[str, Any]] = {
    "min_chars": {"limit": 3},
    "max_chars": {"limit": 3},
    "min_words": {"limit": 3},
    "max_words": {"limit": 3},
    "required_text": {"text": ["a"]},
    "forbidden_text": {"text": ["answer", *(f"a b c {n}" for n in range(200))]},
    "regex": {"pattern": "a"},
    "json_schema": {"schema": {"type": "integer"}},
    "required_fields": {"fields": ["a"]},
    "tool_calls": {"max": 1},
    "matches_reference": {"mode": "number"},
}
EVERY = parse_rules(
    [{"rule": name, "weight": 1.0, **NEEDED.get(name, {})} for name in BUILT_IN]
    + [
        {"rule": "required_fields", "form": "xml", "fields": ["a"], "weight": 1.0},
        {"rule": "required_fields", "form": "boxed", "weight": 1.0},
        {"rule": "required_fields", "form": "label", "fields": ["a"], "weight": 1.0},
        {"rule": "keyword_stuffing", "keywords": ["a"], "weight": 1.0},
        {"rule": "matches_reference", "weight": 1.0},
    ]
)


@settings(max_examples=150, deadline=None)
@given(text=st.text(st.characters(), max_size=120), prompt=st.text(max_size=40))
def test_every_rule_answers_every_text(text: str, prompt: str) -> None:
    """Whatever the characters: a score in [0, 1], the same every time."""
    candidate = RuleInput(text=text, prompt=prompt, reference="42")
    report = run_rules(EVERY, candidate)
    assert 0.0 <= report.score <= 1.0
    assert all(0.0 <= result.score <= 1.0 for result in report.results)
    assert report == run_rules(EVERY, candidate)


_SIZE = 60_000
HOSTILE = {
    "marks": "a" + "\u0315\u0300\u0316" * (_SIZE // 3),
    "voicing marks": "a" + "\u0315\uff9e" * (_SIZE // 2),
    "flags": "🇩" * _SIZE,
    "ligatures": "\ufdfa" * _SIZE,
    "zero width": "a\u200b" * (_SIZE // 2),
    "spaces": "i can't help with that." + " " * _SIZE,
    "boxes": r"\boxed{" * (_SIZE // 7),
    "tags": "<answer " * (_SIZE // 8),
    "brackets": "[" * _SIZE,
    "stars": "*a " * (_SIZE // 3),
    "openings": "the answer is the " * (_SIZE // 18),
    "digits": "1," * (_SIZE // 2),
    "dollars": "$" * _SIZE,
    "fences": "```\n" * (_SIZE // 4),
    "blank lines": "x" + "\n " * (_SIZE // 2),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_takes_quadratic_time(text: str) -> None:
    """Sixty thousand characters of the worst kinds are checked within the time limit."""
    report = run_rules(EVERY, RuleInput(text=text, prompt="What is it, then?", reference="42"))
    assert len(report.results) == len(EVERY)
