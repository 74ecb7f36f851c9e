"""How runs are asked: uncached, each pair in both orders, nobody after a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drift.support import Bench, pairs, points
from tests.harness import write_rubric
from tests.provider import behaviours


def test_runs_pass_the_cache_by(bench: Bench) -> None:
    """Every run asks the judge anew, the second command as well: a kept verdict hides a change."""
    bench.drift(gold=points(6))
    bench.drift(gold=points(6))

    assert bench.asked("alpha") == 2 * 2 * 6
    assert bench.asked("beta") == 2 * 6


def test_the_candidate_may_be_cached(bench: Bench) -> None:
    """Where it is asked for."""
    for _ in range(2):
        bench.drift("--cached", gold=points(6))

    assert bench.asked("beta") == 6
    assert bench.asked("alpha") == 2 * 2 * 6


@pytest.mark.parametrize("label", [0, 6, 9, -3, 5.5], ids=str)
def test_labels_that_are_not_on_the_scale_are_refused(bench: Bench, label: float) -> None:
    """Nobody is asked: such a label could not be compared with a point, and is not made to fit."""
    gold = points(8)
    gold[3]["labels"]["quality"] = [label, 4]
    ran = bench.drift(gold=gold)

    assert ran.code == 1
    assert f"i3: quality: {label:g} is not on the scale (1, 2, 3, 4, 5)" in ran.err
    assert not bench.provider.requests


def test_a_report_that_cannot_be_written_costs_nothing(bench: Bench) -> None:
    """Its place is looked at before anybody is asked."""
    ran = bench.drift("--out", str(bench.folder / "nowhere" / "x.json"), gold=points(4))

    assert (ran.code, bench.provider.requests) == (1, [])
    assert "--out" in ran.err


def test_what_a_rule_ends_needs_no_judge(bench: Bench) -> None:
    """It is counted apart and is no gap in the evidence."""
    write_rubric(bench.folder, rules='[[rules]]\nrule = "max_chars"\nlimit = 40\nhard = true\n')
    gold = points(10)
    for line in gold[:4]:
        line["candidate"] += " And so on and so forth, for a long time."

    ran = bench.drift(gold=gold)

    assert ran.code == 0, ran.report["reasons"]
    assert (ran.report["n"], ran.report["judged"]) == (10, 6)
    assert (ran.report["failed"], ran.report["short_circuited"]) == (0, 4)
    assert bench.asked("beta") == 6


def test_a_judge_judges_its_own_family_here(bench: Bench) -> None:
    """No reward comes of it, and the gap is part of what is measured."""
    gold = points(40, scores=lambda i: i % 4 + 1)
    for number, line in enumerate(gold):
        line["family"] = "beta" if number % 2 else "gamma"
        line["candidate"] += " #beta" if number % 2 else ""
    bench.provider.behave("beta", behaviours.fond_of("#beta"))

    report = bench.drift(gold=gold).report

    assert report["failed"] == 0
    assert report["own_family"]["baseline"] is None
    gap = report["own_family"]["candidate"]
    assert (gap["n_own"], gap["n_other"], gap["less_humans"]) == (20, 20, True)
    assert gap["gap"]["value"] == pytest.approx(5 - 3)


def test_pairs_are_asked_in_both_orders(bench: Bench) -> None:
    """Twice for each run, and an error in one order is a failed pair."""
    report = bench.drift(
        "--baseline", "alpha,pair", "--candidate", "beta,pair", gold=pairs(6)
    ).report

    assert bench.asked("alpha") == 2 * 2 * 6
    assert bench.asked("beta") == 2 * 6
    assert report["usage"]["upstream_requests"] == 36


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--baseline", "nobody"), "there is no judge 'nobody'"),
        (("--baseline", "alpha,nothing"), "there is no rubric 'nothing'"),
        (("--baseline", "alpha,pair"), "compares two candidates"),
        (("--format", "pdf"), "'pdf' is none of text, json, html"),
        (("--repeat", "0"), "--repeat"),
        (("--gold", "missing.jsonl"), "missing.jsonl: cannot be read"),
        (("--baseline-run", "missing.runs"), "missing.runs: No such file"),
        (("--no-such-option",), "No such option"),
    ],
    ids=["judge", "rubric", "kind", "format", "repeat", "gold", "runs", "usage"],
)
def test_a_mistake_is_one_line_and_exit_code_1(
    bench: Bench, options: tuple[str, ...], message: str
) -> None:
    """2 means drift here, so even wrong usage ends with 1."""
    gold = None if "--gold" in options else points(4)

    ran = bench.drift(*options, gold=gold)

    assert ran.code == 1
    assert message in " ".join(ran.err.split())
    assert not bench.provider.requests


def test_the_report_goes_to_a_file_in_the_form_of_its_name(bench: Bench, tmp_path: Path) -> None:
    """``--out drift.html`` is HTML; stderr says the verdict in one line."""
    ran = bench.drift("--out", "drift.html", gold=points(8))
    as_json = bench.drift("--out", "drift.json", gold=points(8))

    assert (ran.code, ran.out) == (0, "")
    assert "no drift: beta on quality beside alpha on quality" in ran.err
    assert (tmp_path / "drift.html").read_text().startswith("<!doctype html>")
    assert as_json.code == 0
    assert (tmp_path / "drift.json").read_text().startswith("{")
