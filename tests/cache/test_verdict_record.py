"""What is accepted as a verdict of ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.reply.reply import ChoiceForm, ReplyForm, ScoreForm, ScoresForm
from judge_service.storage.secret import ServiceSecret
from judge_service.verdicts.record import Seal, VerdictRecord, offered, record_of

KEY = "jv:1:" + "0" * 64
SEAL = Seal(ServiceSecret(current=b"one secret"))
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.integers(-3, 12), st.text(max_size=8), st.dictionaries(st.text(), st.integers(), min_size=1)
)
CHANCES = st.dictionaries(st.text(), st.lists(st.floats(0, 0.2), max_size=5).map(tuple), max_size=3)
RECORDS = st.builds(
    VerdictRecord,
    value=VALUES,
    reason=st.text(),
    model_served=st.none() | st.text(),
    probabilities=CHANCES,
)


@given(record=RECORDS)
def test_what_was_sealed_opens(record: VerdictRecord) -> None:
    """A record comes back as it was."""
    assert SEAL.open(KEY, SEAL.close(KEY, record)) == record


@given(record=RECORDS, position=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_is_noticed(record: VerdictRecord, position: int, bit: int) -> None:
    """No single change of an entry gets through."""
    data = bytearray(SEAL.close(KEY, record))
    data[position % len(data)] ^= 1 << bit

    assert SEAL.open(KEY, bytes(data)) is None


@given(data=st.binary(max_size=300))
def test_any_bytes_are_just_no_verdict(data: bytes) -> None:
    """Garbage raises nothing."""
    assert SEAL.open(KEY, data) is None


@pytest.mark.parametrize("chance", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_not_kept(chance: float) -> None:
    """JSON has no such number; a judge's probability that is none is a mistake of ours."""
    record = VerdictRecord(
        value=5, reason="NaN", model_served=None, probabilities={"quality": (0.5, chance)}
    )
    with pytest.raises(ValueError, match="not JSON compliant"):
        SEAL.close(KEY, record)


def test_an_entry_belongs_to_its_key_and_secret() -> None:
    """Moved to another key, or read with another secret, it does not count."""
    data = SEAL.close(KEY, VerdictRecord(value=5, reason="", model_served=None))

    assert SEAL.open(KEY[:-1] + "1", data) is None
    assert Seal(ServiceSecret(current=b"another")).open(KEY, data) is None
    newer = Seal(ServiceSecret(current=b"another", previous=b"one secret"))
    assert newer.open(KEY, data) is not None


@pytest.mark.parametrize(
    "data",
    [
        None, [], 5, "x", {}, {"value": 5},
        {"value": True, "reason": "", "model_served": None},
        {"value": 4.0, "reason": "", "model_served": None},
        {"value": None, "reason": "", "model_served": None},
        {"value": [4], "reason": "", "model_served": None},
        {"value": {}, "reason": "", "model_served": None},
        {"value": {"a": True}, "reason": "", "model_served": None},
        {"value": {"a": 4.5}, "reason": "", "model_served": None},
        {"value": 4, "reason": None, "model_served": None},
        {"value": 4, "reason": "", "model_served": 7},
        {"value": 4, "reason": "", "model_served": None, "more": 1},
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_record(data: object) -> None:
    """A record has exactly its fields, with values of the right kind: true is no point."""
    with pytest.raises(ValueError, match=r"."):
        record_of(data)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (9, ScoreForm(allowed=(1, 2, 3))),
        ("2", ScoreForm(allowed=(1, 2, 3))),
        ({"a": 2}, ScoreForm(allowed=(1, 2, 3))),
        ("candidate_3", ChoiceForm(allowed=("candidate_1", "candidate_2", "tie"))),
        (1, ChoiceForm(allowed=("candidate_1", "candidate_2", "tie"))),
        ({"a": 1}, ScoresForm(allowed=(("a", (1, 2)), ("b", (1, 2))))),
        ({"a": 1, "b": 7}, ScoresForm(allowed=(("a", (1, 2)), ("b", (1, 2))))),
        ({"a": 1, "b": 2, "c": 1}, ScoresForm(allowed=(("a", (1, 2)), ("b", (1, 2))))),
        (1, ScoresForm(allowed=(("a", (1, 2)),))),
    ],
    ids=repr,
)
def test_a_value_that_is_not_offered_is_none(value: Any, form: ReplyForm) -> None:
    """A record whose value the question does not offer is not used."""
    assert offered(VerdictRecord(value=value, reason="", model_served=None), form) is None
