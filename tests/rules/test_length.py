"""Emptiness and size: what counts as a character or a word, and the scores near a limit."""

from __future__ import annotations

import pytest

from judge_service.rules import is_blank
from judge_service.types import ToolCall

from .support import check, passes, rule

BLANK = {
    "nothing": "",
    "spaces": " \t\r\n\u00a0\u3000",
    "zero width": "\u200b\u200c\u200d\u2060",
    "byte order mark": "\ufeff",
    "hangul fillers": "\u3164\u115f\u1160\uffa0",
    "braille blank": "\u2800\u2800",
    "tag characters": "\U000e0041\U000e0042",
    "variation selectors": "\ufe0f\ufe0f",
    "lone marks": "\u0301\u0302",
    "control characters": "\x00\x07\x1b",
    "private use": "\ue000",
    "lone surrogate": "\ud800",
    "soft hyphens": "\u00ad \u00ad",
    "bidi controls": "\u202e\u2066",
}
VISIBLE = ["x", ".", "42", "是", "👍", "👩‍👩‍👧", "é", "e\u0301", "\u200bx\u200b", "ก", "한"]


@pytest.mark.parametrize("text", BLANK.values(), ids=BLANK.keys())
def test_text_that_shows_nothing_is_empty(text: str) -> None:
    """Whatever a reader cannot see is an empty answer."""
    assert is_blank(text)
    assert not passes(rule("non_empty"), text)


@pytest.mark.parametrize("text", VISIBLE)
def test_anything_visible_is_not_empty(text: str) -> None:
    """One visible character in any script is enough."""
    assert not is_blank(text)
    assert passes(rule("non_empty"), text)


def test_a_turn_of_tool_calls_is_not_empty() -> None:
    """A turn that calls a tool and says nothing is a turn."""
    assert passes(rule("non_empty"), "", tool_calls=(ToolCall(name="search"),))


@pytest.mark.parametrize("over", [1, 10, 54_000])
def test_one_character_over_the_maximum_fails(over: int) -> None:
    """The limit itself passes; the score above it is limit / length."""
    limit = rule("max_chars", limit=6000)
    assert passes(limit, "x" * 6000)
    found = check(limit, "x" * (6000 + over))
    assert not found.passed
    assert found.score == pytest.approx(6000 / (6000 + over))


def test_invisible_padding_counts_towards_the_maximum() -> None:
    """A judge has to read it, so it is length."""
    assert not passes(rule("max_chars", limit=10), "x" + "\u200b" * 10)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ab", 2),
        ("a b\n c", 3),
        ("a\u200bb", 2),
        ("e\u0301\u0302", 1),
        ("👩‍👩‍👧", 1),
        ("🇩🇪", 1),
        ("👍🏽", 1),
        ("猫です", 3),
        ("한국", 2),
    ],
)
def test_minimum_counts_characters_as_a_reader_does(text: str, seen: int) -> None:
    """Padding, marks and joined emoji do not help to reach a minimum."""
    assert passes(rule("min_chars", limit=seen), text)
    found = check(rule("min_chars", limit=seen + 1), text)
    assert not found.passed
    assert found.score == pytest.approx(seen / (seen + 1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one two  three", 3),
        ("don't stop", 2),
        ("a well-known 3.14", 3),
        ("- , ! +", 0),
        ("我喜欢猫", 4),
        ("안녕하세요 여러분", 2),
        ("مرحبا بالعالم", 2),
        ("x" * 320, 10),
    ],
    ids=["spaces", "apostrophe", "joined", "symbols", "han", "hangul", "arabic", "no-spaces"],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    """Han characters are words; leaving out the spaces does not make one word of a text."""
    assert passes(rule("max_words", limit=max(words, 1)), text)
    if words:
        assert passes(rule("min_words", limit=words), text)
    assert not passes(rule("min_words", limit=words + 1), text)


def test_thai_words_are_estimated() -> None:
    """Thai has no spaces, so its length stands for its words."""
    assert passes(rule("min_words", limit=3), "สวัสดีครับคุณสบายดีไหม")
    assert not passes(rule("min_words", limit=12), "สวัสดีครับคุณสบายดีไหม")
