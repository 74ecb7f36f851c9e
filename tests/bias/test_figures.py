"""The figures: what they say of judges whose bias is known."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from judge_service.bias.figure import Figure, Resampled, Said, Unsaid
from judge_service.bias.length import length
from judge_service.bias.own_family import own_family
from judge_service.bias.position import position
from judge_service.bias.ranks import correlation_of, partial_correlation_of, ranks_within
from judge_service.bias.record import PairRecord, PointRecord, marks_of, of_judge, of_panel
from judge_service.bias.regression import fit
from judge_service.bias.stability import stability
from judge_service.bias.style import style
from judge_service.outcome import Choice
from judge_service.statistics.interval import wilson
from tests.bias.made import WON, by_length, pair, turned

R = Resampled()
FAMILIES = {"own": frozenset({"kin"}), "other": frozenset({"stranger"})}


def figure(said: Said) -> Figure:
    """A figure that must be there."""
    assert isinstance(said, Figure), said
    return said


def why(said: Said) -> str:
    """The reason why there is no figure."""
    assert isinstance(said, Unsaid), said
    return said.reason


def test_position_counts_every_kind_of_pair() -> None:
    """Consistent, tie, primacy and recency, of the pairs with both orders; a tie against a win is
    a flip in favour of where the winner was shown.
    """
    pairs = [
        pair(0, "first", "first"),
        pair(1, "tie", "tie"),
        pair(2, "first", "second"),  # whoever is shown first
        pair(3, "second", "first"),  # whoever is shown last
        pair(4, "first", "tie"),  # won when shown first
        pair(5, "tie", "first"),  # won when shown last
        pair(6, None, "first"),
    ]

    found = {name: figure(said) for name, said in position(pairs, R).items()}

    assert [found[n].value for n in ("consistent", "ties", "primacy", "recency")] == [
        pytest.approx(share) for share in (2 / 6, 1 / 6, 2 / 6, 2 / 6)
    ]
    assert found["consistent"].ci95 == pytest.approx(wilson(2 / 6, 6))
    assert found["preference_fairness"].value == 0.0
    assert (found["first_position_share"].value, found["first_position_share"].n) == (0.5, 8)
    assert found["consistent"].n == 6


@pytest.mark.parametrize(
    ("ab", "ba", "fairness", "share"),
    [("first", "second", -1.0, 1.0), ("second", "first", 1.0, 0.0), ("first", "first", 0.0, 0.5)],
    ids=["always the first shown", "always the last shown", "always the same answer"],
)
def test_preference_fairness_has_a_sign(
    ab: Choice, ba: Choice, fairness: float, share: float
) -> None:
    """Below 0 is primacy, above 0 recency."""
    found = position([pair(n, ab, ba) for n in range(20)], R)

    assert figure(found["preference_fairness"]).value == fairness
    assert figure(found["first_position_share"]).value == share


def test_without_pairs_there_are_reasons() -> None:
    """No figure, and no number in its place."""
    for said in (position([], R), length([], [], R), style([], [], R), stability([], [], R)):
        assert all(why(value) for value in said.values())


def test_a_length_bias_is_found_and_taken_out() -> None:
    """The first answer is no better, only longer more often; at equal length it wins half."""
    pairs = [p for p in by_length(900, seed=3, slope=1.2) if p.lengths and p.lengths[0] > 600]

    found = length(pairs, [], R)

    assert figure(found["first_won_share"]).above(0.5)
    controlled = figure(found["controlled_first_won_share"])
    assert controlled.ci95 is not None
    assert controlled.ci95[0] < 0.5 < controlled.ci95[1]
    assert figure(found["effect"]).above(0.6)
    assert figure(found["longer_won_share"]).above(0.6)
    assert figure(found["correlation"]).above(0.3)


def test_quality_is_not_taken_for_length() -> None:
    """A first answer that is better at every length keeps its wins."""
    found = length(by_length(600, seed=4, slope=0.0, quality=1.1), [], R)

    controlled = figure(found["controlled_first_won_share"])
    assert controlled.value == pytest.approx(figure(found["first_won_share"]).value, abs=0.02)
    effect = figure(found["effect"])
    assert effect.ci95 is not None
    assert effect.ci95[0] < 0.5 < effect.ci95[1]


def test_who_is_called_the_first_does_not_matter() -> None:
    """Turned round, the first's shares turn and all else stays."""
    pairs = by_length(200, seed=5, slope=1.0, quality=0.4)

    one, other = length(pairs, [], R), length(turned(pairs), [], R)

    for name in ("longer_won_share", "correlation", "effect"):
        assert figure(one[name]).value == pytest.approx(figure(other[name]).value, abs=1e-9), name
    for name in ("first_won_share", "controlled_first_won_share"):
        total = figure(one[name]).value + figure(other[name]).value
        assert total == pytest.approx(1.0, abs=1e-9), name


