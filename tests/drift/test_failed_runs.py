"""Judgements that fail in a run: counted, never a number, and asked again where that is wanted."""

from __future__ import annotations

import pytest

from tests.drift.support import RUNS, Bench, points, raised
from tests.provider import behaviours, faults, replies
from tests.provider.seen import Seen


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
