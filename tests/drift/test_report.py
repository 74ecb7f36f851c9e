"""What a report says: people, groups, length, items to look at; as text and as a page."""

from __future__ import annotations

import json

import pytest

from judge_service.drift.data import line_up
from judge_service.drift.flips import group_flips, pair_flips
from judge_service.drift.humans import against_points
from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import RunData
from judge_service.drift.position import position_counts
from judge_service.drift.report import make_report
from judge_service.drift.side import SideInfo
from judge_service.drift.words import gate_words
from judge_service.gold.item import GoldItem, GoldSet
from judge_service.types import Candidate
from tests.drift.support import Bench, noisy, pairs, points, raised
from tests.harness import CRITERION, write_rubric
from tests.provider import behaviours
from tests.provider.seen import Answer, Seen

SCALE = (1, 2, 3, 4, 5)
SEED = 1


def test_agreement_with_people_is_told_for_each_judge(bench: Bench) -> None:
    """Correlation, kappa, severity and the gate, beside the judge's own repeat."""
    gold = points(40, scores=lambda i: i % 4 + 1)
    bench.provider.behave("beta", raised(1.0))

    humans = bench.drift(gold=gold).report["humans"]

    assert humans["baseline"]["agreement"]["value"] == 1.0
    assert humans["baseline"]["severity"]["value"] == 0.0
    assert humans["baseline"]["gate"]["own_repeat_spearman"]["value"] == pytest.approx(1.0)
    assert humans["candidate"]["severity"] == {"value": 1.0, "ci95": [1.0, 1.0]}
    assert humans["candidate"]["spearman"]["value"] == pytest.approx(1.0)
    assert humans["candidate"]["gate"]["passed"] is True
    assert humans["change"]["agreement"]["value"] == -1.0


def test_a_judge_that_people_do_not_follow_fails_the_gate(bench: Bench) -> None:
    """Spearman under 0.6 with people is no judge to train with, however steady it is."""

    def judge(seen: Seen) -> Answer:
        return 6 - seen.score_of(seen.candidate)

    bench.provider.behave("beta", behaviours.decides(judge))
    ran = bench.drift("--format", "text", gold=points(30))

    assert ran.code == 2
    assert "gate Spearman >= 0.6: NOT passed" in ran.out


def test_the_human_value_is_the_mean_of_the_points() -> None:
    """4 and 5 are 4.5, which no point of a judge equals; distances count in proportion."""
    found = against_points([4, 5, 2, 1], [4.5, 5.0, 2.0, 1.0], SCALE, repeat_rho=None, seed=SEED)

    assert found is not None
    assert found["agreement"]["value"] == pytest.approx(0.75)
    assert found["severity"]["value"] == pytest.approx(-0.125)
    assert found["mean_error"]["value"] == pytest.approx(0.125)
    assert found["confusion"]["human_values"] == [1.0, 2.0, 3.0, 4.0, 4.5, 5.0]


def test_too_few_items_pass_no_gate() -> None:
    """Nine items are no calibration."""
    found = against_points([1, 2, 3] * 3, [1, 2, 3] * 3, SCALE, repeat_rho=None, seed=SEED)

    assert found is not None
    assert found["gate"]["passed"] is None
    assert "too few items" in gate_words(found["gate"])


@pytest.mark.parametrize(
    ("points", "people", "words"),
    [
        ([1] * 12, [1, 2, 3] * 4, "the judge's points are all equal"),
        ([1, 2, 3] * 4, [2] * 12, "people's labels are all equal"),
    ],
    ids=["judge", "people"],
)
def test_a_gate_that_cannot_be_said_tells_why(
    points: list[int], people: list[float], words: str
) -> None:
    """With items enough, it is not for want of items."""
    found = against_points(points, people, SCALE, repeat_rho=None, seed=SEED)

    assert found is not None
    assert found["gate"]["passed"] is None
    assert words in gate_words(found["gate"])


