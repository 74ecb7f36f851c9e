"""Graded preferences: what both orders of a pair expect together, beside the outcome."""

from __future__ import annotations

import pytest

from judge_service.cli.outcome import show
from judge_service.reply.expectation import Expectation, together
from tests.expected.support import assess, choices, compare, scores, unexpected
from tests.harness import RunningService
from tests.provider import FakeProvider, Seen, behaviours


def prefers(text: str, chance: float, bias: float = 0.0) -> behaviours.Behaviour:
    """A judge that gives ``text`` this probability, and ``bias`` more where it is shown first."""

    def first(seen: Seen) -> float:
        liked = next(iter(seen.candidates.values())) == text
        return (chance if liked else 1.0 - chance) + bias

    return choices(first)


def test_a_graded_preference(service: RunningService, provider: FakeProvider) -> None:
    """The outcome is what the two orders chose; how clearly, the expectation says."""
    provider.behave("main", prefers("One.", 0.8))
    answer = compare(service, "One.", "Two.")

    assert (answer["outcome"], answer["preference"]) == ("first", 1.0)
    assert answer["expected"]["value"] == pytest.approx(0.8)
    assert answer["expected"]["mass"] == pytest.approx(1.0, abs=0.01)
    assert answer["metrics"]["mass"] == answer["expected"]["mass"]
    assert [v["expected"]["value"] for v in answer["verdicts"]] == pytest.approx([0.8, 0.8])
    swapped = compare(service, "Two.", "One.")
    assert swapped["outcome"] == "second"
    assert swapped["expected"]["value"] == pytest.approx(0.2)


def test_a_tie_is_half(service: RunningService, provider: FakeProvider) -> None:
    """The probability of a tie counts half for each."""
    provider.behave("main", choices(lambda seen: 0.15, tie=0.7))
    answer = compare(service, "One.", "Two.")

    assert answer["outcome"] == "tie"
    # A tie was chosen, so nothing tells how the rest falls to the two.
    assert answer["expected"] == {"value": None, "mass": pytest.approx(0.7)}
    assert "cover 70% of the probability" in unexpected(answer)[0]
    provider.behave("main", choices(lambda seen: 0.6, tie=0.3))
    answer = compare(service, "One.", "Two.")
    assert answer["outcome"] == "inconsistent"
    assert answer["verdicts"][0]["expected"]["value"] == pytest.approx(0.75)


@pytest.mark.parametrize("bias", [0.1, 0.3, -0.3, -0.75])
def test_a_position_bias_cancels(
    service: RunningService, provider: FakeProvider, bias: float
) -> None:
    """What a position is given in one order is taken away in the other; a flip stays a flip."""
    chance = 0.5 + (0.2 if abs(bias) < 0.5 else 0.02) * (1 if bias > 0 else -1)
    provider.behave("main", prefers("One.", chance, bias * 0.6))
    answer = compare(service, "One.", "Two.")

    assert answer["expected"]["value"] == pytest.approx(chance)
    flips = abs(chance - 0.5) < abs(bias * 0.6)
    assert answer["outcome"] == ("inconsistent" if flips else "first" if chance > 0.5 else "second")
    assert (answer["preference"] is None) is flips


def test_points_of_pairs_stay_what_they_are(
    service: RunningService, provider: FakeProvider
) -> None:
    """Without the rubric's wish there is no graded preference, only what each verdict tells."""
    provider.behave("main", prefers("One.", 0.8))
    answer = compare(service, "One.", "Two.", rubric="pair-of-points")

    assert "expected" not in answer
    assert "mass" not in answer["metrics"]
    assert answer["verdicts"][0]["expected"]["value"] == pytest.approx(0.8)


def test_one_order_without_probabilities(service: RunningService, provider: FakeProvider) -> None:
    """Half a pair would be all bias: there is no graded preference then, and it is said."""
    provider.behave("main", [prefers("One.", 0.8), behaviours.first_position()])
    answer = compare(service, "One.", "Two.")

    assert answer["expected"] == {"value": None, "mass": 0.0}
    assert unexpected(answer) == [
        "main: 1 of 2 verdicts count as given: no usable token probabilities"
    ]


def test_nobody_is_asked(service: RunningService, provider: FakeProvider) -> None:
    """The field is there with identical candidates and on a failure, too."""
    same = compare(service, "One.", "One. ")
    provider.behave("main", behaviours.says("Hm."))
    lost = compare(service, "One.", "Two.")

    assert same["outcome"] == "tie"
    assert same["expected"] == lost["expected"] == {"value": None, "mass": 0.0}
    assert lost["status"] == "failed"
    assert same["metrics"].keys() == lost["metrics"].keys()
    assert unexpected(same) == unexpected(lost) == []


def test_the_one_that_decides_is_the_one_expected_of(
    service: RunningService, provider: FakeProvider
) -> None:
    """A pair that another family decided has that family's graded preference."""
    provider.behave("main", prefers("One.", 0.5, 0.3))
    provider.behave("second", prefers("One.", 0.1))
    answer = compare(service, "One.", "Two.", rubric="escalating", judges=["main", "second"])

    assert answer["outcome"] == "second"
    assert answer["expected"]["value"] == pytest.approx(0.1)


def test_preferences_put_together() -> None:
    """The mean of both orders, with the least mass; without a value where one has none."""
    ab, ba = Expectation(value=0.9, mass=0.97), Expectation(value=0.5, mass=0.99)

    assert together([ab, ba]) == Expectation(value=0.7, mass=0.97)
    assert together([ab, ab.uncounted]).value is None
    assert together([]) == Expectation(value=None, mass=0.0)
    assert ab.mirrored.value == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("value", "mass", "odds"),
    [
        (0.5, 1.0, 0.0),
        (1.0, 1.0, 10.0),
        (0.0, 1.0, -10.0),
        (1.0, 0.95, 3.664),
        (1 - 1e-12, 1.0, 10.0),
    ],
)  # fmt: skip
def test_odds_are_no_surer_than_what_is_known(value: float, mass: float, odds: float) -> None:
    """What is not covered counts for both alike, and certainty has an end."""
    assert Expectation(value=value, mass=mass).log_odds == pytest.approx(odds, abs=1e-3)
    assert Expectation(value=None, mass=mass).log_odds is None


def test_both_are_shown_to_people(
    service: RunningService, provider: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line names what is expected beside the point and the outcome."""
    provider.behave("main", prefers("One.", 0.8))
    show("compare", compare(service, "One.", "Two."), None)
    provider.behave("main", scores({"4": 0.6, "5": 0.4}))
    show("assess", assess(service), None)
    provider.behave("main", behaviours.fixed(4))
    show("assess", assess(service), None)

    shown = capsys.readouterr().out
    assert "(preference 1 for the first), expected 0.8" in shown
    assert "4, expected 0.85" in shown
    assert shown.count("expected 0") == 2
