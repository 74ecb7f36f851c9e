"""Equal points settled by pairs, and all members in one list."""

from __future__ import annotations

from collections import Counter

import pytest

from judge_service.ranking.settling import room
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, faults
from tests.provider.seen import Seen
from tests.rank.support import flags, rank


def by_second_digit(seen: Seen) -> str:
    """A pair's judge that sees what the scale is too coarse for."""
    first, second = (text[1] for text in seen.candidates.values())
    return "tie" if first == second else seen.choice(first > second)


PAIRS = behaviours.when(
    lambda seen: seen.form == "choice", behaviours.decides(by_second_digit), behaviours.honest()
)


def test_pairs_settle_equal_points(service: RunningService, provider: FakeProvider) -> None:
    """Equal rewards are told apart by less than half of a step; who is not tied does not move."""
    provider.behave("main", PAIRS)
    answer = rank(service, ["41 a", "20 b", "43 c", "42 d"])
    first, alone, best, middle = answer["rewards"]

    assert alone == 0.25
    assert first < middle < best
    assert all(abs(reward - 0.75) < 0.125 for reward in (first, middle, best))
    assert middle == pytest.approx(0.75)
    assert len(provider.requests) == 4 + 6
    assert answer["ranks"] == [3, 4, 1, 2]
    assert answer["pairs"]["asked"] == 3


@pytest.mark.parametrize(("digit", "low", "high"), [("1", 0.0, 0.125), ("5", 0.875, 1.0)])
def test_rewards_stay_in_range(
    service: RunningService, provider: FakeProvider, digit: str, low: float, high: float
) -> None:
    """At an end of the scale the whole way goes to the inside."""
    provider.behave("main", PAIRS)
    answer = rank(service, [f"{digit}1 a", f"{digit}2 b", f"{digit}3 c"])

    assert low <= min(answer["rewards"]) < max(answer["rewards"]) <= high
    assert len(set(answer["rewards"])) == 3


def test_assess_leaves_ties_alone(service: RunningService, provider: FakeProvider) -> None:
    """The strategy assess asks no pairs."""
    provider.behave("main", PAIRS)
    answer = rank(service, ["41 a", "42 b"], strategy="assess")

    assert answer["rewards"] == [0.75, 0.75]
    assert len(provider.requests) == 2


def test_a_zero_by_rule_is_never_moved(service: RunningService, provider: FakeProvider) -> None:
    """An honest 0 of the judge may move up, one of a rule stays 0."""
    provider.behave("main", PAIRS)
    answer = rank(service, ["11 a", "12 b", "13 forbidden"])

    assert answer["rewards"][2] == 0.0
    assert 0.0 <= answer["rewards"][0] < answer["rewards"][1] < 0.125


@pytest.mark.parametrize(("max_calls", "requests"), [(4, 4), (6, 4), (7, 7), (10, 10), (100, 10)])
def test_ties_are_settled_within_the_budget(
    service: RunningService, provider: FakeProvider, max_calls: int, requests: int
) -> None:
    """Three tied members need three calls; with fewer left they stay tied, and it is said."""
    provider.behave("main", PAIRS)
    answer = rank(service, ["41 a", "20 b", "43 c", "42 d"], max_calls=max_calls)

    assert answer["status"] == "success"
    assert len(provider.requests) == requests
    assert ("unsettled_ties" in flags(answer)) == (requests == 4)


@pytest.mark.parametrize(("max_calls", "pairs"), [(None, 6), (8, 0), (9, 3)])
def test_ties_are_settled_by_the_judge_that_gave_the_points(
    service: RunningService, provider: FakeProvider, max_calls: int | None, pairs: int
) -> None:
    """When the group has moved to another judge, it settles the ties with what budget is left."""
    provider.behave("main", behaviours.chokes_on("c"))
    provider.behave("second", PAIRS)
    more = {} if max_calls is None else {"max_calls": max_calls}
    answer = rank(
        service,
        ["41 a", "42 b", "43 c"],
        rubric="moving",
        judges=["main", "second"],
        **more,
    )

    assert answer["status"] == "success"
    assert {j["judge"] for j in answer["judges"]} == {"second"}
    assert len(provider.requests_of("second")) == 3 + pairs
    assert all(r.seen and r.seen.form != "choice" for r in provider.requests_of("main"))
    assert ("unsettled_ties" in flags(answer)) == (pairs == 0)
    if max_calls is None:
        assert answer["ranks"] == [3, 2, 1]


def test_settled_ties_overturn_no_other_order(
    service: RunningService, provider: FakeProvider
) -> None:
    """Length control makes steps finer than points; better stays better however pairs go."""
    provider.behave("main", PAIRS)
    longer = "x" * 110
    texts = ["41 a", "42 b", f"43 {longer}", f"44 {longer}", f"49 {longer}y"]
    points = rank(service, texts, rubric="short", strategy="assess")["rewards"]
    settled = rank(service, texts, rubric="short")["rewards"]

    assert points[0] == points[1] > points[2] == points[3] > points[4]
    assert settled[1] > settled[0] > settled[3] > settled[2] > settled[4] == points[4]


