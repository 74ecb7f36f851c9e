"""The rows of the speed table do their sums right; how fast anything is, no test asks."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import pytest

from benchmarks.rank_quality.fewest import Fewest
from benchmarks.speed import latency, prefix, rank_calls, workers
from benchmarks.speed.arrivals import Arrived
from benchmarks.speed.prefix import Reuse, Tokens, reuse
from benchmarks.speed.recorder import shared
from benchmarks.speed.rounds import in_turns, rounds_of
from benchmarks.speed.row import Row
from benchmarks.speed.workers import Hit


def test_the_first_round_does_not_count_and_sides_take_turns() -> None:
    """Both sides warm up in it."""
    order: list[str] = []
    numbers = iter(range(100))

    def side(name: str) -> float:
        order.append(name)
        return float(next(numbers))

    costs = in_turns(2, "row", one=lambda: side("one"), other=lambda: side("other"))

    assert order == ["one", "other"] * 3
    assert costs.found == {"one": [2.0, 4.0], "other": [3.0, 5.0]}
    assert costs.ratio("one", "other") == 3.0 / 4.0
    assert list(rounds_of(2, "row")) == [0, 1, 2]


@pytest.mark.parametrize(
    ("met", "verdict"), [(True, "met"), (False, "not met"), (None, "not told")]
)
def test_a_row_says_whether_its_goal_was_met(met: bool | None, verdict: str) -> None:
    """Also that it cannot be told here; and a row survives its way through JSON."""
    row = Row(name="r", against="a", goal="<= 1 x", value=0.5, unit="x", met=met, detail="")
    assert (row.measured, row.verdict) == ("0.50 x", verdict)
    assert Row(**json.loads(json.dumps(asdict(row)))) == row


def _arrived(*milliseconds: float) -> Arrived:
    taken = [one / 1e3 for one in milliseconds]
    return Arrived(taken=taken, late=[0.001] * len(taken), most_in_flight=len(taken))


def test_added_latency_is_the_difference_round_by_round() -> None:
    """Of percentiles of the same arrivals; what came while calls filled up is left out."""
    ours, alone = latency.Side(), latency.Side()
    for more in (2.0, 4.0, 300.0):
        alone.add(_arrived(9000.0, 2000.0, 2001.0, 2010.0), 1)
        ours.add(_arrived(9000.0, 2000.0 + more, 2001.0 + more, 2020.0 + more), 1)

    assert ours.added(alone, 0.5) == pytest.approx([2.0, 4.0, 300.0])
    assert ours.added(alone, 0.99) == pytest.approx([12.0, 14.0, 310.0])
    row = latency.row("assess", ours, alone, "3 rounds")
    assert row.value == pytest.approx(14.0)
    assert row.told == "p50 4.0 ms; p99 14.0 ms"
    assert row.met is False
    assert latency.row("compare", ours, alone, "3 rounds").met is True


def test_a_second_worker_is_told_by_rate_and_by_processor_time() -> None:
    """The busiest of two bounds what both can answer."""
    ones = [Hit(1000.0, (500.0,))] * 3
    twos = [Hit(1900.0, (300.0, 200.0))] * 3

    assert workers.bound(ones[0], twos[0]) == pytest.approx(500.0 / 300.0)
    assert twos[0].busiest == pytest.approx(0.6)
    row = workers.row(ones, twos, cores=2, rounds="rounds")
    assert row.value == pytest.approx(1.9)
    assert row.met is True
    assert row.told == "1.90 x the rate; 1.67 x by processor time"


@pytest.mark.parametrize(("cores", "met"), [(2, None), (4, False)])
def test_too_few_cores_say_nothing_against_a_second_worker(cores: int, met: bool | None) -> None:
    """A rate below the goal counts only where there is room for all."""
    ones, twos = [Hit(1000.0, (500.0,))], [Hit(1200.0, (250.0, 250.0))]
    row = workers.row(ones, twos, cores=cores, rounds="rounds")
    assert row.met is met
    assert ("too few" in row.detail) is (met is None)


def _body(system: str, user: str) -> bytes:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return json.dumps({"model": "m", "messages": messages}, ensure_ascii=False).encode()


def test_bytes_in_common_end_at_the_first_difference() -> None:
    """A call is held against the one of its own criterion."""
    assert shared(b"abcd", b"abxd") == 2
    assert shared(b"abc", b"abcd") == 3
    before = [_body("Judge clarity – well.", "one"), _body("Judge truth.", "one")]
    found = reuse(before, _body("Judge truth.", "two"))
    assert found.system == before[1].index(b"Judge truth.") + len(b'Judge truth."')
    assert found.share > 1.0
    assert reuse(before[:1], _body("Judge truth.", "two")).share < 1.0
    assert reuse(before, _body("Judge clarity – well.", "two")).share > 1.0
    assert reuse([_body("At 10:31 judge.", "one")], _body("At 10:32 judge.", "two")).share < 1.0


def test_a_call_of_other_messages_is_an_error() -> None:
    """Nothing is measured of what is no system message."""
    body = json.dumps({"messages": [{"role": "user", "content": "S"}]}).encode()
    with pytest.raises(RuntimeError, match="other messages"):
        reuse([body], body)


def test_cached_tokens_are_passed_on_where_all_are_told() -> None:
    """In usage and in the metrics; none at all is not passed on."""
    assert Tokens(10, 10, 10).passed_on
    assert not Tokens(10, 10, 9).passed_on
    assert not Tokens(10, 0, 10).passed_on
    assert not Tokens(0, 0, 0).passed_on
    assert Reuse(100, 50, 40).share == 0.8
    assert prefix.GOAL == 1.0


def test_the_judge_that_takes_most_calls_decides() -> None:
    """One for which no number is enough takes more than any."""
    found = {"sharp": Fewest(24, 1.0, 1.02), "noisy": Fewest(48, 0.93, 0.96)}
    row = rank_calls.row("answers", 0.15, found, "groups")
    assert (row.value, row.met, row.told) == (0.2, False, "0.10 x to 0.20 x, by judge")
    assert rank_calls.row("answers", 0.2, found, "groups").met is True
    never = rank_calls.row("answers", 0.9, {**found, "odd": Fewest(None, 0.8, 0.8)}, "groups")
    assert (never.value, never.met) == (math.inf, False)
    assert never.told == "0.10 x to never, by judge"
