"""Whether a group can be ranked the way the caller wants it: strategy and budget."""

from __future__ import annotations

from judge_service.errors import InvalidRequest
from judge_service.ranking.group import Followed
from judge_service.ranking.schedule import fewest
from judge_service.request import RankRequest
from judge_service.rubric.rubric import Rubric


def check_group(request: RankRequest, rubric: Rubric) -> None:
    """Raise InvalidRequest for a strategy that the rubric has no scale for, and for a budget with
    which not even the least is asked.
    """
    followed = strategy_of(request, rubric)
    if request.max_calls is None:
        return
    least = _least(request, rubric, followed)
    if request.max_calls < least:
        raise InvalidRequest(
            f"max_calls is {request.max_calls}; a group of {len(request.candidates)} takes at "
            f"least {least} verdicts this way",
            field="max_calls",
        )


def strategy_of(request: RankRequest, rubric: Rubric) -> Followed:
    """The strategy that ``auto`` stands for, or the one named. Raises InvalidRequest."""
    if request.strategy == "auto":
        return "pairwise" if rubric.kind == "compare" else "assess"
    if rubric.kind == "compare" and request.strategy != "pairwise":
        raise InvalidRequest(
            f"rubric {rubric.id!r} compares and has no scale; its groups are ranked pairwise",
            field="strategy",
        )
    return request.strategy


def questions_each(rubric: Rubric) -> int:
    """How many questions it takes to assess one candidate."""
    return 1 if rubric.judging.ask == "together" else len(rubric.criteria)


def _least(request: RankRequest, rubric: Rubric, followed: Followed) -> int:
    panel = request.panel_size or rubric.judging.panel_size
    members = len(request.candidates)
    if followed == "pairwise":
        return fewest(members) * panel
    if followed == "listwise":
        return len(rubric.criteria) * panel
    return members * questions_each(rubric) * panel
