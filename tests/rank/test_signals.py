"""What a group as a whole tells, and answers that come back whatever is asked."""

from __future__ import annotations

import pytest

from judge_service.ranking.length_window import MIN_GROUPS, WINDOW, LengthWindow
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


def metric(service: RunningService, name: str, rubric: str) -> float:
    """The value of a metric with the label of a rubric."""
    lines = service.http.get("/metrics").text.splitlines()
    start = f'judge_service_{name}{{rubric="{rubric}"}} '
    return next((float(line.split()[-1]) for line in lines if line.startswith(start)), 0.0)


def test_rewards_that_have_followed_length_for_long(
    service: RunningService, provider: FakeProvider
) -> None:
    """Too little in each group to tell, over ten of them it is told: flag, metrics, /metrics."""
    told, last = [], 0.0
    for number in range(MIN_GROUPS + 1):
        # The longest of each group is good; the rest is mixed, so that no group stands out.
        sizes = ((1, 12), (4, 18 + number), (2, 9), (1, 32 + number), (5, 45 + number))
        texts = [f"{point} {'word ' * words}" for point, words in sizes]
        answer = rank(service, texts, rubric="moving", strategy="assess")
        told.append("length_correlation" in flags(answer))
        last = answer["metrics"]["recent_length_correlation"]

    assert told == [False] * (MIN_GROUPS - 1) + [True] * 2
    assert 0.5 <= last < 0.8
    assert metric(service, "recent_length_correlation", "moving") == pytest.approx(last)


def test_an_answer_for_every_prompt_is_counted(
    service: RunningService, provider: FakeProvider
) -> None:
    """Each time such an answer comes, so that an alert can tell."""
    before = metric(service, "constant_answers_total", "quality")
    for _ in range(7):
        service.assess({"text": LONG + " Truly.", "family": "x"}, judges=["main"])

    assert metric(service, "constant_answers_total", "quality") == before + 3


def test_a_window_knows_groups_only_from_within() -> None:
    """Long answers to demanding prompts and easy prompts with short ones are no correlation."""
    window = LengthWindow()
    for number in range(MIN_GROUPS):
        level = number / MIN_GROUPS
        lengths = [round(100 * 2**number * share) for share in (1.0, 1.2, 0.8, 1.0)]
        window.add("a", [level, level + 0.1, level + 0.1, level + 0.2], lengths)

    assert window.correlation("a") == pytest.approx(0.0, abs=0.05)
    assert window.correlation("b") is None


def test_a_window_moves_on_and_takes_only_what_varies() -> None:
    """Old groups are forgotten; a group of equal rewards or lengths has nothing to say."""
    window = LengthWindow()
    for _ in range(WINDOW):
        window.add("a", [0.1, 0.2, 0.3, 0.4], [40, 30, 20, 10])
        window.add("b", [0.5] * 4, [1, 2, 3, 4])
        window.add("c", [0.1, 0.2, 0.3, 0.4], [7] * 4)
    before = window.correlation("a")
    assert before is not None
    assert before < -0.9
    for _ in range(WINDOW):
        window.add("a", [0.1, 0.2, 0.3, 0.4], [10, 20, 30, 40])
    now = window.correlation("a")
    assert now is not None
    assert now > 0.9
    assert window.correlation("b") is None
    assert window.correlation("c") is None
