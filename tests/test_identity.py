"""Which answer a candidate is: what makes another one, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.candidate.identity import NOBODY, identity_of, prompt_identity
from judge_service.types import Message, ToolCall

WORDS = st.text(alphabet="ab[]:\n th0", max_size=6)
CALLS = st.builds(ToolCall, name=WORDS, arguments=WORDS, id=st.none() | WORDS)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool"]),
    text=WORDS,
    name=st.none() | WORDS,
    tool_call_id=st.none() | WORDS,
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
)
CONVERSATIONS = st.lists(MESSAGES, max_size=3).map(tuple)


@given(CONVERSATIONS, CONVERSATIONS)
def test_two_prompts_have_one_hash_only_when_they_are_one(
    first: tuple[Message, ...], second: tuple[Message, ...]
) -> None:
    """Whatever their texts spell."""
    assert (prompt_identity(first) == prompt_identity(second)) == (first == second)


@given(CONVERSATIONS, st.integers(0, 3))
def test_a_context_is_not_part_of_the_answer(messages: tuple[Message, ...], at: int) -> None:
    """Where the one ends and the other begins makes another candidate."""
    moved = identity_of("", messages[at:], messages[:at])
    assert (moved.key == identity_of("", messages).key) == (at == 0 or not messages)


CALL = ToolCall(name="search", arguments="boil", id="7")
TURN = Message(role="assistant", text="Yes.", name="bob", tool_calls=(CALL,), tool_call_id="9")
CHANGES = {
    "role": replace(TURN, role="user"),
    "text": replace(TURN, text="No."),
    "name": replace(TURN, name=None),
    "id": replace(TURN, tool_call_id="8"),
    "no call": replace(TURN, tool_calls=()),
    "call twice": replace(TURN, tool_calls=(CALL, CALL)),
    "tool": replace(TURN, tool_calls=(replace(CALL, name="find"),)),
    "arguments": replace(TURN, tool_calls=(replace(CALL, arguments="melt"),)),
    "call id": replace(TURN, tool_calls=(replace(CALL, id=None),)),
    "name in the text": replace(TURN, name=None, text="[name: bob]\nYes."),
    "call in the text": replace(
        TURN, tool_calls=(), text="Yes.\n[tool_call: search]\n[id: 7]\nboil"
    ),
    "call in the arguments": replace(
        TURN, tool_calls=(replace(CALL, arguments="boil\n[tool_call: search]"),)
    ),
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("place", ["answer", "context"])
def test_everything_that_a_turn_holds_counts(changed: Message, place: str) -> None:
    """In the answer and in the turns before it."""
    if place == "answer":
        assert identity_of("Yes.", (changed,)).key != identity_of("Yes.", (TURN,)).key
    else:
        assert (
            identity_of("Yes.", "Yes.", (changed,)).key != identity_of("Yes.", "Yes.", (TURN,)).key
        )


def test_formatting_that_is_not_shown_makes_no_other_answer() -> None:
    """Two have one key in common, though they were written differently."""
    plain, bold = identity_of("Yes.", "Yes."), identity_of("**Yes.**", "Yes.")

    assert plain.key != bold.key
    assert plain.keys & bold.keys
    assert identity_of("**Yes.**", "**Yes.**").keys.isdisjoint(plain.keys)


def test_whom_nobody_looked_at_is_the_same_as_nobody() -> None:
    """Not even as another one whom nobody looked at."""
    assert not NOBODY.keys & NOBODY.keys