def test_people_on_pairs(bench: Bench) -> None:
    """Inconsistent pairs agree with nobody; what is left of them is told apart."""
    bench.provider.behave("beta", behaviours.first_position())

    humans = bench.drift(
        "--baseline", "alpha,pair", "--candidate", "beta,pair", gold=pairs(12)
    ).report["humans"]

    assert humans["baseline"]["agreement"]["value"] == 1.0
    assert humans["baseline"]["coverage"]["value"] == 1.0
    assert humans["candidate"]["agreement"]["value"] == 0.0
    assert humans["candidate"]["accepted"] == {"n": 0, "agreement": None, "kappa": None}


def test_orderings_that_turn_round_inside_groups(bench: Bench) -> None:
    """Two of four in a group change places: of its six orderings one is turned round."""

    def judge(seen: Seen) -> Answer:
        return {3: 4, 4: 3}.get(seen.score_of(seen.candidate), seen.score_of(seen.candidate))

    bench.provider.behave("beta", behaviours.decides(judge))
    report = bench.drift(gold=points(20, scores=lambda i: i % 4 + 1)).report

    flips = report["within_group_flips"]
    assert (flips["orderings"], flips["flipped"], flips["groups"]) == (30, 5, 5)
    assert flips["value"] == pytest.approx(1 / 6)
    assert flips["noise"]["value"] == 0.0


@pytest.mark.parametrize(
    ("first", "second", "orderings", "flipped", "lost", "made"),
    [
        ([1, 2], [1, 2], 1, 0, 0, 0),
        ([1, 2], [2, 1], 1, 1, 0, 0),
        ([1, 2], [3, 3], 1, 0, 1, 0),
        ([2, 2], [1, 3], 0, 0, 0, 1),
        ([1, 2, 3], [3, 2, 1], 3, 3, 0, 0),
    ],
    ids=["kept", "turned", "lost", "made", "all turned"],
)
def test_an_ordering_is_kept_turned_lost_or_made(
    first: list[float], second: list[float], orderings: int, flipped: int, lost: int, made: int
) -> None:
    """Only a strict order that becomes the opposite strict order counts as a flip."""
    found = group_flips(["g"] * len(first), first, second, seed=SEED)

    assert (found.orderings, found.flipped, found.lost, found.made) == (
        orderings, flipped, lost, made,
    )  # fmt: skip


def test_no_ordering_is_no_share() -> None:
    """Groups of one, or all ties: null, not 0."""
    assert group_flips(["a", "b"], [1, 2], [2, 1], seed=SEED).wire() is None
    assert group_flips(["a", "a"], [1, 1], [1, 2], seed=SEED).wire() is None
    assert pair_flips(["tie", "inconsistent"], ["first", "second"], seed=SEED).wire() is None


def test_no_flip_in_few_groups_is_not_certainty() -> None:
    """The interval of 0 of 3 reaches far up."""
    found = group_flips(["a", "a", "b", "b", "c", "c"], [1, 2] * 3, [1, 2] * 3, seed=SEED).wire()

    assert found is not None
    assert found["value"] == 0.0
    assert found["ci95"][1] > 0.5


def test_position_counts_add_up() -> None:
    """Every pair is consistent, primacy, recency or an error."""
    found = position_counts(
        [
            ("first", "first"), ("tie", "tie"), ("first", "second"), ("second", "first"),
            ("first", "tie"), ("tie", "first"), ("tie", "second"), (None, "first"),
            ("second", None),
        ]
    )  # fmt: skip

    assert found.n == found.consistent + found.primacy + found.recency + found.error == 9
    assert (found.consistent, found.consistent_tie, found.error) == (2, 1, 2)
    assert (found.primacy, found.recency) == (3, 2)
    assert (found.flip_full, found.flip_tie) == (2, 3)
    assert found.preference_fairness == pytest.approx(-1 / 7)
    # Of the seven that have both: the orders that failed say nothing of positions.
    assert (found.first_won, found.decided) == (5, 9)