def test_rewards_apart_by_rounding_have_no_room_between() -> None:
    """Where two steps of a float are all there is, nothing moves there."""
    near = 0.75 + 2**-52
    between = room(0.75, [0.0, 0.75, near, 1.0], 0.25)

    assert between.highest == between.at(1.0) == 0.75
    assert between.lowest < 0.75


@pytest.mark.parametrize(
    "pairs",
    [behaviours.first_position(), faults.status_error(500), behaviours.decides(lambda s: "tie")],
    ids=["position", "outage", "ties"],
)
def test_ties_that_pairs_cannot_settle_stay(
    service: RunningService, provider: FakeProvider, pairs: behaviours.Behaviour
) -> None:
    """The points are good verdicts; without more, equal they remain."""
    provider.behave(
        "main", behaviours.when(lambda s: s.form == "choice", pairs, behaviours.honest())
    )
    answer = rank(service, ["4 a", "4 b", "2 c"])

    assert answer["rewards"] == [0.75, 0.75, 0.25]


def test_a_list_is_asked_in_two_orders(service: RunningService, provider: FakeProvider) -> None:
    """All members stand in one prompt, forwards and backwards."""
    answer = rank(service, ["4 a", "2 b", "5 c"], strategy="listwise")

    assert answer["rewards"] == [0.75, 0.25, 1.0]
    assert len(provider.requests) == 2
    orders = [list(r.seen.candidates.values()) for r in provider.requests if r.seen]
    assert orders[0] == orders[1][::-1]


def test_a_lists_places_are_shared_out(service: RunningService, provider: FakeProvider) -> None:
    """With as many orders as members, each member stands at each place about equally often."""
    rank(service, [f"{n % 5 + 1} text {n}" for n in range(6)], strategy="listwise", max_calls=6)

    assert len(provider.requests) == 6
    places: dict[str, list[int]] = {}
    for request in provider.requests:
        assert request.seen is not None
        for place, text in enumerate(request.seen.candidates.values()):
            places.setdefault(text, []).append(place)
    for held in places.values():
        assert 1.5 <= sum(held) / len(held) <= 3.5
        assert max(Counter(held).values()) <= 3


def test_places_in_a_list_cancel_out(service: RunningService, provider: FakeProvider) -> None:
    """A judge that likes what stands first gives equal answers equal rewards all the same."""

    def early(seen: Seen) -> dict[str, int]:
        return {slot: 5 - place for place, slot in enumerate(seen.candidates)}

    provider.behave("main", behaviours.decides(early))
    answer = rank(service, ["3 a", "3 b", "3 c"], strategy="listwise")

    assert len(set(answer["rewards"])) == 1


def test_a_list_without_a_verdict_fails_the_group(
    service: RunningService, provider: FakeProvider
) -> None:
    """Seven scores for eight candidates are none."""

    def short(seen: Seen) -> dict[str, int]:
        slots = list(seen.candidates)
        return dict.fromkeys(slots[:-1], 4)

    provider.behave("main", behaviours.decides(short))
    answer = rank(service, ["4 a", "2 b", "5 c"], strategy="listwise")

    assert (answer["status"], answer["error"]["code"]) == ("failed", "unparsable")
    assert all(member["reward"] is None for member in answer["candidates"])


PANEL = ["main", "second", "third"]


def test_a_list_needs_a_quorum_only(service: RunningService, provider: FakeProvider) -> None:
    """A judge of three that gives no verdict is left out; two are enough."""
    provider.behave("third", behaviours.says("Hm."))
    answer = rank(service, ["4 a", "2 b", "5 c"], rubric="panel", strategy="listwise", judges=PANEL)

    assert answer["rewards"] == [0.75, 0.25, 1.0]
    assert {m["criteria"]["quality"]["votes"] for m in answer["candidates"]} == {4}
    assert {j["judge"] for j in answer["judges"]} == {"main", "second"}


def test_a_judge_with_half_of_its_lists_has_no_vote(
    service: RunningService, provider: FakeProvider
) -> None:
    """Places even out over all orders only, so a lone order does not count."""

    def early(seen: Seen) -> dict[str, int]:
        return {slot: 5 - place for place, slot in enumerate(seen.candidates)}

    half = behaviours.when(
        lambda s: next(iter(s.candidates.values())) == "4 a",
        behaviours.says("Hm."),
        behaviours.decides(early),
    )
    provider.behave("third", half)
    answer = rank(service, ["4 a", "2 b"], rubric="panel", strategy="listwise", judges=PANEL)

    assert answer["rewards"] == [0.75, 0.25]


def test_a_list_below_the_quorum_fails(service: RunningService, provider: FakeProvider) -> None:
    """One verdict where two are needed is none, and every judge's trouble is named."""
    for judge in PANEL[1:]:
        provider.behave(judge, behaviours.says("Hm."))
    answer = rank(service, ["4 a", "2 b"], rubric="panel", strategy="listwise", judges=PANEL)

    assert (answer["status"], answer["error"]["code"]) == ("failed", "quorum_not_met")
    assert "third: unparsable" in answer["error"]["message"]
