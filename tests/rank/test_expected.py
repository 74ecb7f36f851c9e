"""Groups by expected scores: pairs need fewer calls, and nobody is read in another way."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from tests.harness import RunningService, new_prompt
from tests.provider import Behaviour, FakeProvider, Seen, behaviours
from tests.provider.odds import Odds, graded
from tests.rank.support import flags, rank


def near(point: float) -> Odds:
    """Odds of a score around a value between two points."""
    low = math.floor(point)
    share = point - low
    return {str(low): 1.0 - share, str(low + 1): share} if share else {str(low): 1.0}


def worth(text: str) -> float:
    """The number that a text begins with."""
    return float(text.split()[0])


def odds(bias: float = 0.0, sharpness: float = 1.0) -> Behaviour:
    """Scores near the texts' numbers, and pairs by their difference and the bias of the first."""

    def told(seen: Seen) -> dict[str, Odds]:
        if seen.form == "score":
            return {"score": near(worth(seen.candidate))}
        if seen.form == "scores":
            return {slot: near(worth(text)) for slot, text in seen.candidates.items()}
        first, second = (worth(text) for text in seen.candidates.values())
        chance = 1.0 / (1.0 + math.exp(-(sharpness * (first - second) + bias)))
        return {"choice": {"candidate_1": chance, "candidate_2": 1.0 - chance}}

    return graded(told)


TEXTS = ["4.2 a", "2.5 b", "4.6 c", "3.9 d"]


@pytest.mark.parametrize("strategy", ["assess", "auto", "listwise"])
def test_rewards_between_the_points(
    service: RunningService, provider: FakeProvider, strategy: str
) -> None:
    """Members with the same point have different rewards, without a single pair."""
    provider.behave("odds", odds())
    answer = rank(service, TEXTS, rubric="expected", judges=["odds"], strategy=strategy)

    assert answer["rewards"] == pytest.approx([0.8, 0.375, 0.9, 0.725])
    assert [m["criteria"]["quality"]["point"] for m in answer["candidates"]] == [4, 2, 5, 4]
    assert answer["pairs"]["asked"] == 0
    assert answer["metrics"]["mass"] == pytest.approx(1.0)
    assert "no_expectation" not in flags(answer)


@pytest.mark.parametrize("strategy", ["assess", "listwise"])
def test_one_without_an_expected_score(
    service: RunningService, provider: FakeProvider, strategy: str
) -> None:
    """Then points count for all: a point among expected scores would be an advantage unearned."""

    def partly(seen: Seen) -> dict[str, Odds]:
        told = {slot: near(worth(text)) for slot, text in seen.candidates.items()}
        unsure = next((slot for slot, text in seen.candidates.items() if "b" in text), None)
        if unsure is not None:
            told[unsure] = {"2": 0.5, "1": 0.2}
        return {"score": told["candidate"]} if seen.form == "score" else told

    provider.behave("odds", graded(partly))
    answer = rank(service, TEXTS, rubric="expected", judges=["odds"], strategy=strategy)

    assert answer["rewards"] == [0.75, 0.25, 1.0, 0.75]
    assert all(m["criteria"]["quality"]["expected"]["value"] is None for m in answer["candidates"])
    told = [flag["detail"] for flag in answer["flags"] if flag["flag"] == "no_expectation"]
    assert any(detail.startswith("quality: 1 of 4 answers have no expected") for detail in told)
    assert any("cover 70% of the probability" in detail for detail in told)


def test_a_group_of_a_judge_that_is_not_asked(
    service: RunningService, provider: FakeProvider
) -> None:
    """The same rewards as by points, and one flag for all."""
    answer = rank(service, ["4 a", "2 b", "5 c"], rubric="expected", strategy="assess")

    assert answer["rewards"] == [0.75, 0.25, 1.0]
    told = [flag["detail"] for flag in answer["flags"] if flag["flag"] == "no_expectation"]
    assert told == ["main: 3 of 3 verdicts count as given: it is not asked for token "
                    "probabilities (top_logprobs)"]  # fmt: skip
    assert answer["metrics"]["mass"] == 0.0


