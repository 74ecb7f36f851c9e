"""Length: the ratio, and wins that length alone explains."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from judge_service.bias.history import PairHistory
from judge_service.outcome import Choice
from tests.compare.support import (
    compare,
    flags,
)
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [("abcd efgh", "xyz", 3.0), ("xyz", "abcd efgh", 1 / 3), ("xyz", "", None), ("", "xyz", 0.0)],
)
def test_the_length_ratio_is_reported(
    first: str, second: str, ratio: float | None, service: RunningService
) -> None:
    """Characters of the first by those of the second, as judged."""
    answer = compare(service, first, second)
    assert answer["length_ratio"] == (None if ratio is None else pytest.approx(ratio))


def _pairs(count: int) -> Iterator[tuple[str, str]]:
    for number in range(count):
        short, long = f"Short {number}.", f"Not so short {number}, rather the long one of the two."
        yield (short, long) if number % 2 else (long, short)


def test_a_run_of_wins_by_length_is_flagged(
    service: RunningService, provider: FakeProvider
) -> None:
    """Once a judge's recent wins all went to the longer answer, such a win carries a flag."""
    provider.behave("wordy-0", behaviours.longer_wins())
    answers = [compare(service, *pair, judges=["wordy-0"]) for pair in _pairs(22)]
    assert ["length_bias" in flags(answer) for answer in answers] == [False] * 19 + [True] * 3
    assert all(answer["status"] == "success" for answer in answers)
    (judge,) = (j for j in service.http.get("/v1/judges").json()["judges"] if j["id"] == "wordy-0")
    assert judge["bias"]["longer_won_share"] == 1.0


def test_an_audit_leaves_no_trace_in_a_judges_figures(
    service: RunningService, provider: FakeProvider
) -> None:
    """Probes are made to look at a judge, not to change what is known of it."""
    provider.behave("wordy-1", behaviours.longer_wins())
    for pair in _pairs(21):
        assert flags(compare(service, *pair, judges=["wordy-1"], audit=True)) == {}


Judged = tuple[Choice, Choice, tuple[int, int]]
"""A pair's choices in both orders, and the lengths of its texts."""


def _history(*pairs: Judged) -> PairHistory:
    history = PairHistory()
    for ab, ba, lengths in pairs:
        history.add("ann", ab, ba, lengths)
    return history


FIRST_LONGER: Judged = ("first", "first", (90, 10))
SECOND_LONGER: Judged = ("second", "second", (10, 90))
FIRST_SHORTER: Judged = ("first", "first", (10, 90))
EQUAL: Judged = ("first", "first", (10, 10))
TIE: Judged = ("tie", "tie", (90, 10))
FLIP: Judged = ("first", "second", (90, 10))


@pytest.mark.parametrize(
    ("pairs", "follows"),
    [
        ([FIRST_LONGER, SECOND_LONGER] * 10, True),
        ([FIRST_LONGER, SECOND_LONGER] * 10 + [FIRST_SHORTER] * 2, True),
        ([FIRST_LONGER, SECOND_LONGER] * 10 + [FIRST_SHORTER] * 3, False),
        ([FIRST_LONGER] * 19, False),
        ([FIRST_LONGER] * 19 + [TIE, FLIP, EQUAL] * 9, False),
        ([], False),
    ],
    ids=["always", "nearly always", "mostly", "too few", "too few that tell", "none"],
)
def test_only_a_long_run_of_consistent_wins_speaks_of_length(
    pairs: list[Judged], follows: bool
) -> None:
    """Ties, contradictions and equal lengths tell nothing, wins of the shorter one the contrary."""
    assert _history(*pairs).follows_length("ann") is follows
    assert not _history(*pairs).follows_length("bea")


def test_a_judges_figures_tell_primacy_from_recency() -> None:
    """Which position gained is counted over pairs whose orders disagree."""
    lengths = (10, 20)
    figures = _history(
        ("first", "second", lengths), ("first", "tie", lengths), ("second", "first", lengths),
        ("first", "first", lengths), ("tie", "tie", lengths),
    ).figures("ann")  # fmt: skip
    assert (figures.pairs, figures.consistent, figures.ties) == (5, 2, 1)
    assert (figures.primacy, figures.recency) == (2, 1)
    assert figures.first_position_share == pytest.approx(4 / 7)
    assert figures.longer_won_share == 0.0
