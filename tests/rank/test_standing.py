"""Which pairs are asked after lists, and how both are fitted together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from judge_service.ranking.after_lists import orders_before
from judge_service.ranking.bradley_terry import Shown, strengths
from judge_service.ranking.schedule import all_orders, default_calls, fewest, schedule
from judge_service.ranking.standing import far_apart, near_first, standardised


@pytest.mark.parametrize("members", [2, 3, 4, 7, 16, 33])
def test_every_pair_is_asked_once_before_any_is_asked_twice(members: int) -> None:
    """All orders are there, each once, whatever the ranking; more calls change nothing."""
    standing = np.sin(np.arange(members)).tolist()
    meetings = near_first(standing, all_orders(members) + 5)
    once = meetings[: all_orders(members) // 2]

    assert {frozenset(m) for m in once} == set(map(frozenset, combinations(range(members), 2)))
    assert sorted(meetings) == sorted(schedule(members, all_orders(members)))
    assert near_first(standing, members) == meetings[:members]


@pytest.mark.parametrize("members", [3, 7, 16, 33])
def test_the_better_one_is_shown_first_in_every_other_call(members: int) -> None:
    """So that position cannot pass for being better, however many calls there are; and the fewest
    calls connect everybody.
    """
    standing = np.cos(np.arange(members)).tolist()
    ahead = 0
    for first, second in near_first(standing, all_orders(members) // 2):
        ahead += 1 if standing[first] > standing[second] else -1
        assert abs(ahead) <= 1

    connected = {0}
    for _ in range(members):
        for meeting in near_first(standing, fewest(members)):
            if connected & set(meeting):
                connected |= set(meeting)
    assert connected == set(range(members))


def test_far_apart_is_half_of_the_ranking() -> None:
    """Counted in places, the better half against the worse."""
    standing = [0.4, -1.5, 1.2, -0.1]
    assert far_apart(standing) == set(map(frozenset, [(2, 3), (2, 1), (0, 1)]))


@pytest.mark.parametrize("scores", [[0.5, 0.5, 0.5], [0.1 + 0.2, 0.3, 0.3]])
def test_equal_scores_stand_at_nothing(scores: list[float]) -> None:
    """Nor does rounding tell anybody apart."""
    assert standardised(scores) == (0.0, 0.0, 0.0)
    assert np.std(standardised([0.1, 0.5, 0.7])) == pytest.approx(1.0)


@pytest.mark.parametrize("members", [2, 3, 4, 5, 7, 8, 16, 33, 64])
@pytest.mark.parametrize("criteria", [1, 3, 8])
def test_lists_leave_room_for_pairs(members: int, criteria: int) -> None:
    """However many calls: an even number of orders, a fifth of the calls at most, and pairs enough
    to connect everybody; the usual number of calls is never above that without lists.
    """
    for calls in range(fewest(members), all_orders(members) + 2):
        orders = orders_before(members, calls, criteria)
        assert orders % 2 == 0
        assert orders * criteria <= calls / 5
        assert calls - orders * criteria >= fewest(members)
        assert orders == 0 or calls < all_orders(members)
    assert default_calls(members, after_lists=True) <= default_calls(members)


def test_without_pairs_the_lists_rank() -> None:
    """Strengths follow the standing, and are a little nearer, for it may be wrong."""
    found = strengths([], 3, 1, [1.2, 0.0, -1.2])
    assert found == pytest.approx([0.9 * 1.5 * 1.2, 0.0, -0.9 * 1.5 * 1.2])


def test_many_sure_pairs_overrule_the_lists() -> None:
    """Where pairs say the opposite throughout, the standing counts for little."""
    shown = [
        Shown(first, second, 0, 1.0 if first < second else 0.0)
        for first, second in schedule(6, all_orders(6))
    ]
    alone = strengths(shown, 6, 1)
    upside_down = strengths(shown, 6, 1, standardised([0, 1, 2, 3, 4, 5]))

    assert list(np.argsort(-upside_down)) == [0, 1, 2, 3, 4, 5]
    assert upside_down == pytest.approx(alone, abs=0.2)


def test_a_position_is_no_strength() -> None:
    """One who always takes the first changes nothing of where lists put members."""
    standing = standardised([3, 2, 1, 0])
    shown = [Shown(*meeting, 0, 1.0) for meeting in near_first(standing, 12)]
    found = strengths(shown, 4, 1, standing)

    assert list(np.argsort(-found)) == [0, 1, 2, 3]


def test_odds_and_lists_are_fitted_together() -> None:
    """Log odds outweigh a standing that they contradict."""
    standing = standardised([0, 1, 2])
    shown = [Shown(*m, 0, 1.0, 4.0 * (m.second - m.first)) for m in schedule(3, 6)]
    assert list(np.argsort(-strengths(shown, 3, 1, standing))) == [0, 1, 2]
