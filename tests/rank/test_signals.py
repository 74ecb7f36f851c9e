"""What a group as a whole tells, and answers that come back whatever is asked."""

from __future__ import annotations

import pytest

from judge_service.ranking.signals import group_signals, near_duplicate_share
from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours
from tests.rank.support import flags, rank

LONG = "Basil wants six hours of light, water when the soil is dry, and to be pinched weekly."


def test_rewards_that_follow_length_are_told(
    service: RunningService, provider: FakeProvider
) -> None:
    """The correlation stands in the metrics, and a strong one is flagged."""
    texts = [f"{n} " + "word " * (10 * n) for n in (1, 2, 3, 4, 5)]
    answer = rank(service, texts, strategy="assess")

    assert answer["metrics"]["length_correlation"] == pytest.approx(1.0, abs=0.01)
    assert "length_correlation" in flags(answer)


def test_near_duplicates_are_told(service: RunningService, provider: FakeProvider) -> None:
    """Answers that repeat one another but for a word are counted."""
    texts = [f"4 {LONG}", f"4 {LONG} Really.", "2 Something else entirely, said in its own words."]
    answer = rank(service, texts, strategy="assess")

    assert answer["metrics"]["near_duplicate_share"] == pytest.approx(2 / 3)
    assert "near_duplicate" in flags(answer)
    assert answer["metrics"]["tie_rate"] == pytest.approx(1 / 3)


def test_an_answer_for_every_prompt_is_flagged(
    service: RunningService, provider: FakeProvider
) -> None:
    """From the fifth prompt on; short answers may be right for many prompts."""
    seen = []
    for _ in range(6):
        answer = service.assess({"text": LONG, "family": "x"}, judges=["main"])
        seen.append("constant_answer" in {flag["flag"] for flag in answer["flags"]})
    assert seen == [False] * 4 + [True] * 2

    for _ in range(6):
        answer = service.assess({"text": "4", "family": "x"}, judges=["main"])
        assert answer["flags"] == []


def test_the_same_prompt_again_is_no_sign(service: RunningService, provider: FakeProvider) -> None:
    """Asking about one answer many times says nothing of the policy."""
    prompt = new_prompt()
    for _ in range(8):
        answer = service.assess({"text": LONG + "!", "family": "x"}, prompt=prompt,
                                judges=["main"])  # fmt: skip
        assert answer["flags"] == []


def test_equal_rewards_are_flagged(service: RunningService, provider: FakeProvider) -> None:
    """A group without differences teaches nothing, and says so."""
    provider.behave("main", behaviours.decides(lambda seen: 4))
    answer = rank(service, ["a text", "another", "a third one"], strategy="assess")

    assert answer["zero_advantage"] is True
    assert answer["metrics"]["tie_rate"] == 1.0
    assert "zero_advantage" in flags(answer)


@pytest.mark.parametrize(
    ("rewards", "texts", "correlation"),
    [
        ([0.1, 0.2, 0.3], ["a", "bb", "ccc"], None),
        ([0.5] * 4, ["a", "bb", "ccc", "dddd"], None),
        ([0.1, 0.2, 0.3, 0.4], ["a"] * 4, None),
        ([0.4, 0.3, 0.2, 0.1], ["a", "bb", "ccc", "dddd"], -1.0),
    ],
    ids=["too few", "equal rewards", "equal lengths", "falling"],
)
def test_a_correlation_only_where_there_is_one(
    rewards: list[float], texts: list[str], correlation: float | None
) -> None:
    """Nothing is said of fewer than four members, or where nothing varies."""
    found = group_signals(rewards, texts).length_correlation

    assert found == (None if correlation is None else pytest.approx(correlation))


def test_short_texts_are_compared_whole() -> None:
    """Two words are a near-duplicate of the same two words only."""
    assert near_duplicate_share(["Paris", "Paris.", "Rome"]) == pytest.approx(2 / 3)
    assert near_duplicate_share(["", "a"]) == 0.0
