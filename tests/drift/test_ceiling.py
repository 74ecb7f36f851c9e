"""A ceiling of cost: kept from the first judgement on, and a reason for the end."""

from __future__ import annotations

import pytest

from tests.drift.support import RUNS, Bench, points
from tests.harness import Judges
from tests.provider import behaviours, replies


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


def test_a_ceiling_needs_a_price(bench: Bench) -> None:
    """What is unknown is not free."""
    ran = bench.drift("--max-cost", "1", gold=points(4))

    assert ran.code == 1
    assert "price of a judge is not known" in ran.err
