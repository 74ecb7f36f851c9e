"""How runs are asked: uncached, continued where they stopped, within a ceiling of cost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drift.support import Bench, pairs, points, raised, write_gold
from tests.harness import Judges, write_rubric
from tests.provider import behaviours, faults, replies
from tests.provider.seen import Seen

RUNS = ("--runs", "kept.runs")


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


def test_a_silent_upgrade_is_found_against_recorded_runs(bench: Bench) -> None:
    """The same judge, recorded before and asked after its provider changed it."""
    gold = points(40, scores=lambda i: i % 4 + 1)
    bench.provider.behave("alpha", behaviours.served_as(behaviours.honest(), "alpha-2026-01"))
    recorded = bench.command(
        "drift", "--gold", write_gold(bench.folder / "quality.jsonl", gold),
        "--baseline", "alpha", *RUNS,
    )  # fmt: skip
    before = bench.asked("alpha")
    bench.provider.behave("alpha", behaviours.served_as(raised(0.3), "alpha-2026-02"))

    ran = bench.drift("--baseline-run", "kept.runs", "--candidate", "alpha", gold=gold)

    assert recorded.code == 0
    assert "80 judgements recorded in kept.runs" in recorded.err
    assert bench.asked("alpha") - before == 40
    assert ran.code == 2
    assert ran.report["baseline"]["recorded"] is not None
    assert ran.report["baseline"]["models_served"] == ["alpha-2026-01"]
    assert ran.report["candidate"]["served_model_changed"] is True


def test_recorded_runs_of_other_items_are_refused(bench: Bench) -> None:
    """A judge is not blamed for what was changed in the items."""
    bench.drift(*RUNS, gold=points(8))
    changed = points(8)
    changed[3]["candidate"] += " By the way."

    ran = bench.drift("--baseline-run", "kept.runs", gold=changed)
    fewer = bench.drift("--baseline-run", "kept.runs", gold=points(7))

    assert (ran.code, fewer.code) == (1, 1)
    assert "item 'i3' was changed since" in ran.err
    assert "item 'i7' is not in the gold set any more" in fewer.err


def test_a_file_of_runs_is_reported_from_again(bench: Bench) -> None:
    """Nobody is asked a second time, and the report is the same."""
    first = bench.drift(*RUNS, gold=points(8))
    asked = len(bench.provider.requests)
    second = bench.drift(*RUNS, gold=points(8))
    anew = bench.drift(*RUNS, "--overwrite", gold=points(8))

    assert len(bench.provider.requests) == 2 * asked
    assert "nobody is asked" in second.err
    assert second.report == first.report
    assert anew.code == 0


def test_a_file_of_other_runs_is_not_continued(bench: Bench) -> None:
    """Another number of repeats is another run."""
    bench.drift(*RUNS, gold=points(4))
    ran = bench.drift(*RUNS, "--repeat", "3", gold=points(4))
    (bench.folder / "notes.txt").write_text("mine\n")
    foreign = bench.drift("--runs", "notes.txt", gold=points(4))

    assert ran.code == 1
    assert "--overwrite" in ran.err
    assert foreign.code == 1
    assert (bench.folder / "notes.txt").read_text() == "mine\n"


def test_a_torn_last_line_is_asked_again(bench: Bench) -> None:
    """What a power cut leaves behind."""
    first = bench.drift(*RUNS, gold=points(6)).report
    file = bench.folder / "kept.runs"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-3]) + lines[-3][:40])
    before = len(bench.provider.requests)

    second = bench.drift(*RUNS, gold=points(6)).report

    assert len(bench.provider.requests) == before + 2
    for report in (first, second):
        for part in (report, report["baseline"], report["candidate"]):
            del part["usage"]
    assert second == first


@pytest.mark.parametrize("label", [0, 6, 9, -3, 5.5], ids=str)
def test_labels_that_are_not_on_the_scale_are_refused(bench: Bench, label: float) -> None:
    """Nobody is asked: such a label could not be compared with a point, and is not made to fit."""
    gold = points(8)
    gold[3]["labels"]["quality"] = [label, 4]
    ran = bench.drift(gold=gold)

    assert ran.code == 1
    assert f"i3: quality: {label:g} is not on the scale (1, 2, 3, 4, 5)" in ran.err
    assert not bench.provider.requests


def test_a_killed_run_goes_on_where_it_stopped(bench: Bench) -> None:
    """After a ``kill -9`` the same command asks only for what is missing."""
    bench.provider.behave_by_default([behaviours.honest()] * 30 + [faults.hang()])
    gold = write_gold(bench.folder / "quality.jsonl", points(40))
    command = [
        sys.executable, "-m", "judge_service.cli", "drift", "--gold", str(gold),
        "--baseline", "alpha", "--candidate", "beta", "--format", "json", "--concurrency", "2",
        "--judges-file", "judges.toml", "--rubrics-dir", "rubrics", "--anchors-dir", "anchors",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
        reached = bench.provider.wait_until(lambda: len(bench.provider.requests) == 32)
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait(60)
    assert reached
    bench.provider.behave_by_default(behaviours.honest())
    ran = bench.drift("--concurrency", "2", gold=points(40))

    assert ran.code == 0
    assert "continuing an interrupted run" in ran.err
    # The two in flight when the process died were asked in vain.
    assert len(bench.provider.requests) == 122
    assert not list((bench.folder / "state" / "judge-service" / "drift").iterdir())


def test_an_interrupted_run_goes_on_where_it_stopped(bench: Bench) -> None:
    """Ctrl-C ends with 130 and one line; the same command asks only for what is missing."""
    bench.provider.behave_by_default([behaviours.honest()] * 10 + [faults.hang()])
    gold = write_gold(bench.folder / "quality.jsonl", points(40))
    command = [
        sys.executable, "-m", "judge_service.cli", "drift", "--gold", str(gold),
        "--baseline", "alpha", "--candidate", "beta", "--format", "json", "--concurrency", "2",
        "--judges-file", "judges.toml", "--rubrics-dir", "rubrics", "--anchors-dir", "anchors",
    ]  # fmt: skip
    stopped = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with stopped:
        reached = bench.provider.wait_until(lambda: len(bench.provider.requests) == 12)
        os.kill(stopped.pid, signal.SIGINT)
        out, err = stopped.communicate(timeout=60)
    assert reached
    assert stopped.returncode == 130
    assert out == ""
    assert "interrupted; the same command continues" in err
    assert "Traceback" not in err
    bench.provider.behave_by_default(behaviours.honest())
    ran = bench.drift("--concurrency", "2", gold=points(40))

    assert ran.code == 0
    assert len(bench.provider.requests) == 122


def test_a_judge_that_goes_down_is_no_drift(bench: Bench) -> None:
    """In the middle of a run: what it did not judge is failed, and nothing is concluded of it."""
    seen: list[int] = []

    def dying(asked: Seen) -> replies.Reply:
        seen.append(asked.n)
        return honest(asked) if len(seen) <= 8 else replies.Reply(status=503, body=b"down")

    honest = behaviours.honest()
    bench.provider.behave("beta", dying)
    ran = bench.drift("--concurrency", "1", *RUNS, gold=points(11))

    assert ran.code == 3
    assert ran.report["candidate"]["judged"] == 8
    assert ran.report["candidate"]["failed"] == 3
    assert ran.report["candidate"]["failures"] == {"upstream_error": 3}
    low, high = ran.report["candidate"]["mean"]["bounds"]
    assert low < ran.report["candidate"]["mean"]["value"] < high
    bench.provider.behave("beta", honest)
    again = bench.drift("--retry-failed", *RUNS, gold=points(11))
    assert again.code == 0
    assert again.report["judged"] == 11


def test_a_ceiling_of_cost_is_kept(bench: Bench) -> None:
    """Nothing is asked for that could pass it, and the run can be continued with a higher one."""
    for judge in ("alpha", "beta"):
        bench.provider.behave(
            judge, behaviours.with_usage(behaviours.honest(), replies.Usage(prompt=1000))
        )
    priced = Judges(bench.provider)
    for judge in ("alpha", "beta"):
        priced.add(judge, price={"input": 1.0, "output": 0.0})
    priced.write(bench.folder)
    options = ("--concurrency", "3", *RUNS)

    ran = bench.drift("--max-cost", "0.0105", *options, gold=points(10))
    asked = len(bench.provider.requests)
    same = bench.drift("--max-cost", "0.0105", *options, gold=points(10))
    assert len(bench.provider.requests) == asked, "what was spent before counts"
    assert same.code == 3
    more = bench.drift("--max-cost", "0.5", *options, gold=points(10))

    assert ran.code == 3
    assert ran.report["drift"] is None
    assert "the ceiling of $0.0105 would be passed" in ran.report["reasons"][-1]
    assert ran.report["usage"]["cost_usd"] <= 0.0105
    assert more.code == 0
    assert more.report["usage"]["cost_usd"] == pytest.approx(0.030)
    assert len(bench.provider.requests) == 30


@pytest.mark.parametrize("concurrency", ["1", "64"])
@pytest.mark.parametrize("ceiling", ["0", "0.5", "1.5", "3"])
def test_a_ceiling_holds_from_the_first_judgement_on(
    bench: Bench, ceiling: str, concurrency: str
) -> None:
    """Nobody is asked for what a judge's price says might pass it, and the end has its reason."""
    priced = Judges(bench.provider)
    for judge in ("alpha", "beta"):
        bench.provider.behave(
            judge, behaviours.with_usage(behaviours.honest(), replies.Usage(prompt=1000))
        )
        priced.add(judge, price={"input": 1000.0, "output": 0.0})
    priced.write(bench.folder)
    ran = bench.drift("--max-cost", ceiling, "--concurrency", concurrency, gold=points(9))

    assert ran.code == 3
    assert ran.report["drift"] is None
    assert f"the ceiling of ${ceiling} would be passed" in ran.report["reasons"][-1]
    assert ran.report["usage"]["cost_usd"] <= float(ceiling)


