"""What a cheap look turns away, the pattern behind it would not have found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.injection import homoglyphs, phrases, views
from judge_service.injection.cheap_looks import letters_apart, many_digits, many_hex_digits
from judge_service.text.escape import encode

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

    assert views._from_base64(text, text.split()) == expected


@given(
    words=st.lists(st.sampled_from(["river", "give", "it's", "5", *phrases._TRIGGERS]), max_size=4),
    between=st.sampled_from([" ", "_", "'", ", ", ".", "-", "*", "\n"]),
)
def test_a_text_without_a_trigger_is_one_after_splitting(words: list[str], between: str) -> None:
    """Splitting finds every trigger that reading token by token finds."""
    text = between.join(words)
    triggered = not phrases._TRIGGERS.isdisjoint(phrases._TOKEN.findall(text))

    assert bool(phrases._read(text)) == triggered


@given(text=st.text())
def test_what_is_seen_of_a_part_is_seen_of_the_whole(text: str) -> None:
    """Characters beyond ASCII are made plain by themselves, apart from the rest of the text."""
    whole = homoglyphs._CONTROLS.sub("", homoglyphs._LINE_ENDS.sub("\n", text))
    whole = homoglyphs._ACCENTS.sub("", homoglyphs.INVISIBLE.sub("", whole))
    whole = homoglyphs._MARK_RUN.sub(r"\1", whole).translate(homoglyphs._EXPANDING)
    whole = homoglyphs._ACCENTS.sub("", unicodedata.normalize("NFKD", whole))

    assert homoglyphs.visible(text) == unicodedata.normalize("NFC", whole)


@given(text=st.text(st.characters(max_codepoint=0x7F)))
def test_harmless_text_is_not_looked_at_for_what_to_escape(text: str) -> None:
    """Nor would anything be found in it."""
    assert f"é\n{encode(text)}" == encode(f"é\n{text}")
