"""What one member of a cohort asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from judge_service.request import AssessRequest, RankRequest, Request
from judge_service.types import Candidate

DEFAULT_DEADLINE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest(Request):
    """One member's candidate for a group of ``size``.

    ``group`` names the group within ``run``. ``deadline_s`` is how long the first member waits for
    the rest, ``timeout_s`` how long judging may take after that. ``at_least`` members
    are judged at the deadline without the others; None judges the whole group only.

    A ``held`` member counts only while its caller is there: one that leaves before the group is
    complete frees its place, and the group waits as long as anybody waits for it. Where members
    are ``alike``, nothing but ``member``, a name of their text, tells them apart: every caller that
    brings it is one more member, unless it comes back for the answer of one that was lost.
    """

    group: str
    size: int
    member: str
    candidate: Candidate
    run: str = ""
    deadline_s: float = DEFAULT_DEADLINE_S
    at_least: int | None = None
    held: bool = False
    alike: bool = False

    @property
    def least(self) -> int:
        """How many members are judged at the deadline."""
        return self.size if self.at_least is None else max(2, self.at_least)

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
