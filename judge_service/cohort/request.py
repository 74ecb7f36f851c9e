"""What one member of a cohort asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from judge_service.request import AssessRequest, RankRequest, Request
from judge_service.types import Candidate

DEFAULT_DEADLINE_S = 60.0
KEPT_S = 900.0
"""How long an outcome is kept for members that ask again, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest(Request):
    """One member's candidate for a group of ``size``.

    ``group`` names the group within ``run``. ``deadline_s`` is how long the first member waits for
    the rest, ``timeout_s`` how long judging may take after that. ``at_least`` members
    are judged at the deadline without the others; None judges the whole group only. For ``kept_s``
    (at most ``KEPT_S``) after it was judged, a member that comes again is told the same; later it
    begins a new group.
    """

    group: str
    size: int
    member: str
    candidate: Candidate
    run: str = ""
    deadline_s: float = DEFAULT_DEADLINE_S
    at_least: int | None = None
    kept_s: float = KEPT_S

    def alone(self) -> AssessRequest:
        """The assessment of the member of a group of one."""
        return AssessRequest(candidate=self.candidate, **self._common())

    def ranking(self, candidates: tuple[Candidate, ...]) -> RankRequest:
        """The ranking of the members, in an order of which nothing depends."""
        # An id is the caller's name for one of several; members have names of their own.
        nameless = tuple(replace(candidate, id=None) for candidate in candidates)
        return RankRequest(candidates=nameless, **self._common())

    def _common(self) -> dict[str, Any]:
        names = Request.__dataclass_fields__
        return {name: getattr(self, name) for name in names}
