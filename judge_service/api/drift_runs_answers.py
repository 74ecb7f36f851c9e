"""What callers of ``/v1/drift-runs`` get, for the OpenAPI page and for tests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import FiniteFloat

from judge_service.api.answers import Answer


class DriftProgress(Answer):
    """How far a run is; what it costs is null where a price is not known."""

    judgements: int
    done: int
    failed: int
    upstream_requests: int
    cost_usd: FiniteFloat | None
    cost_expected_usd: FiniteFloat | None
    seconds_left: FiniteFloat | None


class DriftSummary(Answer):
    """A run without its report. ``drift`` is null until there is one, and where there is not
    enough evidence.
    """

    id: str
    status: Literal["running", "finished", "failed", "interrupted"]
    gold: str
    baseline: str
    candidate: str
    created: str
    finished: str | None
    progress: DriftProgress | dict[str, Any]
    drift: bool | None
    reasons: list[str]
    error: str | None


class DriftRunAnswer(DriftSummary):
    """A run with its report, the JSON that ``judge-service drift --format json`` writes."""

    report: dict[str, Any] | None


class DriftListAnswer(Answer):
    """All runs, the latest first."""

    runs: list[DriftSummary]