def test_several_criteria_stand_apart(bench: Bench) -> None:
    """Each with its own figures; what is common is about the weighted score."""
    second = CRITERION.replace('"quality"', '"tone"').replace("weight = 1.0", "weight = 0.5")
    both = CRITERION.replace("weight = 1.0", "weight = 0.5") + second
    write_rubric(bench.folder, criteria=both)
    gold = points(30, scores=lambda i: i % 4 + 1)
    for line in gold:
        line["labels"]["tone"] = line["labels"]["quality"]

    def judge(seen: Seen) -> Answer:
        lenient = "tone" in seen.system
        return min(5, seen.score_of(seen.candidate) + lenient)

    write_rubric(bench.folder, criteria=both.replace("How good", "How good in tone", 1))
    bench.provider.behave("beta", behaviours.decides(judge))
    report = bench.drift(gold=gold).report

    assert report["criteria"].keys() == {"quality", "tone"}
    assert report["drift"] is True
    assert [part["drift"] for part in report["criteria"].values()].count(True) >= 1
    assert report["agreement"] is None
    assert report["mean_shift"]["value"] > 0
    assert "after Holm's correction" in " ".join(report["reasons"])


@pytest.mark.parametrize("repeat", [1, 2])
def test_what_is_common_to_several_criteria_has_the_same_keys(bench: Bench, repeat: int) -> None:
    """On top as in each part; what has no meaning there is null. The baseline's own flips of
    rewards stand beside the candidate's.
    """
    second = CRITERION.replace('"quality"', '"tone"')
    both = (CRITERION + second).replace("weight = 1.0", "weight = 0.5")
    write_rubric(bench.folder, criteria=both)
    bench.provider.behave("alpha", noisy(0.5))
    gold = points(32, scores=lambda i: i % 4 + 1)

    report = bench.drift("--repeat", repeat, gold=gold).report

    for part in report["criteria"].values():
        for key in ("noise_floor", "within_group_flips", "mean_shift"):
            assert report[key].keys() == part[key].keys(), key
    floor, noise = report["noise_floor"], report["within_group_flips"]["noise"]
    assert (floor["n"], floor["below"], floor["exact"]) == (None, {}, False)
    assert floor["note"]
    if repeat == 1:
        assert noise is None
    else:
        assert noise["groups"] == 8
        assert noise["flipped"] + noise["lost"] + noise["gained"] > 0


def test_the_most_changed_items_come_first(bench: Bench) -> None:
    """With both verdicts, both reasons and what people said."""

    def judge(seen: Seen) -> Answer:
        number = int(seen.candidate.split()[1].rstrip(","))
        return {3: 5, 4: 4}.get(number, seen.score_of(seen.candidate))

    bench.provider.behave("beta", behaviours.decides(judge, "Seen anew."))
    report = bench.drift("--top", "1", gold=points(12, scores=lambda i: 2)).report

    (entry,) = report["changed"]
    assert entry["id"] == "i3"
    assert entry["change"] == pytest.approx(0.75)
    assert entry["baseline"]["points"] == {"quality": 2}
    assert entry["candidate"]["reasons"] == {"quality": "Seen anew."}
    assert entry["humans"] == {"quality": [2.0]}
    assert [one["id"] for one in report["highest"]] == ["i3"]
    assert [one["id"] for one in report["lowest"]] == ["i0"]


def test_the_text_cannot_steer_a_terminal(bench: Bench) -> None:
    """Control characters are shown, not obeyed."""
    gold = points(6)
    for line in gold:
        line["candidate"] += "\x1b[31m red"
    bench.provider.behave("beta", behaviours.fixed(3))

    out = bench.drift("--format", "text", gold=gold).out

    assert "\x1b" not in out
    assert "\\u{1B}" in out


def test_a_finite_number_everywhere(bench: Bench) -> None:
    """Nothing judged at all is still JSON: nulls, no NaN."""
    bench.provider.behave("beta", behaviours.says("I would rather not."))

    ran = bench.drift(gold=points(10))

    assert ran.code == 3
    assert "NaN" not in ran.out
    assert ran.report["agreement"] is None
    assert ran.report["candidate"]["mean"] is None
    for form in ("text", "html"):
        assert bench.drift("--format", form, gold=points(10)).code == 3


# Reports of runs that nobody asked for.


def side(judge: str, kind: str = "assess") -> SideInfo:
    """A side on a scale of five points."""
    single = kind == "assess"
    return SideInfo(
        judge=judge, model=f"openai/{judge}", family=judge, rubric="r", rubric_version="1",
        rubric_hash="0", fingerprint=judge, kind="assess" if single else "compare",
        scales={"quality": SCALE} if single else {}, weights={"quality": 1.0} if single else {},
    )  # fmt: skip


