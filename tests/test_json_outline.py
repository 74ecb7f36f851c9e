"""How many values a body holds and how deep they stand, found before it is decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.api import json_outline
from judge_service.api.body import MAX_DEPTH, decode_json
from judge_service.api.json_outline import outline
from judge_service.api.problems import Problem

MANY = 1_000_000
TEXTS = st.text(alphabet='a,[]{}:"\\\n é😀', max_size=6)
VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=25,
)


def counted(value: Any) -> tuple[int, int]:
    """The same of the decoded value."""
    if not isinstance(value, list | dict):
        return 1, 0
    inner = [counted(one) for one in (value.values() if isinstance(value, dict) else value)]
    return 1 + sum(n for n, _ in inner), 1 + max((depth for _, depth in inner), default=0)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]), st.sampled_from([1, 2, 3, 5, 1 << 20]))
def test_an_outline_is_that_of_the_value(
    value: Any, escaped: bool, indent: int | None, step: int
) -> None:
    """Whatever stands in its texts and however it is written, and wherever the steps end."""
    body = json.dumps(value, ensure_ascii=escaped, indent=indent).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_outline, "_STEP", step)
        assert outline(body, MANY) == counted(value)


@given(st.binary(max_size=40) | st.text(alphabet='[]{}",:\\0 ', max_size=40).map(str.encode))
def test_what_is_no_json_has_some_outline(body: bytes) -> None:
    """That it is none, the decoder says."""
    values, depth = outline(body, MANY)
    assert values >= 1
    assert depth >= 0


HOSTILE = {
    "lists": b"[" + b"[]," * 3_000_000 + b"[]]",
    "numbers": b"[" + b"1," * 3_000_000 + b"1]",
    "texts": b"[" + b'"",' * 3_000_000 + b'""]',
    "texts without commas": b"[" + b'""' * 3_000_000 + b"]",
    "keys": b"[" + b'{"":"",' * 3_000_000 + b"]",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_counting_ends_early(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a body that holds far too many values little is looked at, and nothing decoded."""
    steps: list[int] = []
    step = json_outline._step

    def noted(whole: bytes, at: int) -> bytes:
        steps.append(at)
        return step(whole, at)

    monkeypatch.setattr(json_outline, "_step", noted)
    monkeypatch.setattr(json_outline, "_STEP", 1 << 16)

    with pytest.raises(Problem, match="more than 1,000 values"):
        decode_json(body, values=1_000)
    assert len(steps) <= 2


@pytest.mark.parametrize("many", [False, True], ids=["few values", "many values"])
def test_depth_is_bounded_before_decoding(many: bool) -> None:
    """At the bound a body is read, whatever else it holds."""
    wide = [0] * 1_000 if many else []

    def nested(levels: int) -> bytes:
        return b"[" * levels + json.dumps(wide).encode() + b"]" * levels

    decode_json(nested(MAX_DEPTH - 1), values=5_000)
    with pytest.raises(Problem, match=f"deeper than {MAX_DEPTH} levels"):
        decode_json(nested(MAX_DEPTH), values=5_000)


def test_unclosed_texts_take_linear_time() -> None:
    """Every quote of it may be escaped."""
    with pytest.raises(Problem, match="not JSON"):
        decode_json(b'["' + b'\\"' * 2_000_000)


def test_half_of_a_pair_is_refused_and_a_whole_one_is_not() -> None:
    """In texts and keys, with large and small digits."""
    for body in (b'["\\ud83d"]', b'["\\uDE00"]', b'{"\\uD83D": 1}'):
        with pytest.raises(Problem, match="half of a surrogate pair"):
            decode_json(body)
    assert decode_json(b'["\\ud83d\\uDE00", "\\u00e9"]') == ["😀", "é"]
