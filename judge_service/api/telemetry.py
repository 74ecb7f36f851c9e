"""All that watches one app: metrics, traces, the judges' state, the notes of requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from judge_service import __version__
from judge_service.adapters.metrics import Metrics
from judge_service.adapters.tracing import Tracing
from judge_service.api.live import LiveJudges
from judge_service.api.request_note import NOTED
from judge_service.events import Event, Observer, by_kind
from judge_service.judges.judge import Bench
from judge_service.rubric.library import Library


@dataclass(slots=True, kw_only=True)
class Telemetry:
    """One app's watchers. ``tracing`` is None unless an operator wants traces."""

    metrics: Metrics
    tracing: Tracing | None = None
    live: LiveJudges = field(default_factory=LiveJudges)
    _told: Mapping[type, Sequence[Observer]] = field(init=False)

    def __post_init__(self) -> None:
        """Find out once who wants to hear of what: every request has several events."""
        self._told = by_kind(self.metrics.handlers, self.live.handlers, NOTED)

    @classmethod
    def of(cls, shared_dir: str | None) -> Telemetry:
        """The watchers of an app. ``shared_dir`` is where worker processes share metrics."""
        return cls(metrics=Metrics(__version__, shared_dir))

    def know(self, bench: Bench, library: Library) -> None:
        """What will be told of: the configured judges and the loaded rubrics."""
        self.metrics.know(bench, [(rubric.id, rubric.kind) for rubric in library.values()])
        if self.tracing is not None:
            self.tracing.know(bench)

    def observe(self, event: Event) -> None:
        """Tell everyone who wants to hear of it; an ``Observer``."""
        for tell in self._told.get(type(event), ()):
            tell(event)
        if self.tracing is not None:
            self.tracing.observe(event)


async def telemetry_of(request: Request) -> Telemetry:
    """What watches the app."""
    telemetry: Telemetry = request.app.state.telemetry
    return telemetry


TelemetryDep = Annotated[Telemetry, Depends(telemetry_of)]
