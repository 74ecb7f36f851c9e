"""A judge that never answers ends a run soon; the same command goes on when it is there."""

from __future__ import annotations

import pytest

from tests.drift.support import RUNS, Bench, pairs, points, write_gold
from tests.harness import Judges
from tests.ports import free_port
from tests.provider import behaviours, faults
from tests.provider.behaviours import Behaviour

N = 40


def test_nobody_listens(bench: Bench) -> None:
    """A wrong port: the first judgements tell, and nothing is concluded."""
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    Judges(bench.provider).add("alpha").add("beta", api_base=nowhere).write(bench.folder)

    ran = bench.drift("--timeout", "2", gold=points(N))

    assert ran.code == 3
    assert ran.report["drift"] is None
    why = ran.report["reasons"][-1]
    assert "the candidate does not answer: none of its first" in why
    assert "judgements to go" in why
    assert f"{why}; the same command continues\n" in ran.err
    assert "--max-cost" not in ran.err
    assert ran.report["candidate"]["judged"] == 0
    assert bench.asked("alpha") < 2 * N


@pytest.mark.parametrize("dead", ["alpha", "beta"])
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (faults.status_error(401), "upstream_auth"),
        (faults.status_error(404), "upstream_error"),
        (faults.unavailable(503), "upstream_error"),
        (faults.odd_body(b"<html>hello</html>", "text/html"), "upstream_protocol"),
        (faults.quota_exhausted(), "quota_exhausted"),
    ],
    ids=["auth", "not found", "unavailable", "another server", "quota"],
)
def test_a_judge_that_lets_nobody_in(bench: Bench, dead: str, fault: Behaviour, code: str) -> None:
    """Whichever side it is. Mended, the same command asks for everything, the failed ones, too."""
    bench.provider.behave(dead, fault)
    first = bench.drift(*RUNS, "--timeout", "3", gold=points(N))
    bench.provider.behave(dead, behaviours.honest())
    second = bench.drift(*RUNS, "--timeout", "3", gold=points(N))

    side = "baseline" if dead == "alpha" else "candidate"
    assert first.code == 3
    assert f"the {side} does not answer" in first.report["reasons"][-1]
    assert code in first.report["reasons"][-1]
    assert second.code == 0
    assert second.report["judged"] == N


def test_one_that_answered_is_waited_for(bench: Bench) -> None:
    """A single answer among failures is enough: the judge is there."""
    bench.provider.behave(
        "beta",
        behaviours.when(
            lambda seen: "Answer 3," in seen.candidate,
            behaviours.honest(),
            faults.status_error(401),
        ),
    )

    ran = bench.drift("--concurrency", "1", gold=points(12))

    assert ran.report["candidate"]["failures"] == {"upstream_auth": 11}
    assert "does not answer" not in str(ran.report["reasons"])


def test_unusable_answers_are_answers(bench: Bench) -> None:
    """A judge that says nothing that can be read is asked about every item."""
    bench.provider.behave("beta", behaviours.says("I would rather not."))

    ran = bench.drift(gold=points(12))

    assert ran.report["candidate"]["failures"] == {"unparsable": 12}
    assert "does not answer" not in str(ran.report["reasons"])


def test_few_items_are_asked_about_all_the_same(bench: Bench) -> None:
    """Fewer than a first look: all failed, as the report says."""
    bench.provider.behave("beta", faults.status_error(401))

    ran = bench.drift(gold=points(5))

    assert ran.code == 3
    assert ran.report["candidate"]["failures"] == {"upstream_auth": 5}


def test_pairs(bench: Bench) -> None:
    """Asked in both orders, none of which is answered."""
    bench.provider.behave("beta", faults.status_error(401))
    gold = write_gold(bench.folder / "pair.jsonl", pairs(20))

    ran = bench.drift("--gold", gold, "--timeout", "3")

    assert ran.code == 3
    assert "the candidate does not answer" in ran.report["reasons"][-1]


def test_recording_a_judge_that_is_not_there(bench: Bench) -> None:
    """Nothing counts as recorded; the same command records it later."""
    gold = write_gold(bench.folder / "quality.jsonl", points(20))
    command = ("drift", "--gold", gold, "--baseline", "alpha", *RUNS)
    bench.provider.behave("alpha", faults.status_error(401))
    first = bench.command(*command)
    bench.provider.behave("alpha", behaviours.honest())
    second = bench.command(*command)
    third = bench.drift("--baseline-run", "kept.runs", gold=points(20))

    assert first.code == 3
    assert "the baseline does not answer" in first.err
    assert second.code == 0
    assert "40 judgements recorded in kept.runs, 0 failed" in second.err
    assert third.report["baseline"]["judged"] == 20
