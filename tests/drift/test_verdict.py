"""Whether drift is called: beyond the noise of the unchanged judge, and not within it."""

from __future__ import annotations

import pytest

from tests.drift.support import DRIFT_KEYS, Bench, noisy, pairs, points, raised
from tests.provider import behaviours
from tests.provider.seen import Answer, Seen


def test_the_same_judge_has_not_drifted(bench: Bench) -> None:
    """Two honest judges agree: exit code 0, no reason."""
    ran = bench.drift(gold=points(20))

    assert ran.code == 0, ran.err
    assert ran.report["drift"] is False
    assert ran.report["reasons"] == []
    assert ran.report["agreement"]["value"] == 1.0


def test_the_report_has_the_promised_keys(bench: Bench) -> None:
    """Exactly those, for points and for pairs."""
    assert bench.drift(gold=points(12)).report.keys() == DRIFT_KEYS
    found = bench.drift("--baseline", "alpha,pair", "--candidate", "beta,pair", gold=pairs(12))
    assert found.report.keys() == DRIFT_KEYS


@pytest.mark.parametrize("seed", [1, 2])
def test_the_noise_of_an_unchanged_judge_is_no_drift(bench: Bench, seed: int) -> None:
    """A judge that is a point off now and then, on both sides: no alarm."""
    bench.provider.behave("alpha", noisy(0.2, seed))

    ran = bench.drift("--candidate", "alpha", gold=points(80))

    assert ran.code == 0, ran.report["reasons"]
    assert ran.report["noise_floor"]["agreement"]["value"] < 1.0
    assert ran.report["agreement"]["value"] < 1.0


@pytest.mark.parametrize(("n", "seed"), [(80, 0), (80, 1), (200, 0)])
def test_one_point_more_on_a_tenth_of_the_items_is_drift(bench: Bench, n: int, seed: int) -> None:
    """A silent upgrade that is a little more lenient: exit code 2."""
    bench.provider.behave("beta", raised(0.1, seed))

    ran = bench.drift(gold=points(n, scores=lambda i: i % 4 + 1))

    assert ran.code == 2
    assert ran.report["drift"] is True
    assert any("Wilcoxon" in reason or "noise floor" in reason for reason in ran.report["reasons"])


def test_two_changed_items_are_within_the_noise_and_three_are_not(bench: Bench) -> None:
    """Of a judge that repeats itself exactly, on any number of items."""

    def changed(items: set[int]) -> behaviours.Behaviour:
        def judge(seen: Seen) -> Answer:
            number = int(seen.candidate.split()[1].rstrip(","))
            up = 1 if number % 2 else -1  # both ways, so that no mean moves
            return seen.score_of(seen.candidate) + (up if number in items else 0)

        return behaviours.decides(judge)

    gold = points(80, scores=lambda i: 3)
    bench.provider.behave("beta", changed({7, 20}))
    two = bench.drift(gold=gold)
    bench.provider.behave("beta", changed({7, 20, 33}))
    three = bench.drift(gold=gold)

    assert two.code == 0
    assert three.code == 2
    assert "lies below the noise floor 1.000" in three.report["reasons"][0]


@pytest.mark.parametrize(("n", "code"), [(1, 3), (2, 3), (3, 0), (4, 0), (5, 0)])
def test_few_items_are_no_drift_whatever_they_say(bench: Bench, n: int, code: int) -> None:
    """Two changed items are no more of three than of eighty; two in all are no evidence."""

    def judge(seen: Seen) -> Answer:
        return 5 if seen.candidate.split()[1] in ("0,", "1,") else 3

    bench.provider.behave("beta", behaviours.decides(judge))
    ran = bench.drift(gold=points(n, scores=lambda i: 3))

    assert ran.code == code
    assert ran.report["drift"] is (None if code == 3 else False)


def test_the_reasons_name_test_interval_and_effect(bench: Bench) -> None:
    """Drift is never called without saying by what, how sure and how large."""
    bench.provider.behave("beta", raised(0.6))

    gold = points(40, scores=lambda i: i % 4 + 1)
    (test, agreement, kappa) = bench.drift(gold=gold).report["reasons"]

    assert "Wilcoxon signed-rank test rejects (p < 0.0001): mean shift +0." in test
    assert "rank-biserial correlation 1.000" in test
    assert "below the noise floor" in agreement
    assert "difference -0." in agreement
    assert kappa.startswith("quality: kappa")


def test_without_a_second_run_there_is_no_floor(bench: Bench) -> None:
    """And the report says so; the test decides alone."""
    report = bench.drift("--repeat", "1", gold=points(40)).report

    floor = report["noise_floor"]
    assert (floor["agreement"], floor["kappa"], floor["repeats"]) == (None, None, 1)
    assert "no floor" in floor["note"]
    assert report["drift"] is False


def test_the_floor_is_the_lowest_of_all_pairs_of_runs(bench: Bench) -> None:
    """Three runs make three pairs."""

    def judge(seen: Seen) -> Answer:
        # The third request for a text is the third run: two texts of ten are judged anew there.
        number = int(seen.candidate.split()[1].rstrip(","))
        third = asked.setdefault(seen.candidate, 0) == 2
        asked[seen.candidate] += 1
        return 5 if third and number < 2 else 3

    asked: dict[str, int] = {}
    bench.provider.behave("alpha", behaviours.decides(judge))

    report = bench.drift("--repeat", "3", "--concurrency", "1", gold=points(10)).report

    assert report["noise_floor"]["agreement"]["value"] == pytest.approx(0.8)
    assert report["noise_floor"]["repeats"] == 3
    assert bench.asked("alpha") == 30


def test_a_biased_judge_of_pairs_has_drifted(bench: Bench) -> None:
    """Always the first one shown: every pair is inconsistent, and nobody's win."""
    bench.provider.behave("beta", behaviours.first_position())

    report = bench.drift(
        "--baseline", "alpha,pair", "--candidate", "beta,pair", gold=pairs(60)
    ).report

    assert report["drift"] is True
    assert "Stuart-Maxwell test rejects" in report["reasons"][0]
    assert report["position"]["candidate"]["primacy"]["value"] == 1.0
    assert report["position"]["candidate"]["first_position_share"]["value"] == 1.0
    assert report["position"]["baseline"]["consistency"]["value"] == 1.0
    assert report["confusion"]["counts"][0][3] == 20


def test_the_kappa_paradox_is_pointed_out(bench: Bench) -> None:
    """High agreement, low kappa, because nearly every label is the same."""
    gold = points(50, scores=lambda i: 5)

    def judge(seen: Seen) -> Answer:
        return 4 if int(seen.candidate.split()[1].rstrip(",")) in (3, 17, 30) else 5

    bench.provider.behave("beta", behaviours.decides(judge))
    report = bench.drift(gold=gold).report

    assert report["agreement"]["value"] == pytest.approx(0.94)
    assert report["kappa"]["value"] == pytest.approx(0.0)
    assert report["kappa_paradox"] is True
    assert "97% of the labels are '5'" in report["kappa"]["note"]
    assert "chance alone" in bench.drift("--format", "text", gold=gold).out


def test_what_has_no_meaning_is_null(bench: Bench) -> None:
    """One label everywhere: no kappa, no correlation; never a number."""
    report = bench.drift(gold=points(30, scores=lambda i: 4)).report

    assert report["kappa"] is None
    assert report["spearman"] is None
    assert report["kendall"] is None
    assert report["stuart_maxwell"] is None
    assert report["mcnemar"] is None
    assert report["mean_shift"]["value"] == 0.0
    assert report["kappa_paradox"] is False
    assert report["drift"] is False
