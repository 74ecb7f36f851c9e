"""What a cheap look turns away, the pattern behind it would not have found."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.injection import phrases, views
from judge_service.injection.cheap_looks import letters_apart, many_digits, many_hex_digits

SIGNS = " .,:;-_*|/\\n\\%x0123456789abfzAFGé１\u200b"
LOOKS: dict[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "hexadecimal": (views._HEX, lambda text: many_hex_digits(text, views._HEX_LEAST)),
    "decimal codes": (views._DECIMAL, lambda text: many_digits(text, views._DECIMAL_LEAST)),
    "binary codes": (views._BINARY, lambda text: many_digits(text, views._DECIMAL_LEAST)),
    "letters apart": (views._SPACED, letters_apart),
}


@pytest.mark.parametrize("name", LOOKS)
@given(data=st.data())
def test_a_match_passes_the_look(name: str, data: st.DataObject) -> None:
    """Whatever the pattern matches, in whatever surroundings, the look lets through."""
    pattern, look = LOOKS[name]
    around = st.text(SIGNS, max_size=20)
    text = data.draw(around) + data.draw(st.from_regex(pattern)) + data.draw(around)

    assert pattern.search(text) is None or look(text)


@given(text=st.from_regex(phrases._SPELLED))
def test_a_spelled_order_has_the_words_it_needs(text: str) -> None:
    """Every alternative of the spelled orders is listed with words that it cannot do without."""
    assert phrases._may_be_spelled(text)


@given(
    words=st.lists(st.text("abcXYZ09+/=-_.,()\n ", min_size=1, max_size=24), max_size=8),
    between=st.sampled_from(["", " ", "\n"]),
)
def test_base64_is_found_word_by_word_as_in_the_whole(words: list[str], between: str) -> None:
    """Words of one case are passed over, for nothing is ever decoded from them."""
    text = between.join(words)
    whole = re.compile(r"[A-Za-z0-9+/_-]{8,}(?:\r?\n[A-Za-z0-9+/_-]{8,}){0,20000}={0,2}")
    runs = [m[0] for m in whole.finditer(text) if "\n" in m[0]]
    runs += [m[0] for m in re.finditer(r"[A-Za-z0-9+/_-]{8,}={0,2}", text)]
    expected = [decoded for run in runs if (decoded := views._decode_base64(run))]

    assert views._from_base64(text) == expected