def test_a_run_that_a_ceiling_ends_is_no_clean_bill(bench: Bench) -> None:
    """However little is missing: what was not asked may have drifted."""
    priced = Judges(bench.provider)
    for judge in ("alpha", "beta"):
        bench.provider.behave(
            judge, behaviours.with_usage(behaviours.honest(), replies.Usage(prompt=1000))
        )
        priced.add(judge, price={"input": 1.0, "output": 0.0})
    priced.write(bench.folder)
    ran = bench.drift("--max-cost", "0.0595", gold=points(20))

    assert ran.report["judged"] == 19
    assert (ran.code, ran.report["drift"]) == (3, None)


def test_a_request_without_an_answer_counts_as_dear(bench: Bench) -> None:
    """What it cost is not known; under a ceiling it counts as the most it may have been."""
    bench.provider.behave("beta", behaviours.slow(behaviours.honest(), 60.0))
    priced = Judges(bench.provider)
    for judge in ("alpha", "beta"):
        priced.add(judge, price={"input": 1.0, "output": 1.0}, attempt_timeout_s=1.0)
    priced.write(bench.folder)
    ran = bench.drift("--max-cost", "0.01", "--timeout", "0.5", "--repeat", "1", gold=points(3))

    assert ran.code == 3
    assert ran.report["candidate"]["failed"] == 3


