"""Rank: a group of candidates, from the request to a reward for each."""

from __future__ import annotations

from collections.abc import Sequence

from judge_service import combine
from judge_service.case import Case
from judge_service.errors import NoEligibleJudge, QuorumNotMet
from judge_service.fit import check_after, check_before
from judge_service.flags import Flag
from judge_service.history import PairHistory
from judge_service.inspection import Inspection
from judge_service.judge import JudgeSpec
from judge_service.outcome import PairCounts, RankOutcome
from judge_service.ranking.budget import strategy_of
from judge_service.ranking.by_assess import Scored, score_all
from judge_service.ranking.by_list import DEFAULT_ORDERS, score_lists
from judge_service.ranking.by_pairs import Played, play
from judge_service.ranking.group import Group, MemberState
from judge_service.ranking.members import Distinct
from judge_service.ranking.result import concluded, lost, lost_to
from judge_service.ranking.schedule import all_orders, default_calls, fewest
from judge_service.ranking.settling import Room, apart, room, smallest_step, tied
from judge_service.request import RankRequest
from judge_service.selection import Selection, select
from judge_service.verdicts.source import VerdictSource


async def rank(
    case: Case,
    request: RankRequest,
    inspections: Sequence[Inspection],
    excluded: frozenset[str],
    source: VerdictSource,
    history: PairHistory,
) -> RankOutcome:
    """Rank inspected candidates. ``excluded`` are the families that may not judge any of them.

    The request has passed ``check_group``.
    """
    followed = strategy_of(request, case.rubric)
    group = Group(
        case=case, request=request, source=source, history=history,
        inspections=list(inspections), states=[MemberState() for _ in inspections],
    )  # fmt: skip
    broken = [n for n, one in enumerate(inspections) if one.broken is not None]
    if broken:
        error = inspections[broken[0]].broken
        assert error is not None  # noqa: S101 - that is what broken lists
        return lost(group, followed, error, broken)
    try:
        selection = select(case.request, case.rubric, case.bench, excluded, case.observer)
    except (NoEligibleJudge, QuorumNotMet) as error:
        if group.passing:
            return lost(group, followed, error, group.passing)
        return concluded(group, followed)
    if not case.request.audit:
        await _check_fit(group, selection)
    for place in set(range(len(inspections))) - set(group.passing):
        group.states[place].reward = 0.0
    if not group.passing:
        return concluded(group, followed)
    if followed == "pairwise":
        return await _by_pairs(group, selection)
    if followed == "listwise":
        return await _by_list(group, selection)
    return await _by_assess(group, selection)


async def _check_fit(group: Group, selection: Selection) -> None:
    for place in group.passing:
        inspection = group.inspections[place]
        shown = inspection.shown.shown_text
        unfit = await check_before(group.source.asker, selection, shown)
        if unfit is not None:
            group.inspections[place] = inspection.failed(unfit)


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
    failed = [n for n, one in enumerate(scored) if one.error is not None]
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
    if failed:
        error = scored[failed[0]].error
        assert error is not None  # noqa: S101 - that is what failed lists
        places = sorted(place for n in failed for place in answers[n].places)
        return lost(group, "assess", error, places)
    if group.request.strategy == "auto":
        unjudgeable = {p for a, s in zip(answers, scored, strict=True) if s.unjudgeable
                       for p in a.places}  # fmt: skip
        places = [place for place in group.passing if place not in unjudgeable]
        await _settle(group, assessed.panel, places, left)
    return concluded(group, "assess")


def _unjudgeable(place: int) -> Flag:
    return Flag(
        "unjudgeable",
        f"candidates[{place}]: judges of two families gave no usable verdict, a control item was "
        "judged as usual",
    )


