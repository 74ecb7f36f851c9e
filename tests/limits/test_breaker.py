"""The breaker: when it opens, how it lets probes through, and that it never sticks."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from judge_service.events import BreakerState
from judge_service.gates.breaker import PROBES, WINDOW, Breaker, Permit


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def breaker(
    clock: Clock, told: list[BreakerState] | None = None, *, jitter: float = 0.5
) -> Breaker:
    """A breaker that stays open for exactly 5 s unless ``jitter`` says otherwise."""
    tell = (lambda _: None) if told is None else told.append
    return Breaker(clock=clock, jitter=lambda: jitter, told=tell)


def call(one: Breaker, alive: bool | None) -> None:
    """A call that the breaker lets through."""
    permit = one.enter()
    assert permit is not None
    one.leave(permit, alive=alive)


def opened(clock: Clock, told: list[BreakerState] | None = None) -> Breaker:
    """A breaker after twenty failures."""
    one = breaker(clock, told)
    for _ in range(WINDOW):
        call(one, alive=False)
    assert one.state == "open"
    return one


def test_twenty_calls_are_needed_to_open() -> None:
    """Nineteen failures are too few, the twentieth call decides."""
    one = breaker(Clock())
    for _ in range(WINDOW - 1):
        call(one, alive=False)
    assert one.lets_in
    call(one, alive=False)
    assert one.state == "open"
    assert one.enter() is None


def test_half_of_the_last_twenty_opens_and_less_does_not() -> None:
    """What lies further back does not count."""
    one = breaker(Clock())
    for number in range(200):
        call(one, alive=number % 20 >= 9)
    assert one.lets_in
    for _ in range(10):
        call(one, alive=False)
    assert one.state == "open"


def test_calls_that_tell_nothing_do_not_count() -> None:
    """Cancelled calls neither open it nor make up the twenty."""
    one = breaker(Clock())
    for _ in range(100):
        call(one, alive=None)
    for _ in range(WINDOW - 1):
        call(one, alive=False)
    assert one.state == "closed"


def test_it_stays_open_for_five_seconds_give_or_take_a_fifth() -> None:
    """Not in step with other replicas."""
    for jitter, seconds in ((0.0, 4.0), (0.5, 5.0), (1.0, 6.0)):
        clock = Clock()
        one = breaker(clock, jitter=jitter)
        for _ in range(WINDOW):
            call(one, alive=False)
        assert one.wait_s == pytest.approx(seconds)
        clock.now += one.wait_s - 0.001
        assert not one.lets_in
        clock.now += 0.0011
        assert one.lets_in


def test_two_good_probes_close_it() -> None:
    """A third call waits for them."""
    clock, told = Clock(), list[BreakerState]()
    one = opened(clock, told)
    clock.now += 5.0
    probes = [one.enter(), one.enter()]
    assert one.enter() is None
    for probe in probes:
        assert probe is not None
        assert one.state == "half_open"
        one.leave(probe, alive=True)
    assert told == ["open", "half_open", "closed"]


def test_one_bad_probe_reopens_it() -> None:
    """Whatever the other one finds, also when that comes later."""
    clock = Clock()
    one = opened(clock)
    clock.now += 5.0
    first, second = one.enter(), one.enter()
    assert first is not None
    assert second is not None
    one.leave(first, alive=False)
    one.leave(second, alive=True)
    assert one.state == "open"
    assert one.wait_s == 5.0


def test_a_cancelled_probe_gives_its_place_back() -> None:
    """It does not stay half open for ever."""
    clock = Clock()
    one = opened(clock)
    clock.now += 5.0
    for _ in range(10):
        call(one, alive=None)
    call(one, alive=True)
    call(one, alive=True)
    assert one.state == "closed"


def test_results_from_before_do_not_count_as_probes() -> None:
    """A call that hung since before it opened says nothing of now."""
    clock = Clock()
    one = breaker(clock)
    old = [one.enter() for _ in range(5)]
    for _ in range(WINDOW):
        call(one, alive=False)
    clock.now += 5.0
    assert one.state == "half_open"
    for permit, alive in zip(old, (True, True, True, False, None), strict=True):
        assert permit is not None
        assert one.renewed(permit) != permit
        one.leave(permit, alive=alive)
    assert one.state == "half_open"


class AnyBreaker(RuleBasedStateMachine):
    """Whatever calls do, in whatever order they end and time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = breaker(self.clock)
        self.inside: list[Permit] = []
        self.recent: list[bool] = []

    @rule()
    def enter(self) -> None:
        """A call comes."""
        lets_in = self.breaker.lets_in
        permit = self.breaker.enter()
        assert (permit is not None) == lets_in
        if permit is not None:
            self.inside.append(permit)

    @precondition(lambda self: self.inside)
    @rule(data=st.data(), alive=st.sampled_from([True, False, None]))
    def leave(self, data: st.DataObject, alive: bool | None) -> None:
        """One of the calls ends."""
        permit = self.inside.pop(data.draw(st.integers(0, len(self.inside) - 1)))
        before = self.breaker.state
        opened = self.breaker.leave(permit, alive=alive)
        assert not opened or (before != "open" and alive is not None)

    @rule(times=st.integers(1, WINDOW))
    def storm(self, times: int) -> None:
        """Calls fail one after the other."""
        for _ in range(times):
            permit = self.breaker.enter()
            if permit is None:
                return
            self.breaker.leave(permit, alive=False)

    @rule(seconds=st.floats(0.0, 7.0))
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.clock.now += seconds

    @rule()
    def told(self) -> None:
        """Another replica says that it is open."""
        self.breaker.trip(3.0)

    @invariant()
    def few_probes(self) -> None:
        """Half open, at most two calls are under way; open, it says for how long."""
        state = self.breaker.state
        if state == "half_open":
            probes = [p for p in self.inside if p == Permit(p.era, True)]
            newest = max((p.era for p in probes), default=0)
            assert sum(p.era == newest for p in probes) <= PROBES
        assert (self.breaker.wait_s > 0) == (state == "open")
        assert self.breaker.wait_s <= 6.0

    def teardown(self) -> None:
        """However it ends: once calls go well, it closes."""
        for permit in self.inside:
            self.breaker.leave(permit, alive=None)
        # One of the good calls may be the twentieth, of which most failed: that opens it once more.
        for _ in range(WINDOW + PROBES):
            self.clock.now += 7.0
            call(self.breaker, alive=True)
        assert self.breaker.state == "closed"


TestAnyBreaker = AnyBreaker.TestCase
TestAnyBreaker.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