def run(values: list[int | None]) -> dict[str, Judgement]:
    """A run with these points; None is a failure."""
    return {
        f"i{n}": Judgement(
            item=f"i{n}", digest="d", status="failed" if value is None else "judged",
            points={} if value is None else {"quality": value}, chars=(10 + n,),
            score=None if value is None else (value - 1) / 4,
            reward=None if value is None else (value - 1) / 4,
            error="timeout" if value is None else None,
        )
        for n, value in enumerate(values)
    }  # fmt: skip


def items(n: int) -> GoldSet:
    """Gold items without labels."""
    return GoldSet(
        name="g",
        items=tuple(
            GoldItem(id=f"i{k}", prompt=f"Q{k // 4}", candidates=(Candidate(text=f"A{k}"),))
            for k in range(n)
        ),
    )


def test_an_item_that_was_not_asked_about_counts_as_failed() -> None:
    """An unfinished run claims nothing about the rest."""
    baseline = RunData(side=side("a"), runs=(run([3, 4, 5, None]),))
    partial = run([3, 4, 5, 2])
    del partial["i0"]

    lined = line_up(items(4), baseline, RunData(side=side("b"), runs=(partial,)))

    assert (lined.n, len(lined.judged), lined.failed) == (4, 2, 2)


def test_the_same_runs_give_the_same_report() -> None:
    """Byte for byte: every draw is seeded."""
    values: list[int | None] = [n % 5 + 1 for n in range(40)]
    baseline = RunData(side=side("a"), runs=(run(values), run([*values[1:], 3])))
    candidate = RunData(side=side("b"), runs=(run([*values[2:], 1, 2]),))

    first, second = (make_report(items(40), baseline, candidate) for _ in range(2))

    assert json.dumps(first) == json.dumps(second)
    assert first["humans"]["baseline"] is None


def test_failures_of_repeats_do_not_count_as_disagreement() -> None:
    """The floor is over the items that both runs have a label for."""
    values: list[int | None] = [n % 5 + 1 for n in range(20)]
    holes: list[int | None] = [None if n in (3, 11) else v for n, v in enumerate(values)]
    baseline = RunData(side=side("a"), runs=(run(values), run(holes)))

    report = make_report(items(20), baseline, RunData(side=side("b"), runs=(run(values),)))

    assert report["noise_floor"]["agreement"]["value"] == 1.0
    assert report["noise_floor"]["n"] == 18
    assert (report["judged"], report["failed"]) == (20, 0)


@pytest.mark.parametrize("form", ["text", "html"])
def test_several_criteria_have_their_own_part(bench: Bench, form: str) -> None:
    """In the text and on the page, too."""
    second = CRITERION.replace('"quality"', '"tone"')
    both = (CRITERION + second).replace("weight = 1.0", "weight = 0.5")
    write_rubric(bench.folder, criteria=both)
    bench.provider.behave("beta", raised(0.5))

    ran = bench.drift("--format", form, gold=points(20, scores=lambda i: i % 4 + 1))

    assert ran.code == 2
    assert "quality: DRIFT" in ran.out
    assert "tone: DRIFT" in ran.out
    assert "all criteria, by their weighted score" in ran.out.lower()


def test_two_versions_of_a_rubric_are_compared(bench: Bench) -> None:
    """One judge on both; what only one of them asks is left aside."""
    more = CRITERION.replace("weight = 1.0", "weight = 0.5")
    write_rubric(bench.folder, "quality2", criteria=more + more.replace('"quality"', '"tone"'))
    scale = CRITERION.replace('  {point = 5, means = "right"},\n', "")
    write_rubric(bench.folder, "short", criteria=scale)

    ran = bench.drift(
        "--baseline", "alpha,quality", "--candidate", "alpha,quality2", gold=points(12)
    )
    other = bench.drift(
        "--baseline", "alpha,quality", "--candidate", "alpha,short", gold=points(12)
    )

    assert ran.code == 0, ran.err
    assert ran.report["baseline"]["rubric_hash"] != ran.report["candidate"]["rubric_hash"]
    assert "criteria" not in ran.report
    assert other.code == 1
    assert "has another scale" in other.err
