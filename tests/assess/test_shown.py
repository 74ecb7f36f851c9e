"""What the judge is shown of a candidate."""

from __future__ import annotations

from typing import Any

import pytest

from tests.assess.support import (
    FOREIGN,
    REWARD,
    assess,
    slots,
)
from tests.harness import RunningService
from tests.provider import FakeProvider


@pytest.mark.parametrize(
    ("rubric", "shown"),
    [("quality", "It is 95."), ("with-thoughts", "<think>95 or 100?</think>It is 95.")],
)
def test_reasoning_of_a_candidate_is_not_judged(
    rubric: str, shown: str, service: RunningService, provider: FakeProvider
) -> None:
    """Unless the rubric wants it."""
    assess(service, "<think>95 or 100?</think>It is 95.", rubric=rubric)
    assert slots(provider)["candidate"].strip() == shown


def test_an_answer_that_is_all_reasoning_is_empty(
    service: RunningService, provider: FakeProvider
) -> None:
    """Nothing was said, so the reward is 0."""
    assert assess(service, "<think>95 or 100?</think>")["reward"] == 0.0
    assert provider.requests == []


def test_formatting_can_be_kept_from_the_judge(
    service: RunningService, provider: FakeProvider
) -> None:
    """The judge sees a copy without the decoration; the words stay."""
    assess(service, "# Title\n\n**Bold** claim 🎉🎉🎉", rubric="plain-form")
    shown = slots(provider)["candidate"]
    assert "**" not in shown
    assert "🎉" not in shown
    assert "claim" in shown


def _chat(*turns: tuple[str, object]) -> dict[str, Any]:
    messages = [{"role": role, "content": content} for role, content in turns]
    return {"messages": messages, "family": FOREIGN}


_CALL = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "boil"}'}}
]}  # fmt: skip


def test_the_last_assistant_turn_is_judged(service: RunningService, provider: FakeProvider) -> None:
    """Earlier turns are context, whatever their role; later ones are not shown."""
    assess(
        service,
        _chat(
            ("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello."),
            ("user", "And?"), ("assistant", "That is all."), ("user", "Thanks"),
        ),
    )  # fmt: skip
    shown = slots(provider)
    assert shown["candidate"] == "That is all."
    assert shown["context"].splitlines() == [
        "[system]", "Be brief.", "[user]", "Hi", "[assistant]", "Hello.", "[user]", "And?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "candidate",
    [
        _chat(("user", "Hi")),
        {"messages": [], "family": FOREIGN},
        _chat(("assistant", None)),
        _chat(("assistant", "")),
        _chat(("assistant", [])),
        _chat(("assistant", "Yes."), ("assistant", " ")),
        _chat(("assistant", [{"type": "text", "text": " "}])),
    ],
    ids=["no turn", "no messages", "null", "blank", "no parts", "last is blank", "blank part"],
)
def test_a_conversation_without_an_answer_is_zero(
    candidate: object, service: RunningService, provider: FakeProvider
) -> None:
    """Nothing was answered, so nobody is asked."""
    answer = assess(service, candidate)
    assert (answer["reward"], answer["short_circuited"]) == (0.0, True)
    assert provider.requests == []


def test_a_turn_with_tool_calls_is_not_empty(
    service: RunningService, provider: FakeProvider
) -> None:
    """The calls are what is judged, shown as data."""
    answer = assess(service, {"messages": [_CALL], "family": FOREIGN})
    assert answer["reward"] == REWARD
    assert "[tool_call: search]" in slots(provider)["candidate"]
    assert '{"q": "boil"}' in slots(provider)["candidate"]


def test_content_may_be_a_list_of_parts(service: RunningService, provider: FakeProvider) -> None:
    """Text parts are shown, others are named."""
    parts = [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "x"}}]
    assess(service, _chat(("assistant", parts)))
    assert slots(provider)["candidate"].splitlines()[0] == "See"


def test_a_trajectory_is_shown_whole(service: RunningService, provider: FakeProvider) -> None:
    """Every turn with its role, calls and results, and no context beside it."""
    tool = {"role": "tool", "tool_call_id": "c1", "content": "95 degrees"}
    last = {"role": "assistant", "content": "It is 95."}
    candidate = {"messages": [_CALL, tool, last], "family": FOREIGN}
    assert assess(service, candidate, rubric="trajectory")["reward"] == REWARD
    shown = slots(provider)
    assert shown.keys() == {"prompt", "candidate"}
    assert [line for line in shown["candidate"].splitlines() if line.startswith("[")] == [
        "[assistant]", "[tool_call: search]", "[id: c1]", "[tool]", "[tool_call_id: c1]",
        "[assistant]",
    ]  # fmt: skip


def test_a_prompt_may_be_a_conversation(service: RunningService, provider: FakeProvider) -> None:
    """System turns of a caller are data like all the rest."""
    prompt = [{"role": "system", "content": "Be nice."}, {"role": "user", "content": "Why?"}]
    assess(service, prompt=prompt)
    assert slots(provider)["prompt"].splitlines() == ["[system]", "Be nice.", "[user]", "Why?"]
    assert "Be nice." not in provider.requests[0].body["messages"][0]["content"]
