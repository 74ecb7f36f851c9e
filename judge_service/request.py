"""What callers ask for, after the wire schema and before any look at rubrics and judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judge_service.types import Candidate, Prompt

DEFAULT_TIMEOUT_S = 30.0
MAX_TIMEOUT_S = 600.0
MIN_GROUP, MAX_GROUP = 2, 64
Strategy = Literal["auto", "assess", "pairwise", "listwise"]
Purpose = Literal["train", "validate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The fields every request has. ``judges`` restricts the pool, ``panel_size`` overrides the
    rubric's; ``purpose`` is what the verdict is for, None where it is not said; ``audit`` (admins
    only) asks the judge even where a rule would end the matter. ``tenant`` is whose verdicts may be
    shared with the request; no caller can name it.
    """

    rubric: str
    prompt: Prompt
    reference: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    judges: tuple[str, ...] | None = None
    panel_size: int | None = None
    purpose: Purpose | None = None
    metadata: Mapping[str, Any] | None = None
    audit: bool = False
    tenant: str = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessRequest(Request):
    """One candidate on a rubric."""

    candidate: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest(Request):
    """Two candidates against each other."""

    candidates: tuple[Candidate, Candidate]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRequest(Request):
    """A group of 2 to 64 candidates. ``max_calls`` bounds the verdicts that are asked for."""

    candidates: tuple[Candidate, ...]
    strategy: Strategy = "auto"
    max_calls: int | None = None