def test_length_that_decides_alone_leaves_nothing_to_control_for() -> None:
    """No infinite coefficient: the reason is said."""
    lengths = [(100 + 10 * n, 90) if n % 2 else (90, 100 + 10 * n) for n in range(30)]
    pairs = [pair(n, WON[a > b], WON[a > b], lengths=(a, b)) for n, (a, b) in enumerate(lengths)]

    found = length(pairs, [], R)

    assert "decides every pair" in why(found["controlled_first_won_share"])
    assert figure(found["longer_won_share"]).value == 1.0


@pytest.mark.parametrize("count", [1, 9])
def test_few_pairs_make_no_correlation(count: int) -> None:
    """A share says how little it is by its interval; a correlation or a regression is not given."""
    found = length(by_length(count, seed=1, slope=1.0), [], R)

    assert f"{count} decided pairs" in why(found["correlation"])
    assert f"{count} decided pairs" in why(found["controlled_first_won_share"])
    assert figure(found["longer_won_share"]).n == count


def test_equal_lengths_and_equal_preferences_are_reasons() -> None:
    """Nothing varies, so nothing can go with anything."""
    same = length([pair(n, "first", "first") for n in range(20)], [], R)

    assert "same" in why(same["correlation"])
    assert "equal length" in why(same["effect"])


def test_the_regression_is_that_of_a_direct_maximisation() -> None:
    """The likelihood's maximum, and the spread of the estimate over many samples."""
    rng = np.random.default_rng(11)
    values = []
    for _ in range(200):
        x = rng.normal(size=300)
        y = (rng.random(300) < 1 / (1 + np.exp(-(0.3 + 0.8 * x)))).astype(float)
        found = fit([np.ones(300), x], y)
        assert found is not None
        values.append([(c.value, c.error) for c in found])
        # No step in any direction makes the data likelier.
        beta = np.array([c.value for c in found])
        for step in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
            assert _log_likelihood(x, y, beta) >= _log_likelihood(x, y, beta + np.array(step))
    table = np.array(values)
    assert table[:, :, 0].mean(axis=0) == pytest.approx([0.3, 0.8], abs=0.05)
    assert table[:, :, 1].mean(axis=0) == pytest.approx(table[:, :, 0].std(axis=0), rel=0.2)


def _log_likelihood(x: np.ndarray, y: np.ndarray, beta: np.ndarray) -> float:
    log_odds = beta[0] + beta[1] * x
    return float((y * log_odds - np.log1p(np.exp(log_odds))).sum())


def test_ranks_are_spearmans() -> None:
    """With ties, and beside another group that would turn it round if it were mixed in."""
    x, y = [1.0, 2.0, 2.0, 4.0, 5.0], [2.0, 1.0, 3.0, 3.0, 9.0]
    ranks_x, ranks_y = [1.0, 2.5, 2.5, 4.0, 5.0], [2.0, 1.0, 3.5, 3.5, 5.0]
    rho = float(np.corrcoef(ranks_x, ranks_y)[0, 1])

    one = correlation_of(ranks_within(np.array(x)), ranks_within(np.array(y)))
    groups = ["a"] * 5 + ["b"] * 5
    two = correlation_of(
        ranks_within(np.array(x + [v - 100 for v in x]), groups),
        ranks_within(np.array(y + [v + 100 for v in y]), groups),
    )

    assert one(np.ones((1, 5)))[0] == pytest.approx(rho)
    assert two(np.ones((1, 10)))[0] == pytest.approx(rho)


def test_a_partial_correlation_is_that_of_the_residuals() -> None:
    """What is left of both once the third is taken out of each."""
    rng = np.random.default_rng(2)
    z = rng.normal(size=60)
    x, y = z + rng.normal(size=60), z + rng.normal(size=60)
    left = [v - np.polyval(np.polyfit(z, v, 1), z) for v in (x, y)]

    found = partial_correlation_of(x, y, z)(np.ones((1, 60)))[0]

    assert found == pytest.approx(float(np.corrcoef(left[0], left[1])[0, 1]))


