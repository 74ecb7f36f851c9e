"""Pairs that are settled without a judge."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compare.support import (
    BAD_TEXT,
    FOREIGN,
    GOOD_TEXT,
    LONG_TEXT,
    TIES,
    asked,
    compare,
)
from tests.harness import RunningService
from tests.provider import FakeProvider, faults


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (GOOD_TEXT, GOOD_TEXT),
        ("The good  answer.\n", " The good answer."),
        ("The good\u200b answer.", "The good answer."),
        ("<think>a</think>The good answer.", "<think>b</think>The good answer."),
        ({"messages": [{"role": "assistant", "content": "Yes."}], "family": FOREIGN}, "Yes."),
        ("", "   "),
    ],
    ids=["same", "spaces", "invisible", "reasoning", "message and text", "both empty"],
)
def test_equal_candidates_are_a_tie_without_a_judge(
    first: object, second: object, service: RunningService, provider: FakeProvider
) -> None:
    """There is nothing to compare."""
    answer = compare(service, first, second)
    assert (answer["outcome"], answer["preference"]) == ("tie", 0.5)
    assert answer["short_circuited"] is True
    assert provider.requests == []


@pytest.mark.parametrize("second", ["**The good answer.**", "The  *good* answer. 🎉🎉🎉🎉🎉🎉🎉"])
@pytest.mark.parametrize(("rubric", "requests"), [("plain", 0), ("pair", 2)])
def test_what_a_judge_would_see_as_equal_is_a_tie(
    second: str, rubric: str, requests: int, service: RunningService, provider: FakeProvider
) -> None:
    """Formatting makes another answer only where the rubric shows it to the judge."""
    provider.behave("ann", TIES)
    answer = compare(service, "The good answer.", second, rubric=rubric)
    assert answer["short_circuited"] is (requests == 0)
    assert answer["outcome"] == "tie"
    assert len(provider.requests) == requests


def _trajectory(query: str, result: str = "95 degrees") -> dict[str, Any]:
    call = {"id": "c1", "function": {"name": "search", "arguments": query}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": result},
        {"role": "assistant", "content": "It is 95."},
    ]
    return {"messages": messages, "family": FOREIGN}


@pytest.mark.parametrize(
    ("first", "second", "rubric", "requests"),
    [
        (_trajectory("boil"), _trajectory("boil"), "trajectory", 0),
        (_trajectory("boil"), _trajectory("melt"), "trajectory", 2),
        (_trajectory("boil"), _trajectory("boil", "nothing"), "trajectory", 2),
        (_trajectory("boil"), _trajectory("boil"), "pair", 0),
        (_trajectory("boil"), _trajectory("melt"), "pair", 2),
    ],
    ids=["same way", "other call", "other result", "same context", "other context"],
)
def test_agents_are_equal_only_when_they_went_the_same_way(
    first: object,
    second: object,
    rubric: str,
    requests: int,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """The same last words after other calls are another candidate."""
    answer = compare(service, first, second, rubric=rubric)
    assert answer["outcome"] == "tie"
    assert len(provider.requests) == requests


def _said(*turns: tuple[str, str]) -> dict[str, Any]:
    """A candidate of messages: role and text."""
    messages = [{"role": role, "content": text} for role, text in turns]
    return {"messages": messages, "family": FOREIGN}


TASK, DONE = ("user", "Do it."), ("assistant", "Done.")
RESULT, END = ("tool", '{"status": "ok"}'), ("assistant", "All good.")
WAY = _said(TASK, DONE, RESULT, END)
SPELLED = {
    "a turn that spells the turns after it": _said(
        TASK, ("assistant", 'Done.\n[tool]\n{"status": "ok"}\n[assistant]\nAll good.')
    ),
    "a turn that spells one turn": _said(
        TASK, ("assistant", 'Done.\n[tool]\n{"status": "ok"}'), END
    ),
    "a task that spells the answer": _said(
        ("user", "Do it.\n[assistant]\nDone."), RESULT, END
    ),
    "a text": (
        '[user]\nDo it.\n[assistant]\nDone.\n[tool]\n{"status": "ok"}\n[assistant]\nAll good.'
    ),
    "a turn on one line": _said(
        TASK, ("assistant", 'Done. [tool] {"status": "ok"} [assistant] All good.')
    ),
    "other roles": _said(("system", "Do it."), DONE, RESULT, END),
    "turns as one": _said(TASK, ("assistant", "Done."), ("tool", '{"status": "ok"}\nAll good.')),
}  # fmt: skip


@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
@pytest.mark.parametrize("other", SPELLED.values(), ids=SPELLED)
def test_a_conversation_is_not_what_spells_it(
    other: object, swapped: bool, service: RunningService, provider: FakeProvider
) -> None:
    """Its turns count, not the text that they would make: a judge is asked."""
    provider.behave("ann", TIES)
    pair = (other, WAY) if swapped else (WAY, other)
    answer = compare(service, *pair, rubric="trajectory")
    assert answer["short_circuited"] is False
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (_said(("user", "a\n[assistant]\nb"), END), _said(("user", "a"), ("assistant", "b"), END)),
        (_said(("user", "a"), END), "[user]\na\nAll good."),
        (_said(("user", "a"), ("assistant", "b\nAll good.")), _said(("user", "a\nb"), END)),
    ],
    ids=["a turn that spells two", "a text", "moved into the context"],
)
def test_contexts_are_not_what_spells_them(
    first: object, second: object, service: RunningService, provider: FakeProvider
) -> None:
    """The same last turn after other turns is another candidate."""
    provider.behave("ann", TIES)
    assert compare(service, first, second)["short_circuited"] is False
    assert len(provider.requests) == 2


@pytest.mark.parametrize("rubric", ["pair", "trajectory"])
def test_white_space_makes_no_other_conversation(
    rubric: str, service: RunningService, provider: FakeProvider
) -> None:
    """In none of its turns, nor does a turn's text that is not there."""
    nothing = {"role": "assistant", "content": None}
    first = _said(("user", " Do  it.\n"), ("assistant", "  "), RESULT, ("assistant", "All\ngood."))
    second = _said(TASK, DONE, ("tool", '{"status":  "ok"}\n'), END)
    second["messages"][1] = nothing
    assert compare(service, first, second, rubric=rubric)["short_circuited"] is True
    assert provider.requests == []


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (LONG_TEXT, BAD_TEXT, "second"),
        (BAD_TEXT, LONG_TEXT, "first"),
        (LONG_TEXT, LONG_TEXT + " And on.", "tie"),
        ("", BAD_TEXT, "second"),
    ],
)
def test_a_broken_hard_rule_loses_without_a_judge(
    first: str, second: str, outcome: str, service: RunningService, provider: FakeProvider
) -> None:
    """Whatever the other one is worth; two that break one are a tie."""
    answer = compare(service, first, second, rubric="ruled")
    assert answer["outcome"] == outcome
    assert answer["short_circuited"] is True
    assert [report["passed"] for report in answer["rules"]] == [
        outcome == "first", outcome == "second",
    ]  # fmt: skip
    assert provider.requests == []
    assert answer["usage"]["upstream_requests"] == 0


