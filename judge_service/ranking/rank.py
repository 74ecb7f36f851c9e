"""Rank: a group of candidates, from the request to a reward for each."""

from __future__ import annotations

from collections.abc import Sequence

from judge_service.bias.history import PairHistory
from judge_service.candidate.inspection import Inspection
from judge_service.case import Case
from judge_service.errors import ContextTooLong, DeadlineExceeded, NoEligibleJudge, QuorumNotMet
from judge_service.flags import Flag
from judge_service.judging import combine
from judge_service.judging.assess import flag_splits, told_of
from judge_service.judging.correction import flag_corrections
from judge_service.judging.fit import check_after, check_before
from judge_service.judging.selection import Selection, select
from judge_service.judging.unexpected import flag_unexpected
from judge_service.outcome import RankOutcome
from judge_service.ranking.budget import strategy_of
from judge_service.ranking.by_assess import Scored, score_all
from judge_service.ranking.by_list import DEFAULT_ORDERS, most_orders, score_lists
from judge_service.ranking.expected import alike
from judge_service.ranking.group import Group, MemberState
from judge_service.ranking.length_window import LengthWindow
from judge_service.ranking.members import Distinct, digests_of
from judge_service.ranking.result import concluded, lost, lost_to
from judge_service.ranking.ties import settle
from judge_service.ranking.tournament import by_pairs
from judge_service.request import RankRequest
from judge_service.verdicts.source import VerdictSource


async def rank(
    case: Case,
    request: RankRequest,
    inspections: Sequence[Inspection],
    excluded: frozenset[str],
    source: VerdictSource,
    history: PairHistory,
    lengths: LengthWindow,
) -> RankOutcome:
    """Rank inspected candidates. ``excluded`` are the families that may not judge any of them.

    The request has passed ``check_group``.
    """
    followed = strategy_of(request, case.rubric)
    group = Group(
        case=case, request=request, source=source, history=history, lengths=lengths,
        inspections=list(inspections), states=[MemberState() for _ in inspections],
    )  # fmt: skip
    broken = {n: one.broken for n, one in enumerate(inspections) if one.broken is not None}
    if broken:
        for place, error in broken.items():
            group.states[place].error = error
        first = min(broken)
        return lost_to(group, followed, broken[first], [first])
    try:
        selection = select(case.request, case.rubric, case.bench, excluded, case.observer)
    except (NoEligibleJudge, QuorumNotMet) as error:
        if group.passing:
            return lost(group, followed, error, group.passing)
        _end_by_rule(group)
        return concluded(group, followed)
    try:
        group.digests = await digests_of(case, inspections)
    except DeadlineExceeded as error:
        return lost(group, followed, error, group.passing)
    if not case.request.audit and (unfit := await _check_fit(group, selection)):
        return lost_to(group, followed, unfit[min(unfit)], sorted(unfit))
    _end_by_rule(group)
    if not group.passing:
        return concluded(group, followed)
    if followed == "pairwise":
        return await by_pairs(group, selection)
    # One answer makes no list: it is assessed.
    if followed == "listwise" and len(group.distinct(group.passing, exact=True)) > 1:
        return await _by_list(group, selection)
    return await _by_assess(group, selection)


def _end_by_rule(group: Group) -> None:
    """A reward of 0.0 for everybody whom no judge is asked about."""
    for place in set(range(len(group.states))) - set(group.passing):
        group.states[place].reward = 0.0


async def _check_fit(group: Group, selection: Selection) -> dict[int, ContextTooLong]:
    """Mark who is too long for the judges; gives those who can have no verdict, by place."""
    found: dict[int, ContextTooLong] = {}
    for place in group.passing:
        inspection = group.inspections[place]
        try:
            unfit = await check_before(group.case, group.source.asker, selection, inspection.shown)
        except ContextTooLong as error:
            found[place] = error
            continue
        if unfit is not None:
            group.inspections[place] = inspection.failed(unfit)
    return found


async def _check_fit_after(group: Group, answer: Distinct, scored: Scored) -> None:
    """The same, when a judge has found a request too long and all but the answer surely fits."""
    if scored.error is None or group.case.request.audit:
        return
    poll = next(poll for poll in scored.polls if poll.misses)
    unfit = await check_after(
        group.source.asker,
        answer.shown.shown_text,
        poll.question,
        ((miss.judge, miss.error) for miss in poll.misses),
    )
    if unfit is not None:
        scored.error = None
        for place in answer.places:
            group.inspections[place] = group.inspections[place].failed(unfit)


async def _by_assess(group: Group, selection: Selection) -> RankOutcome:
    answers = group.distinct(group.passing, exact=True)
    rubric = group.case.rubric
    budget = group.request.max_calls
    assessed = await score_all(group.case, group.source, selection, answers, budget)
    scored = assessed.scored
    left = None if budget is None else budget - assessed.asked
    for answer, one in zip(answers, scored, strict=True):
        await _check_fit_after(group, answer, one)
    errors = {n: one.error for n, one in enumerate(scored) if one.error is not None}
    flag_unexpected(group.case, told_of([poll for one in scored for poll in one.polls]))
    flag_corrections(group.case)
    for one in scored:
        flag_splits(group.case, one.polls)
    alike(group.case, [one.results for one in scored])
    for answer, one in zip(answers, scored, strict=True):
        group.answers += [reply for poll in one.polls for reply in poll.answers]
        for place in answer.places:
            state = group.states[place]
            state.criteria, state.error = one.results, one.error
            if not group.inspections[place].passed and not group.case.request.audit:
                state.reward = 0.0
            elif one.unjudgeable:
                state.reward = 0.0
                group.case.flag(_unjudgeable(place))
            elif one.error is None:
                score = combine.model_score(rubric, one.results, group.chars(place))
                group.give(place, score)
    if errors:
        # What no retry can help comes first: it is why the group is lost for good.
        error = min(errors.values(), key=lambda one: one.retryable)
        same = [n for n, one in errors.items() if one.code == error.code]
        places = sorted(place for n in same for place in answers[n].places)
        return lost_to(group, "assess", error, places)
    if group.request.strategy == "auto":
        unjudgeable = {p for a, s in zip(answers, scored, strict=True) if s.unjudgeable
                       for p in a.places}  # fmt: skip
        places = [place for place in group.passing if place not in unjudgeable]
        await settle(group, selection, assessed.panel, places, left)
    return concluded(group, "assess")


def _unjudgeable(place: int) -> Flag:
    return Flag(
        "unjudgeable",
        f"candidates[{place}]: judges of two families gave no usable verdict, a control item was "
        "judged as usual",
    )


async def _by_list(group: Group, selection: Selection) -> RankOutcome:
    case, rubric = group.case, group.case.rubric
    answers = group.distinct(group.passing, exact=True)
    each = len(rubric.criteria) * len(selection.panel)
    budget = group.request.max_calls
    wanted = DEFAULT_ORDERS if budget is None else budget // each
    number = max(1, min(wanted, most_orders(len(answers))))
    listed = await score_lists(case, group.source, selection.panel, answers, number)
    group.answers += listed.answers
    if listed.error is not None:
        return lost(group, "listwise", listed.error, group.passing)
    for answer, results in zip(answers, listed.results, strict=True):
        for place in answer.places:
            group.states[place].criteria = results
            group.give(place, combine.model_score(rubric, results, group.chars(place)))
    return concluded(group, "listwise")