def test_a_report_that_cannot_be_written_costs_nothing(bench: Bench) -> None:
    """Its place is looked at before anybody is asked."""
    ran = bench.drift("--out", str(bench.folder / "nowhere" / "x.json"), gold=points(4))

    assert (ran.code, bench.provider.requests) == (1, [])
    assert "--out" in ran.err


def test_a_ceiling_needs_a_price(bench: Bench) -> None:
    """What is unknown is not free."""
    ran = bench.drift("--max-cost", "1", gold=points(4))

    assert ran.code == 1
    assert "price of a judge is not known" in ran.err


def test_failures_count_and_are_never_a_number(bench: Bench) -> None:
    """A failed item has no label; it stands in the denominator, with both bounds of the mean."""
    bench.provider.behave("beta", behaviours.chokes_on("Answer 7,"))

    ran = bench.drift(gold=points(20))
    report = ran.report

    assert ran.code == 0
    assert (report["n"], report["judged"], report["failed"]) == (20, 19, 1)
    assert report["candidate"]["failures"] == {"unparsable": 1}
    mean = report["candidate"]["mean"]
    low, high = mean["bounds"]
    assert mean["n"] == 19
    assert high - low == pytest.approx(1 / 20)
    assert low < mean["value"] < high
    assert all(entry["id"] != "i7" for entry in report["highest"] + report["lowest"])
    assert report["baseline"]["mean"]["bounds"] == [report["baseline"]["mean"]["value"]] * 2


def test_too_many_failures_are_not_enough_evidence(bench: Bench) -> None:
    """Under 90 % judged nothing is concluded, whatever the rest says: exit code 3."""
    bench.provider.behave(
        "beta",
        behaviours.when(
            lambda seen: "Question 1?" in seen.slots["prompt"],
            behaviours.says("I would rather not."),
            raised(0.9),
        ),
    )

    ran = bench.drift(gold=points(20, scores=lambda i: i % 4 + 1))

    assert ran.code == 3
    assert ran.report["drift"] is None
    assert ran.report["judged"] == 16
    assert ran.report["reasons"][0].startswith("not enough evidence: 16 of 20 items (80%)")


def test_failures_of_a_file_can_be_asked_again(bench: Bench) -> None:
    """When the judge has recovered."""
    bench.provider.behave("beta", [faults.unavailable(500)] * 9 + [behaviours.honest()])
    first = bench.drift(*RUNS, "--concurrency", "1", gold=points(12))
    bench.provider.behave("beta", behaviours.honest())

    second = bench.drift(*RUNS, "--retry-failed", gold=points(12))

    assert first.report["failed"] > 1
    assert first.code == 3
    assert second.code == 0
    assert second.report["failed"] == 0


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


@pytest.mark.parametrize(
    ("found", "written"),
    [('"points": {"quality": 4}', '"points": {"quality": 9}'), ('{"quality": 4}', '{"style": 4}')],
    ids=["off the scale", "another criterion"],
)
def test_recorded_points_have_to_be_the_side_s(bench: Bench, found: str, written: str) -> None:
    """A file that says what the judge cannot have said is refused by its line."""
    runs = bench.folder / "alpha.runs"
    bench.drift("--runs", str(runs), gold=points(4))
    text = runs.read_text()
    assert found in text
    runs.write_text(text.replace(found, written, 1))
    ran = bench.drift("--baseline-run", str(runs), gold=points(4))

    assert ran.code == 1
    assert f"{runs}: line " in ran.err


def test_a_folder_is_no_file_of_runs(bench: Bench) -> None:
    """One line says so."""
    ran = bench.drift("--baseline-run", str(bench.folder), gold=points(4))

    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "is a directory" in ran.err.lower()
