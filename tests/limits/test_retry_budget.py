"""The retry budget: an outage costs a hundred retries, a few failures are always retried."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from judge_service.gates.retry_budget import CAPACITY, RETRY_COST, RetryBudget


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_an_outage_costs_a_hundred_retries_over_all_workers(workers: int) -> None:
    """So 2,000 calls cost at most 1.05 times as many requests."""
    budgets = [RetryBudget(workers=workers) for _ in range(workers)]
    retries = sum(budget.take() for budget in budgets for _ in range(3000))
    assert 95 <= retries <= 100


def test_a_fifth_of_failures_is_retried_for_ever() -> None:
    """Every fifth call fails once; its retry succeeds and gives its price back."""
    budget = RetryBudget()
    for number in range(20_000):
        if number % 5 == 0:
            assert budget.take()
            budget.give_back()
        else:
            budget.succeeded()
    assert budget.tokens == CAPACITY


def test_successes_fill_it_up_again() -> None:
    """One token each, five of which are a retry."""
    budget = RetryBudget()
    while budget.take():
        pass
    for _ in range(RETRY_COST - 1):
        budget.succeeded()
        assert not budget.take()
    budget.succeeded()
    assert budget.take()


class AnyBudget(RuleBasedStateMachine):
    """Retries are bounded by what was there and what successes earned."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = RetryBudget()
        self.under_way = 0
        self.failed = 0
        self.earned = 0

    @rule(times=st.integers(1, 120))
    def retry(self, times: int) -> None:
        """Calls fail and are retried, if they may."""
        for _ in range(times):
            self.under_way += self.budget.take()

    @precondition(lambda self: self.under_way)
    @rule(succeeds=st.booleans())
    def end(self, succeeds: bool) -> None:
        """A retry ends."""
        self.under_way -= 1
        if succeeds:
            self.budget.give_back()
        else:
            self.failed += 1

    @rule(times=st.integers(1, 30))
    def succeed(self, times: int) -> None:
        """Calls succeed at once."""
        for _ in range(times):
            self.budget.succeeded()
            self.earned += 1

    @invariant()
    def bounded(self) -> None:
        """Never below nothing, never above what it holds, never more retries than paid for."""
        assert 0 <= self.budget.tokens <= CAPACITY
        assert RETRY_COST * (self.failed + self.under_way) <= CAPACITY + self.earned


TestAnyBudget = AnyBudget.TestCase
TestAnyBudget.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
