"""When two texts are the same candidate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.text.identity_key import identity_key

SAME = {
    "spaces": ("a  b   c", "a b c"),
    "ends": ("  a b \n", "a b"),
    "tab": ("a\tb", "a b"),
    "no-break space": ("a\u00a0b", "a b"),
    "line ends": ("a\r\nb\rc", "a\nb\nc"),
    "blank lines": ("a\n\n\n\nb", "a\n\nb"),
    "blank lines of spaces": ("a\n   \nb", "a\nb"),
    "wrapped prose": ("One two three\nfour five.", "One two three four five."),
    "composition": ("cafe\u0301", "caf\u00e9"),
    "zero width": ("a\u200bb\u2060 c\ufeff", "ab c"),
    "soft hyphen": ("co\u00adoperate", "cooperate"),
    "tag characters": ("hello\U000e0067\U000e0069", "hello"),
    "code, trailing spaces": ("def f():  \n    return  1\n\n", "def f():\n    return 1"),
    "code, moved as a whole": ("    if x:\n        y()", "if x:\n    y()"),
    "leading space": (" First.\n\n- a\n- b", "First.\n- a\n- b"),
}


@pytest.mark.parametrize(("first", "second"), SAME.values(), ids=SAME.keys())
def test_the_same_candidate_has_the_same_key(first: str, second: str) -> None:
    """White space and what cannot be seen do not make another answer."""
    assert identity_key(first) == identity_key(second)


OTHER = {
    "words": ("a b", "a c"),
    "case": ("Yes", "yes"),
    "joined words": ("a b", "ab"),
    "indentation": ("if x:\n    a()\n    b()", "if x:\n    a()\nb()"),
    "indentation lost": ("if x:\n    a()", "if x:\na()"),
    "code on one line": ("x = 1\ny = 2", "x = 1 y = 2"),
    "list on one line": ("- a\n- b", "- a - b"),
    "compatibility forms": ("x²", "x2"),
    "punctuation": ("Yes.", "Yes"),
}


@pytest.mark.parametrize(("first", "second"), OTHER.values(), ids=OTHER.keys())
def test_another_candidate_has_another_key(first: str, second: str) -> None:
    """A difference that a judge could care about is asked about."""
    assert identity_key(first) != identity_key(second)


@given(st.text(), st.text(alphabet=" \t\n\r\u200b\u00a0", max_size=4))
def test_white_space_around_a_text_never_matters(text: str, space: str) -> None:
    """The key of a padded text is the key of the text."""
    assert identity_key(f"{space}\n{text}\n{space}") == identity_key(f"\n{text}")
