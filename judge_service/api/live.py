"""How the judges are doing just now, in this process: queue and circuit breaker."""

from __future__ import annotations

from judge_service.events import BreakerChanged, BreakerState, Handlers, QueueChanged


class LiveJudges:
    """Remembers the last that was told of every judge."""

    def __init__(self) -> None:
        self._queues: dict[str, QueueChanged] = {}
        self._breakers: dict[str, BreakerState] = {}
        self.handlers: Handlers = {
            QueueChanged: self._queue_changed,
            BreakerChanged: self._breaker_changed,
        }

    def _queue_changed(self, event: QueueChanged) -> None:
        self._queues[event.judge] = event

    def _breaker_changed(self, event: BreakerChanged) -> None:
        self._breakers[event.judge] = event.state

    def queue(self, judge: str) -> dict[str, int | None]:
        """Calls waiting and running, and how many may run; ``limit`` None before the first."""
        known = self._queues.get(judge)
        if known is None:
            return {"waiting": 0, "running": 0, "limit": None}
        return {"waiting": known.waiting, "running": known.running, "limit": known.limit}

    def breaker(self, judge: str) -> BreakerState:
        """The breaker's state; closed until something else is told."""
        return self._breakers.get(judge, "closed")
