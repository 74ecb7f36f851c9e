"""Corrections of a judge's scale: learnt from people, told, and never silent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from judge_service.judges.correction import Correction
from judge_service.rubric.library import load_rubric
from tests.drift.support import Bench, points, worth, write_gold
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider, behaviours
from tests.provider.seen import Answer, Seen

WORTH = [0.0, 0.1, 0.3, 0.6, 1.0]


def severe(seen: Seen) -> Answer:
    """A point less than people give, down to 1."""
    return max(1, seen.score_of(seen.candidate) - 1)


def recorded(bench: Bench, gold: list[dict[str, Any]]) -> Path:
    """Runs of a severe judge on the items."""
    bench.provider.behave("alpha", behaviours.decides(severe))
    file = write_gold(bench.folder / "quality.jsonl", gold)
    ran = bench.command("drift", "--gold", file, "--baseline", "alpha", "--runs", "a.runs")
    assert ran.code == 0, ran.err
    return file


def test_a_severe_judge_is_brought_to_what_people_say(bench: Bench) -> None:
    """Its points are worth more, and that holds on items it was not learnt from."""
    gold = recorded(bench, points(40, scores=lambda i: i % 4 + 2))

    ran = bench.command("gold", "correct", "--gold", gold, "--runs", "a.runs", "--json")

    (found,) = ran.report["criteria"]
    assert ran.code == 0
    assert found["helps"] is True
    assert found["values"] == sorted(found["values"])
    # It says 1, 2, 3, 4 where people say 2, 3, 4, 5.
    assert found["values"][:4] == pytest.approx([0.25, 0.5, 0.75, 1.0], abs=0.05)
    assert found["error_before"] == pytest.approx(0.25)
    assert found["error_after"] < 0.05
    assert "[judges.correction.quality]" in ran.report["toml"]


def test_what_does_not_help_is_not_offered(bench: Bench) -> None:
    """A judge that says what people say, and too few items: exit code 3, no table."""
    file = write_gold(bench.folder / "quality.jsonl", points(30))
    few = write_gold(bench.folder / "few.jsonl", points(10))
    bench.command("drift", "--gold", file, "--baseline", "alpha", "--runs", "a.runs")
    bench.command("drift", "--gold", few, "--baseline", "alpha,quality", "--runs", "few.runs")

    honest = bench.command("gold", "correct", "--gold", file, "--runs", "a.runs", "--json")
    short = bench.command("gold", "correct", "--gold", few, "--runs", "few.runs", "--json")

    assert (honest.code, honest.report["toml"]) == (3, None)
    assert honest.report["criteria"][0]["helps"] is False
    assert (short.code, short.report["criteria"]) == (3, [])


def test_a_correction_is_learnt_under_one_version_of_a_rubric(bench: Bench) -> None:
    """Runs of another version teach nothing."""
    gold = recorded(bench, points(24))
    write_rubric(
        bench.folder, top="", rules='[[rules]]\nrule = "max_chars"\nlimit = 900\nhard = true\n'
    )

    ran = bench.command("gold", "correct", "--gold", gold, "--runs", "a.runs")

    assert ran.code == 1
    assert "another version of rubric 'quality'" in ran.err


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.0, 0.6, 0.5, 1.0, 1.0], "must not be worth less"),
        ([0.5, 0.5, 0.5], "all points are worth the same"),
        ([0.0, 1.2], "less than or equal to 1"),
        ([0.0], "at least 2 items"),
        ([0.0, float("nan")], "finite number"),
    ],
    ids=["falling", "flat", "above 1", "one value", "NaN"],
)
def test_a_correction_that_cannot_be_right_is_refused(values: list[float], message: str) -> None:
    """When the judges file is read."""
    with pytest.raises(ValidationError, match=message):
        Correction(rubric_hash="0" * 16, values={"quality": tuple(values)})


def test_what_lies_between_two_points_is_worth_in_proportion() -> None:
    """Expected scores are corrected, too; a criterion without values is left alone."""
    correction = Correction(rubric_hash="0" * 16, values={"quality": tuple(WORTH)})

    assert [correction.worth("quality", n / 4) for n in range(5)] == WORTH
    assert correction.worth("quality", 0.375) == pytest.approx(0.2)
    assert correction.worth("other", 0.375) == 0.375


# In a running service.


def rubric_hash(folder: Path) -> str:
    """The hash of the rubric in a folder."""
    return load_rubric(folder / "rubrics" / "quality.toml", None).rubric_hash


@pytest.fixture
def folder(provider: FakeProvider, tmp_path: Path) -> Iterator[Path]:
    """A folder with a rubric, and a provider that is honest."""
    write_rubric(tmp_path)
    yield tmp_path
    provider.reset()
    provider.oracle(worth)


def corrected_judges(provider: FakeProvider, known_hash: str, values: list[float]) -> Judges:
    """``alpha`` with a correction, ``beta`` without one."""
    correction = {"quality": {"rubric_hash": known_hash, "values": {"quality": values}}}
    return Judges(provider).add("alpha", correction=correction).add("beta")


def asked(service: RunningService, judge: str, point: int) -> dict[str, Any]:
    """What one judge makes of a text worth ``point``."""
    return service.assess({"text": f"Well, worth={point}.", "family": "else"}, judges=[judge])


def test_a_corrected_point_counts_as_it_is_worth_and_says_so(
    provider: FakeProvider, folder: Path
) -> None:
    """The point stays, the reward moves, a flag and the fingerprint tell; other judges are as they
    were.
    """
    judges = corrected_judges(provider, rubric_hash(folder)[:16], WORTH)
    with judged_by(judges, folder) as service:
        found = asked(service, "alpha", 4)
        other = asked(service, "beta", 4)
    with judged_by(Judges(provider).add("alpha"), folder) as service:
        plain = asked(service, "alpha", 4)

    assert found["reward"] == pytest.approx(0.6)
    assert found["criteria"]["quality"]["point"] == 4
    assert found["criteria"]["quality"]["normalized"] == 0.75
    assert found["criteria"]["quality"]["corrected"] == pytest.approx(0.6)
    assert "corrected_scale" in {flag["flag"] for flag in found["flags"]}
    assert found["rubric_hash"] == plain["rubric_hash"]
    assert found["fingerprint"] != plain["fingerprint"]
    for untouched in (other, plain):
        assert untouched["reward"] == 0.75
        assert "corrected" not in untouched["criteria"]["quality"]
        assert "corrected_scale" not in {flag["flag"] for flag in untouched["flags"]}


@pytest.mark.parametrize("strategy", ["assess", "listwise"])
def test_a_ranking_counts_the_same(provider: FakeProvider, folder: Path, strategy: str) -> None:
    """By points and by lists."""
    judges = corrected_judges(provider, rubric_hash(folder)[:16], WORTH)
    body = {
        "rubric": "quality", "prompt": "Rank.", "judges": ["alpha"], "strategy": strategy,
        "candidates": [{"text": f"Text {n}, worth={n}.", "family": "else"} for n in (5, 3, 1)],
    }  # fmt: skip
    with judged_by(judges, folder) as service:
        answer = service.post("/v1/rank", body)

    assert answer["rewards"] == pytest.approx([1.0, 0.3, 0.0])
    assert "corrected_scale" in {flag["flag"] for flag in answer["flags"]}


def test_a_correction_for_another_version_does_not_count(
    provider: FakeProvider, folder: Path
) -> None:
    """And that is flagged."""
    with judged_by(corrected_judges(provider, "0" * 16, WORTH), folder) as service:
        found = asked(service, "alpha", 4)

    assert found["reward"] == 0.75
    assert "correction_outdated" in {flag["flag"] for flag in found["flags"]}


def test_values_that_do_not_fit_the_scale_stop_the_start(
    bench: Bench, provider: FakeProvider
) -> None:
    """A correction of the right version with another number of points is a mistake."""
    judges = corrected_judges(provider, rubric_hash(bench.folder), [0.0, 0.5, 1.0])
    judges.write(bench.folder)

    ran = bench.drift(gold=points(4))

    assert ran.code == 1
    assert "correction.quality.values.quality: 3 values for 5 points" in ran.err


def test_drift_compares_points_whatever_they_are_worth(
    bench: Bench, provider: FakeProvider
) -> None:
    """A correction moves rewards, not what the judge said."""
    corrected_judges(provider, rubric_hash(bench.folder)[:16], WORTH).write(bench.folder)

    report = bench.drift(gold=points(20)).report

    assert report["drift"] is False
    assert report["agreement"]["value"] == 1.0
    assert report["baseline"]["mean"]["value"] != report["candidate"]["mean"]["value"]
    assert json.dumps(report)
