"""Length control: no effect up to a point, nothing left from another, smooth in between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judge_service.rubric.length import LengthControl


@st.composite
def controls(draw: st.DrawFn) -> LengthControl:
    """Any valid setting up to a million characters."""
    free = draw(st.integers(0, 1_000_000))
    return LengthControl(free_chars=free, zero_chars=free + draw(st.integers(1, 1_000_000)))


def test_ends_and_middle() -> None:
    """1 up to the free length, 0 from the end of it, one half half way."""
    control = LengthControl(free_chars=1200, zero_chars=6000)
    assert [control.factor(n) for n in (0, 1200, 6000, 10**9)] == [1.0, 1.0, 0.0, 0.0]
    assert control.factor(3600) == pytest.approx(0.5)


@given(controls(), st.integers(0, 2_100_000), st.integers(0, 2_100_000))
def test_a_longer_text_never_has_more_left(control: LengthControl, a: int, b: int) -> None:
    """The factor stays in [0, 1] and never rises with length."""
    short, long = sorted((a, b))
    assert 0.0 <= control.factor(long) <= control.factor(short) <= 1.0


@given(controls())
def test_there_is_no_step_at_either_end(control: LengthControl) -> None:
    """One character at the ends costs less than one in the middle ever does."""
    span = control.zero_chars - control.free_chars
    steepest = 1.571 / span
    for edge in (control.free_chars, control.zero_chars):
        for chars in range(max(edge - 1, 0), edge + 1):
            assert control.factor(chars) - control.factor(chars + 1) <= steepest + 1e-12
    if span >= 100:
        assert control.factor(control.free_chars + 1) > 1 - 0.1 / span * 3
        assert control.factor(control.zero_chars - 1) < 0.1 / span * 3


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"free_chars": 10, "zero_chars": 10}, "must be smaller"),
        ({"free_chars": 11, "zero_chars": 10}, "must be smaller"),
        ({"free_chars": -1, "zero_chars": 10}, "free_chars"),
        ({"free_chars": 0, "zero_chars": 0}, "zero_chars"),
        ({"free_chars": 1.5, "zero_chars": 10}, "free_chars"),
        ({"free_chars": True, "zero_chars": 10}, "free_chars"),
        ({"free_chars": 1}, "zero_chars"),
        ({"free_chars": 1, "zero_chars": 2, "limit": 3}, "limit"),
    ],
    ids=["equal", "reversed", "negative", "zero", "fraction", "bool", "missing", "unknown field"],
)
def test_a_setting_that_makes_no_sense_is_refused(fields: dict[str, object], message: str) -> None:
    """The message names the field."""
    with pytest.raises(ValidationError, match=message):
        LengthControl.model_validate(fields)


def test_a_setting_cannot_be_changed() -> None:
    """A loaded rubric stays what it was."""
    control = LengthControl(free_chars=1, zero_chars=2)
    with pytest.raises(ValidationError):
        control.free_chars = 5  # type: ignore[misc]