@pytest.mark.parametrize("members", [2, 3, 8, 9, 16])
def test_pairs_take_fewer_calls(
    service: RunningService, provider: FakeProvider, members: int
) -> None:
    """All pairs once up to eight members, then four calls for each; two are asked both ways."""
    provider.behave("odds", odds(bias=0.2))
    texts = [f"{n / 3} text" for n in range(members)]
    answer = rank(service, texts, rubric="expected-pair", judges=["odds"])

    calls = {2: 2, 3: 3, 8: 28, 9: 36, 16: 64}[members]
    assert len(provider.requests) == calls
    # The judge's own odds put all of them in their order: the last is the best.
    assert answer["ranks"] == list(range(members, 0, -1))
    firsts = Counter(next(iter(r.seen.candidates.values())) for r in provider.requests if r.seen)
    assert max(firsts.values()) - min(firsts.get(text, 0) for text in texts) <= 2


def test_a_judge_that_is_not_asked_has_all_of_its_calls(
    service: RunningService, provider: FakeProvider
) -> None:
    """Where only choices are to be had, none is saved on the promise of odds."""
    answer = rank(service, ["1 a", "2 b", "3 c", "4 d"], rubric="expected-pair")

    assert len(provider.requests) == 12
    assert answer["rewards"] == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0])
    assert "no_expectation" in flags(answer)


@pytest.mark.parametrize("bias", [-1.0, 0.0, 1.0])
def test_a_position_bias_is_taken_out(
    service: RunningService, provider: FakeProvider, bias: float
) -> None:
    """Rewards are what they would be without it, whichever order was asked."""
    provider.behave("odds", odds(bias=bias))
    texts = [f"{n} text" for n in range(6)]
    answer = rank(service, texts, rubric="expected-pair", judges=["odds"])

    fair = [sum(1.0 / (1.0 + math.exp(o - m)) for o in range(6) if o != m) / 5 for m in range(6)]
    assert answer["rewards"] == pytest.approx(fair, abs=0.03)


def test_a_few_verdicts_without_odds_count_as_choices(
    service: RunningService, provider: FakeProvider
) -> None:
    """A choice is a comparison, too; how many there were is said."""
    silent = behaviours.when(
        lambda seen: "0 text" in seen.candidates.values(),
        behaviours.decides(lambda seen: seen.choice(next(iter(
            seen.candidates.values())) != "0 text")),
        odds(bias=0.3),
    )  # fmt: skip
    provider.behave("odds", silent)
    answer = rank(service, [f"{n} text" for n in range(6)], rubric="expected-pair",
                  judges=["odds"])  # fmt: skip

    assert answer["ranks"] == [6, 5, 4, 3, 2, 1]
    told = [flag["detail"] for flag in answer["flags"] if flag["flag"] == "no_expectation"]
    assert told == ["odds: 5 of 15 verdicts count as given: no usable token probabilities"]


def test_both_orders_of_all_pairs(service: RunningService, provider: FakeProvider) -> None:
    """A decided pair counts by its odds, a flip stays nobody's."""
    provider.behave("odds", odds(bias=0.5))
    answer = rank(service, ["3 a", "3.2 b", "5 c"], rubric="expected-pair", judges=["odds"],
                  max_calls=6)  # fmt: skip

    assert answer["pairs"]["inconsistent"] == 1
    assert answer["pairs"]["consistent"] == 2
    both = [1.0 / (1.0 + math.exp(-(d + b))) for d in (2.0,) for b in (0.5, -0.5)]
    assert answer["candidates"][0]["wins"] == pytest.approx(1.0 - sum(both) / 2)


def test_a_judge_that_looks_at_positions_only(
    service: RunningService, provider: FakeProvider
) -> None:
    """Odds that follow nothing but the position decide nothing."""
    provider.behave("odds", odds(bias=2.0, sharpness=0.0))
    answer = rank(service, [f"{n} text" for n in range(6)], rubric="expected-pair",
                  judges=["odds"])  # fmt: skip

    assert answer["error"]["code"] == "inconclusive"


def test_a_second_look_has_the_same_rewards(
    service: RunningService, provider: FakeProvider
) -> None:
    """What is kept of a verdict holds its odds."""
    provider.behave("odds", odds(bias=0.5))
    prompt = new_prompt()
    texts = [f"{n / 2} text" for n in range(7)]
    answers = [
        rank(service, order, rubric="expected-pair", judges=["odds"], prompt=prompt)
        for order in (texts, texts[::-1])
    ]

    assert answers[0]["rewards"] == answers[1]["rewards"][::-1]
    assert answers[1]["metrics"]["cached"] == 1.0
    assert answers[0]["metrics"].keys() == answers[1]["metrics"].keys()
    assert len(provider.requests) == 21