async def _settle(
    group: Group, panel: Sequence[JudgeSpec], places: Sequence[int], left: int | None
) -> None:
    """Tell equal rewards apart by pairs of the judges that gave them, as far as the budget goes."""
    counts = []
    before = [state.reward for state in group.states if state.reward is not None]
    known = ((place, group.states[place].reward) for place in places)
    rewards = {place: reward for place, reward in known if reward is not None}
    for together in tied(rewards):
        answers = group.distinct(together, exact=False)
        step = min(smallest_step(group.case.rubric, group.chars(place)) for place in together)
        if len(answers) < 2 or step <= 0.0:
            continue
        calls = default_calls(len(answers))
        if left is not None:
            calls = min(calls, left // len(panel))
            if calls < fewest(len(answers)):
                group.case.flag(_unsettled(together, "max_calls leaves too few calls"))
                continue
            left -= calls * len(panel)
        played = await play(group.case, group.source, panel, answers, calls, group.history)
        group.answers += played.answers
        counts.append(played.counts)
        if played.error is not None:
            group.case.flag(_unsettled(together, str(played.error)))
        elif apart(played.shares):
            _move(group, answers, played.shares, room(rewards[together[0]], before, step))
    if counts:
        group.counts = _sum(counts)


def _move(group: Group, answers: Sequence[Distinct], shares: Sequence[float], room: Room) -> None:
    for answer, share in zip(answers, shares, strict=True):
        for place in answer.places:
            state = group.states[place]
            state.wins = share
            state.reward = room.at(share)


def _unsettled(places: Sequence[int], why: str) -> Flag:
    return Flag("unsettled_ties", f"candidates {', '.join(map(str, places))}: {why}"[:300])


async def _by_pairs(group: Group, selection: Selection) -> RankOutcome:
    answers = group.distinct(group.passing, exact=False)
    if len(answers) == 1:
        # It meets nobody: better than all that broke a rule, as good as its own copies.
        alone = 1.0 if len(group.passing) < len(group.inspections) else 0.5
        _give_shares(group, answers, [alone])
        return concluded(group, "pairwise")
    size = len(selection.panel)
    budget = group.request.max_calls
    wanted = default_calls(len(answers)) if budget is None else budget // size
    calls = min(wanted, all_orders(len(answers)))
    played = await _play_with_one_panel(group, selection, answers, calls)
    group.answers += played.answers
    group.counts = played.counts
    if played.error is not None:
        places = sorted(place for n in played.undecided for place in answers[n].places)
        return lost_to(group, "pairwise", played.error, places)
    _give_shares(group, answers, played.shares)
    return concluded(group, "pairwise")


async def _play_with_one_panel(
    group: Group, selection: Selection, answers: Sequence[Distinct], calls: int
) -> Played:
    """Play; where judges failed and the rubric allows another family and the budget as many calls
    again, once more with the next judges for the whole group.
    """
    case, panel = group.case, selection.panel
    played = await play(case, group.source, panel, answers, calls, group.history)
    spares = list(selection.spares())[: len(panel)]
    budget = group.request.max_calls
    affordable = budget is None or 2 * calls * len(panel) <= budget
    allowed = case.rubric.judging.fallback == "family" and affordable
    moves = allowed and len(spares) == len(panel)
    if not moves or played.error is None or not played.counts.failed or case.deadline.left() <= 0:
        return played
    again = await play(case, group.source, spares, answers, calls, group.history)
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


async def _by_list(group: Group, selection: Selection) -> RankOutcome:
    case, rubric = group.case, group.case.rubric
    answers = group.distinct(group.passing, exact=True)
    each = len(rubric.criteria) * len(selection.panel)
    budget = group.request.max_calls
    number = DEFAULT_ORDERS if budget is None else min(budget // each, len(answers))
    listed = await score_lists(case, group.source, selection.panel, answers, max(1, number))
    group.answers += listed.answers
    if listed.error is not None:
        return lost(group, "listwise", listed.error, group.passing)
    for answer, results in zip(answers, listed.results, strict=True):
        for place in answer.places:
            group.states[place].criteria = results
            group.give(place, combine.model_score(rubric, results, group.chars(place)))
    return concluded(group, "listwise")


def _sum(counts: Sequence[PairCounts]) -> PairCounts:
    """Several tables as one; the first-position share is the mean by pairs asked."""
    known = [c for c in counts if c.first_position_share is not None]
    asked = sum(c.asked for c in known)
    share = sum((c.first_position_share or 0.0) * c.asked for c in known) / asked if asked else None
    return PairCounts(
        asked=sum(c.asked for c in counts),
        consistent=sum(c.consistent for c in counts),
        tie=sum(c.tie for c in counts),
        inconsistent=sum(c.inconsistent for c in counts),
        failed=sum(c.failed for c in counts),
        single=sum(c.single for c in counts),
        first_position_share=share,
    )
