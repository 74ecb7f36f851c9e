"""What is written to a terminal cannot steer it."""

from __future__ import annotations

import io
import json

import pytest

from judge_service.cli.terminal import clean, json_text, print_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\u{1B}[31mred"),
        ("\x9b31m", "\\u{9B}31m"),
        ("a\rb\x00\x07", "a\\u{D}b\\u{0}\\u{7}"),
        ("abc\u202etxt.exe", "abc\\u{202E}txt.exe"),
        ("\u2028", "\\u{2028}"),
        ("\ud800", "\\u{D800}"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("👩‍👩‍👧 نمی‌خواهم 雨 é", "👩‍👩‍👧 نمی‌خواهم 雨 é"),
    ],
    ids=["escape", "c1", "controls", "bidi", "separator", "surrogate", "plain", "scripts"],
)
def test_control_characters_are_made_visible(text: str, shown: str) -> None:
    """What acts on a terminal is shown by its number; ordinary text stays."""
    assert clean(text) == shown


@pytest.mark.parametrize("text", ["\x1b]0;x\x07", "\x9b31m", "\u202e", "\u2028", "\ud800", "雨😀"])
def test_json_holds_the_text_and_nothing_that_acts(text: str) -> None:
    """The value survives; the raw character does not stand in the output."""
    written = json_text({"reason": text})

    assert json.loads(written) == {"reason": text}
    assert not any(c in written for c in "\x1b\x9b\x07\u202e\u2028\ud800")
    assert written.splitlines() == [written]


def test_json_refuses_what_is_no_number() -> None:
    """NaN and infinity never leave the service."""
    with pytest.raises(ValueError, match="JSON"):
        json_text({"reward": float("nan")})


def test_json_is_ascii_where_nothing_else_can_be_written() -> None:
    """An output with another encoding gets JSON that still says the same."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    print_json({"reason": "雨 😀"}, stream)

    assert json.loads(raw.getvalue()) == {"reason": "雨 😀"}