def test_a_candidate_that_does_not_fit_the_judge_loses(
    service: RunningService, provider: FakeProvider
) -> None:
    """It surely exceeds the window alone, so nobody is asked."""
    answer = compare(service, BAD_TEXT, "many words " * 2000, judges=["small"])
    assert answer["outcome"] == "first"
    assert answer["rules"][1]["results"][-1]["rule"] == "fits_judge"
    assert provider.requests == []


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (BAD_TEXT, "many words " * 2000, "first"),
        ("many words " * 2000, BAD_TEXT, "second"),
        ("many words " * 2000, "other words " * 2000, None),
    ],
    ids=["the second", "the first", "both"],
)
def test_a_candidate_that_the_provider_finds_too_long_loses(
    first: str, second: str, outcome: str | None, service: RunningService, provider: FakeProvider
) -> None:
    """All but that candidate surely fits; where neither is to blame alone, there is no verdict."""
    provider.behave("narrow", faults.context_too_long())
    answer = compare(service, first, second, judges=["narrow"])
    assert answer["outcome"] == outcome
    assert (answer["error"] or {}).get("code") == (None if outcome else "context_too_long")
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 2


def test_a_judge_of_either_ones_family_is_not_asked(
    service: RunningService, provider: FakeProvider
) -> None:
    """The families of both candidates are excluded."""
    first = {"text": GOOD_TEXT, "family": "alpha"}
    second = {"text": BAD_TEXT, "family": ["beta", "delta"]}
    assert compare(service, first, second)["verdicts"][0]["judge"] == "cleo"
    answer = compare(service, first, second, judges=["ann", "bea", "dora"])
    assert answer["error"]["code"] == "no_eligible_judge"
    assert asked(provider) == ["cleo"]
