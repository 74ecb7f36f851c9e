"""How many calls may run at once: down on 429, slowly up again, never above what is configured."""

from __future__ import annotations

import random

from judge_service.gates.concurrency import MOST, AdaptiveLimit
from tests.limits.test_breaker import Clock


def refuse(limit: AdaptiveLimit, running: int, times: int = 5) -> None:
    """So many 429 at once."""
    for _ in range(times):
        limit.refused(running)


def test_without_a_configured_limit_it_begins_high() -> None:
    """Nothing is known yet, and nothing needs to be limited."""
    assert AdaptiveLimit(clock=Clock()).limit == MOST


def test_429_after_429_halves_what_was_running() -> None:
    """The provider took that many and said it was too much."""
    limit = AdaptiveLimit(clock=Clock())
    refuse(limit, 40)
    assert limit.limit == 20


def test_a_429_now_and_then_changes_nothing() -> None:
    """Every 25th call, at random, for a long time: that is not how many calls run at once."""
    clock, draw = Clock(), random.Random(5)  # noqa: S311 - repeatable
    limit = AdaptiveLimit(64, clock=clock)
    lowest = 64
    for _ in range(10_000):
        clock.now += 0.01
        if draw.random() < 0.04:
            limit.refused(64)
        else:
            limit.answered()
        lowest = min(lowest, limit.limit)
    assert lowest >= 32


def test_429s_of_calls_that_are_alone_change_nothing() -> None:
    """Fewer than one at a time there cannot be."""
    limit = AdaptiveLimit(64, clock=Clock())
    refuse(limit, 1, times=50)
    assert limit.limit == 64


def test_calls_of_one_moment_halve_it_once() -> None:
    """A burst of 429 is one piece of news; a second later it is another."""
    clock = Clock()
    limit = AdaptiveLimit(64, clock=clock)
    refuse(limit, 64, times=60)
    assert limit.limit == 32
    clock.now += 1.0
    refuse(limit, 32, times=60)
    assert limit.limit == 16


def test_it_never_goes_below_one_or_above_its_ceiling() -> None:
    """However many 429 or answers there are."""
    clock = Clock()
    limit = AdaptiveLimit(4, clock=clock)
    for _ in range(10):
        clock.now += 1.0
        refuse(limit, 4)
        assert limit.limit >= 1
    assert limit.limit == 1
    for _ in range(100):
        limit.answered()
        assert limit.limit <= 4
    assert limit.limit == 4


def test_it_grows_by_one_for_as_many_answers_as_it_is() -> None:
    """Slowly, so that it finds the provider's limit from below."""
    clock = Clock()
    limit = AdaptiveLimit(10, clock=clock)
    refuse(limit, 6)
    seen = []
    for _ in range(3 + 4 + 5):
        limit.answered()
        seen.append(limit.limit)
    assert seen == [3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6]


def test_it_settles_where_the_provider_stops_refusing() -> None:
    """A provider that takes ten at once and is met by eighty."""
    clock = Clock()
    limit = AdaptiveLimit(clock=clock)
    refused = 0
    for _ in range(200):
        clock.now += 1.0
        running = min(80, limit.limit)
        refused += max(0, running - 10)
        for number in range(running):
            if number < running - 10:
                limit.refused(running)
            else:
                limit.answered()
    assert 5 <= limit.limit <= 20
    assert refused < 1500
