"""A group ranked by the pairs of its members."""

from __future__ import annotations

from collections.abc import Sequence

from judge_service.case import Case
from judge_service.flags import Flag
from judge_service.judges.judge import JudgeSpec
from judge_service.judges.rotation import replacement
from judge_service.judging import combine
from judge_service.judging.selection import Selection
from judge_service.outcome import RankOutcome
from judge_service.ranking.after_lists import orders_before
from judge_service.ranking.by_pairs import Appeal, Played, play
from judge_service.ranking.group import Group
from judge_service.ranking.members import Distinct
from judge_service.ranking.result import concluded, lost_to
from judge_service.ranking.schedule import all_orders, default_calls


async def by_pairs(group: Group, selection: Selection) -> RankOutcome:
    """The group's outcome when its members meet in pairs; at least one of them passes."""
    answers = group.distinct(group.passing, exact=False)
    if len(answers) == 1:
        # It meets nobody: better than all that broke a rule, as good as its own copies.
        alone = 1.0 if len(group.passing) < len(group.inspections) else 0.5
        _give_shares(group, answers, [alone])
        return concluded(group, "pairwise")
    size = len(selection.panel)
    budget = group.request.max_calls
    graded = are_graded(group.case, selection.panel)
    after_lists = lists_first(group.case, selection.panel)
    usual = default_calls(len(answers), graded=graded, after_lists=after_lists)
    calls = min(usual if budget is None else budget // size, all_orders(len(answers)))
    played = await _play_with_one_panel(group, selection, answers, calls)
    group.answers += played.answers
    group.counts = played.counts
    if played.error is not None:
        _give_shares(group, [answers[n] for n in played.beside], [*played.beside.values()])
        places = sorted(place for n in played.undecided for place in answers[n].places)
        return lost_to(group, "pairwise", played.error, places)
    _give_shares(group, answers, played.shares)
    return concluded(group, "pairwise")


def are_graded(case: Case, panel: Sequence[JudgeSpec]) -> bool:
    """Whether the judges' odds are wanted and asked for, so that fewer calls do."""
    asked = all(judge.top_logprobs is not None for judge in panel)
    return asked and case.rubric.judging.score == "expected"


def lists_first(case: Case, panel: Sequence[JudgeSpec]) -> bool:
    """Whether the rubric wants lists before pairs. The judges' odds tell more than lists do."""
    return case.rubric.judging.pairs == "after_lists" and not are_graded(case, panel)


def appeal_of(
    case: Case, selection: Selection, asked: Sequence[JudgeSpec], left: int | None
) -> Appeal | None:
    """Who decides inconsistent pairs, where the rubric escalates them: the next judge of a family
    that none of those ``asked`` is of, for ``left`` verdicts at most.
    """
    if case.rubric.judging.on_inconsistent != "escalate":
        return None
    return Appeal(judge=replacement(selection.ordered, asked), calls=left)


async def _play_with_one_panel(
    group: Group, selection: Selection, answers: Sequence[Distinct], calls: int
) -> Played:
    """Play; where judges failed and the rubric allows another family and the budget as many calls
    again, once more with the next judges for the whole group.
    """
    case, panel = group.case, selection.panel
    budget, rubric, lists = group.request.max_calls, group.case.rubric, 0
    if lists_first(case, panel):
        lists = orders_before(len(answers), calls, len(rubric.criteria))

    async def played_by(
        judges: Sequence[JudgeSpec], asked: Sequence[JudgeSpec], spent: int
    ) -> Played:
        left = None if budget is None else budget - spent - calls * len(judges)
        appeal = appeal_of(case, selection, asked, left)
        return await play(
            case, group.source, judges, answers, calls, group.history, appeal=appeal, lists=lists
        )

    played = await played_by(panel, panel, 0)
    spares = list(selection.spares())[: len(panel)]
    affordable = budget is None or played.asked + calls * len(panel) <= budget
    allowed = rubric.judging.fallback == "family" and affordable
    moves = allowed and len(spares) == len(panel)
    if not moves or played.error is None or not played.lacks_verdicts or case.deadline.left() <= 0:
        return played
    again = await played_by(spares, [*panel, *spares], played.asked)
    if again.error is None:
        names = ", ".join(judge.id for judge in spares)
        before = ", ".join(judge.id for judge in panel)
        case.flag(Flag("fallback_judge", f"for the whole group: {names} in place of {before}"))
    return again


def _give_shares(group: Group, answers: Sequence[Distinct], shares: Sequence[float]) -> None:
    for answer, share in zip(answers, shares, strict=True):
        for place in answer.places:
            group.states[place].wins = share
            factor = combine.length_factor(group.case.rubric, group.chars(place))
            group.give(place, share * factor)