def test_a_liking_for_markup_is_told_from_one_for_length() -> None:
    """Longer answers have more marks here; only the marks are liked."""
    draw = random.Random(8)  # noqa: S311 - a repeatable draw, no secret
    pairs = []
    for number in range(600):
        lengths = (draw.randrange(300, 1500), draw.randrange(300, 1500))
        one, two = (chars // 50 * draw.randrange(0, 3) for chars in lengths)
        dense = one / lengths[0] - two / lengths[1]
        won = WON[draw.random() < 1 / (1 + math.exp(-60 * dense))]
        pairs.append(pair(number, won, won, lengths=lengths, marks=(one, two)))

    found = style(pairs, [], R)

    assert figure(found["effect"]).above(0.6)
    assert figure(found["more_markup_won_share"]).above(0.6)


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Plain words, 2 * 3 = 6, snake_case and a-b.", 0),
        ("# Title\n\n- one\n- **two**\n1. three\n> said\n| a | b |", 7),
        ("```python\n# no heading\nx = 2 ** 3 ** 1\n```", 1),
        ("Well done \U0001f389\U0001f389", 2),
        ("", 0),
    ],
    ids=["prose", "markdown", "code", "emoji", "empty"],
)
def test_marks_of_formatting(text: str, marks: int) -> None:
    """Headings, items, quotes, rows, emphasis, fences, emoji; code is not looked at."""
    assert marks_of(text) == marks


def test_the_marks_of_a_long_text_are_estimated() -> None:
    """From its beginning, so that a huge text costs no more than a large one."""
    assert marks_of("- item\n" * 100_000) == pytest.approx(100_000, rel=0.01)


def _with_control(own: str, other: str, count: int = 30) -> list[PairRecord]:
    kin = ("kin", "third")
    pairs = []
    for number in range(count):
        for judge, choice in (("own", own), ("other", other)):
            won: Choice = "first" if choice == "first" else "second"
            pairs.append(pair(number, won, won, judge=judge, families=kin))
    return pairs


def test_kin_that_is_better_is_no_bias() -> None:
    """Judges of other families like it as much: the gap is nothing."""
    found = own_family("own", FAMILIES, _with_control("first", "first"), [], R)

    assert figure(found["gap"]).value == 0.0


def test_kin_that_only_its_own_judge_likes_is_one() -> None:
    """By how much more it likes it than the others do."""
    found = own_family("own", FAMILIES, _with_control("first", "second"), [], R)

    assert (figure(found["gap"]).value, figure(found["gap"]).n) == (1.0, 30)


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([pair(n, "first", "first", judge="own") for n in range(30)], "no answer is known"),
        ([p for p in _with_control("first", "first") if p.judge == "own"], "no judge of another"),
        (_with_control("first", "first", count=4), "at least 10"),
    ],
    ids=["no kin", "no control", "too few"],
)
def test_no_gap_without_kin_and_control(pairs: Sequence[PairRecord], reason: str) -> None:
    """That its kin wins shows nothing by itself."""
    assert reason in why(own_family("own", FAMILIES, pairs, [], R)["gap"])


def test_a_severe_judge_has_no_gap_in_points() -> None:
    """What it gives less to everybody falls out; what it gives more to its kin stays."""
    points = [
        PointRecord(
            judge=judge, item=str(n), rubric="r", chars=100,
            families=frozenset({"kin" if n % 2 else "third"}),
            value=0.8 if judge == "other" else 0.5 + (0.2 if n % 2 else 0.0),
        )
        for n in range(40)
        for judge in ("own", "other")
    ]  # fmt: skip

    assert figure(own_family("own", FAMILIES, [], points, R)["point_gap"]).value == pytest.approx(
        0.2
    )


def test_stability_counts_what_was_asked_anew() -> None:
    """Of all twos among the answers to one question, how many are equal."""
    runs: list[tuple[Choice, Choice]] = [
        ("first", "first"),
        ("first", "first"),
        ("second", "first"),
    ]
    pairs = [pair(n, *run) for n in range(12) for run in runs]

    found = figure(stability(pairs, [], R)["choices"])

    # In order AB one of three twos agrees, in order BA all do.
    assert found.value == pytest.approx((1 / 3 + 1) / 2)
    assert found.n == 12


def test_a_kept_verdict_is_no_second_opinion() -> None:
    """What came from the cache does not make a judge stable."""
    kept = [
        of_judge("j", str(n), {"AB": "first", "BA": "first"}, cached=("AB", "BA"))
        for n in range(12)
    ]

    found = stability([*(pair(n, "first", "first") for n in range(12)), *kept], [], R)

    assert "asked twice" in why(found["choices"])


def test_a_panel_has_the_position_that_most_of_its_judges_have() -> None:
    """Where it is inconsistent; where its judges balance, neither position gained."""
    one, two, three = (
        pair(0, "first", "second", judge="a"),
        pair(0, "second", "first", judge="b"),
        pair(0, "first", "second", judge="c"),
    )

    assert of_panel([one, two, three], "inconsistent").gain == "primacy"
    assert of_panel([one, two], "inconsistent").gain is None
    assert of_panel([one, two, three], None).outcome is None
