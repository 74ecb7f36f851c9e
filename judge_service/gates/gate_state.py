"""What an operator can see of a judge's gate."""

from __future__ import annotations

from dataclasses import dataclass

from judge_service.events import BreakerState


@dataclass(frozen=True, slots=True, kw_only=True)
class GateState:
    """A judge's gate at one moment. ``probes_in_s`` is None unless the breaker is open."""

    judge: str
    breaker: BreakerState
    probes_in_s: float | None
    waiting: int
    running: int
    limit: int
    retry_tokens: int
