"""What was spent upstream: requests, tokens and money, failed attempts included."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """A sum over upstream requests.

    ``cost_usd`` is None as soon as one of the requests has no known price: ``unknown_cost_calls``
    says how many. ``cached_tokens`` are the prompt tokens that the provider's own prompt cache
    served (part of ``prompt_tokens``).
    """

    upstream_requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0
    unknown_cost_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        if self is NOTHING:
            return other
        cost = (
            None
            if self.cost_usd is None or other.cost_usd is None
            else self.cost_usd + other.cost_usd
        )
        return Usage(
            upstream_requests=self.upstream_requests + other.upstream_requests,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=cost,
            unknown_cost_calls=self.unknown_cost_calls + other.unknown_cost_calls,
        )


NOTHING = Usage()
"""No request at all."""


class Ledger:
    """Collects the usage of one verdict or one request, whatever becomes of it."""

    def __init__(self, parent: Ledger | None = None) -> None:
        self.total = NOTHING
        self._parent = parent

    def bill(self, parent: Ledger | None) -> None:
        """From now on count in ``parent``, too, in place of the one before."""
        self._parent = parent

    def add(self, usage: Usage) -> None:
        """Count ``usage`` here and in every ledger above."""
        self.total = self.total + usage
        if self._parent is not None:
            self._parent.add(usage)
