"""Required and forbidden phrases, and patterns."""

from __future__ import annotations

import pytest

from .support import check, passes, rule

FORBIDDEN = ["hack", "kill yourself", "黑客", "해킹"]


@pytest.mark.parametrize(
    "text",
    [
        "Let's HACK it",
        "(hack)",
        "hack_it",
        "ha\u200bck",
        "ha\u00adck",
        "ｈａｃｋ",
        "h\u0430ck",
        "h\u0336a\u0336c\u0336k\u0336",
        "hack工具",
        "please kill\n  yourself",
        "我是黑客啊",
        "해킹을 하자",
    ],
)
def test_a_forbidden_phrase_is_found_however_it_is_written(text: str) -> None:
    """Case, width, invisible characters, look-alikes and line breaks hide nothing."""
    found = check(rule("forbidden_text", text=FORBIDDEN), text)
    assert not found.passed
    assert found.score == 0.0


@pytest.mark.parametrize("text", ["hackathon", "shack", "kill", "skill yourself", "", "Thackeray"])
def test_forbidden_phrases_are_whole_words(text: str) -> None:
    """A longer word that contains one is another word."""
    assert passes(rule("forbidden_text", text=FORBIDDEN), text)


def test_required_phrases_are_whole_words() -> None:
    """Found whatever the case and the spaces; not inside other words."""
    made = rule("required_text", text="In  conclusion")
    assert passes(made, "so, IN\nCONCLUSION: yes")
    assert not passes(made, "in conclusions")


def test_required_phrases_score_by_share() -> None:
    """Two of three are two thirds, also where one phrase starts with another."""
    found = check(rule("required_text", text=["foo", "foo bar", "baz"]), "foo bar")
    assert not found.passed
    assert found.score == pytest.approx(2 / 3)


def test_any_required_phrase_is_enough_where_the_rubric_says_so() -> None:
    """With mode any, one is as good as all."""
    made = rule("required_text", text=["yes", "no"], mode="any")
    assert passes(made, "No.")
    assert check(made, "perhaps").score == 0.0


@pytest.mark.parametrize(
    ("mode", "expect", "text", "passed"),
    [
        ("search", "match", "see #12", True),
        ("search", "match", "see", False),
        ("search", "no_match", "see #12", False),
        ("search", "no_match", "see", True),
        ("fullmatch", "match", "#12", True),
        ("fullmatch", "match", "see #12", False),
    ],
)
def test_patterns(mode: str, expect: str, text: str, passed: bool) -> None:
    """A pattern is looked for, or must be the whole text, or must not be there."""
    assert passes(rule("regex", pattern=r"#\d+", mode=mode, expect=expect), text) is passed


@pytest.mark.parametrize("expect", ["match", "no_match"])
def test_a_text_that_makes_the_pattern_run_away_does_not_pass(expect: str) -> None:
    """A candidate gains nothing by stalling a pattern, whichever way the rule is turned."""
    made = rule("regex", pattern="(a|aa)+$|(.*a){20}z", expect=expect, timeout_s=0.05)
    found = check(made, "a" * 28 + "!")
    assert not found.passed
    assert found.score == 0.0
