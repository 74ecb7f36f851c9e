"""Two questions have one key only if they are one question."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from judge_service.envelope.envelope import Question
from judge_service.judges.judge import JudgeSpec
from judge_service.reply.reply import ChoiceForm, ReplyForm, ScoreForm, ScoresForm
from judge_service.types import Message, ToolCall
from judge_service.verdicts.key import verdict_key

# Few letters and many separators, so that ambiguities are found if there are any.
TEXT = st.text(alphabet='ab:,|"[]{}1\n\u00e9e\u0301\ud800', max_size=6)
NAMES = st.sampled_from(["prompt", "context", "reference", "candidate", "candidate_1"])
CALLS = st.builds(ToolCall, name=TEXT, arguments=TEXT, id=st.none() | TEXT)
MESSAGES = st.builds(
    Message,
    role=TEXT,
    text=TEXT,
    name=st.none() | TEXT,
    tool_call_id=st.none() | TEXT,
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
)
SLOTS = st.tuples(NAMES, TEXT | st.lists(MESSAGES, max_size=2).map(tuple))
POINTS = st.lists(st.integers(0, 12), min_size=2, max_size=4, unique=True).map(
    lambda points: tuple(sorted(points))
)
FORMS: st.SearchStrategy[ReplyForm] = st.one_of(
    st.builds(ScoreForm, allowed=POINTS),
    st.builds(ChoiceForm, allowed=st.lists(TEXT, max_size=3).map(tuple)),
    st.builds(ScoresForm, allowed=st.lists(st.tuples(TEXT, POINTS), max_size=2).map(tuple)),
)
QUESTIONS = st.builds(
    Question,
    system=TEXT,
    slots=st.lists(SLOTS, max_size=3).map(tuple),
    form=FORMS,
)
TENANTS = st.none() | TEXT


def judge(**more: Any) -> JudgeSpec:
    """A judge's spec."""
    return JudgeSpec.model_validate({"id": "a", "model": "openai/gpt-5-mini", **more})


@settings(max_examples=400)
@given(first=QUESTIONS, second=QUESTIONS, tenants=st.tuples(TENANTS, TENANTS))
def test_different_questions_have_different_keys(
    first: Question, second: Question, tenants: tuple[str | None, str | None]
) -> None:
    """Keys are equal exactly when everything that could move the verdict is equal."""
    keys = [
        verdict_key(judge(), question, tenant=tenant)
        for question, tenant in zip((first, second), tenants, strict=True)
    ]
    same = tenants[0] == tenants[1] and (first.system, first.slots, first.form) == (
        second.system, second.slots, second.form,
    )  # fmt: skip

    assert (keys[0] == keys[1]) == same


@given(question=QUESTIONS, tenant=TENANTS)
def test_a_key_is_stable_and_plain(question: Question, tenant: str | None) -> None:
    """The same question has the same key each time: a version and a hash, none of its texts."""
    key = verdict_key(judge(), question, tenant=tenant)

    assert key == verdict_key(judge(), question, tenant=tenant)
    version, digest = key.removeprefix("jv:").split(":")
    assert version == "1"
    assert len(bytes.fromhex(digest)) == 32


def test_text_that_moves_between_slots_is_another_question() -> None:
    """Where one text ends and the next begins is part of the key."""
    form = ScoreForm(allowed=(1, 2))
    keys = {
        verdict_key(judge(), Question(system=system, slots=slots, form=form), tenant=None)
        for system, slots in (
            ("s", (("prompt", "ab"), ("candidate", "c"))),
            ("s", (("prompt", "a"), ("candidate", "bc"))),
            ("s", (("candidate", "c"), ("prompt", "ab"))),
            ("sp", (("prompt", "ab"), ("candidate", "c"))),
            ("s", (("prompt", "ab"), ("reference", ""), ("candidate", "c"))),
            ("s", (("prompt", "é"), ("candidate", "c"))),
            ("s", (("prompt", "e\u0301"), ("candidate", "c"))),
            ("s", (("prompt", (Message(role="user", text="ab"),)), ("candidate", "c"))),
            ("s", (("prompt", "[user]\nab"), ("candidate", "c"))),
        )
    }

    assert len(keys) == 9


def test_the_embedded_judges_port_does_not_matter() -> None:
    """A model inside this process has another address each time and is the same judge."""
    question = Question(system="s", slots=(("prompt", "p"),), form=ScoreForm(allowed=(1, 2)))
    ports = [judge(api_base=f"http://127.0.0.1:{port}/v1") for port in (1111, 2222)]

    assert len({verdict_key(j, question, tenant=None, embedded=True) for j in ports}) == 1
    assert len({verdict_key(j, question, tenant=None) for j in ports}) == 2
