"""How many retries a judge gets: a token bucket that successes fill, as in the AWS SDKs.

While most calls succeed it never runs dry; in an outage it allows a hundred retries and no more.
"""

from __future__ import annotations

CAPACITY = 500
RETRY_COST = 5
SUCCESS_GAIN = 1


class RetryBudget:
    """The bucket of one judge in one of ``workers`` processes, full at first."""

    def __init__(self, *, workers: int = 1) -> None:
        self._capacity = CAPACITY // workers
        self._tokens = self._capacity

    @property
    def tokens(self) -> int:
        """What is in the bucket."""
        return self._tokens

    def take(self) -> bool:
        """Pay for a retry; False when the bucket cannot."""
        if self._tokens < RETRY_COST:
            return False
        self._tokens -= RETRY_COST
        return True

    def give_back(self) -> None:
        """The price of a retry that succeeded, or was never sent."""
        self._gain(RETRY_COST)

    def succeeded(self) -> None:
        """A call got its verdict at the first attempt."""
        self._gain(SUCCESS_GAIN)

    def _gain(self, tokens: int) -> None:
        self._tokens = min(self._capacity, self._tokens + tokens)
