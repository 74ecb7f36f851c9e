"""Answers as JSON: what is no text, no number or no JSON at all."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from judge_service.api.json_response import finite_json


@pytest.mark.parametrize("half", [chr(0xD800), chr(0xDFFF)], ids=["first", "second"])
def test_half_of_a_surrogate_pair_is_a_question_mark(half: str) -> None:
    """In a judge's own text it stands for one character, which is lost; the rest is as it was."""
    given = {"reason": f"é{half}NaN", "keys": {half: [1.5, None, "Infinity"]}}

    found = json.loads(finite_json(given))

    assert found == {"reason": "é?NaN", "keys": {"?": [1.5, None, "Infinity"]}}


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "é\U0001f600\u2028", ""])
def test_a_text_is_sent_as_it_is(text: str) -> None:
    """Also one that says the name of a number that is none."""
    assert json.loads(finite_json({"reason": text})) == {"reason": text}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_raises(number: float) -> None:
    """It is never sent, also beside half of a pair."""
    for value in (number, [number, "\ud800"]):
        with pytest.raises(ValueError, match="not JSON compliant"):
            finite_json(value)


class Other:
    """Nothing that JSON knows."""


@pytest.mark.parametrize("value", [Other(), b"\xff"], ids=["an object", "bytes"])
def test_what_is_no_json_raises(value: Any) -> None:
    """With what is wrong with it."""
    with pytest.raises(ValueError, match=r"Unable to serialize unknown type|invalid utf-8"):
        finite_json({"value": value})
