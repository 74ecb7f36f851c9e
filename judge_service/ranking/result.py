"""From the states of a group's members to its outcome."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from judge_service.errors import JudgingError
from judge_service.events import GroupRanked
from judge_service.flags import Flag
from judge_service.outcome import Ranked, RankedMember, RankFailed
from judge_service.ranking.asking import judge_counts
from judge_service.ranking.group import Followed, Group
from judge_service.ranking.signals import FOLLOWS_LENGTH, GroupSignals, group_signals

_HALF = 0.5
RECENTLY_FOLLOWS_LENGTH = 0.5
"""A lesser correlation than in one group, for it is over ten of them or more."""


def concluded(group: Group, followed: Followed) -> Ranked:
    """The group's outcome when every member has a reward."""
    rewards = [state.reward for state in group.states]
    given = tuple(reward for reward in rewards if reward is not None)
    if len(given) != len(rewards):
        raise ValueError("a member has no reward")
    signals = group_signals(given, [one.shown.text for one in group.inspections])
    recent = _recent_length_correlation(group, given)
    _flag(group, signals, recent)
    if not group.case.request.audit:
        group.case.observer(
            GroupRanked(
                rubric=group.case.rubric.id,
                rewards=given,
                zero_advantage=signals.zero_advantage,
                near_duplicate_share=signals.near_duplicate_share,
                length_correlation=signals.length_correlation,
                tie_rate=signals.tie_rate,
                recent_length_correlation=recent,
            )
        )
    return Ranked(
        strategy=followed,
        rewards=given,
        ranks=ranks(given),
        zero_advantage=signals.zero_advantage,
        members=_members(group),
        pairs=group.counts,
        judges=judge_counts(group.answers),
        flags=tuple(group.case.flags),
        metrics=_metrics(group, signals, recent),
        usage=group.case.ledger.total,
        rubric_hash=group.case.rubric.rubric_hash,
        fingerprint=group.case.fingerprint(),
    )


def lost(
    group: Group, followed: Followed, error: JudgingError, places: Sequence[int]
) -> RankFailed:
    """The group's outcome when the members at ``places`` could not be judged.

    Members that are neither judged nor to blame have the group's error, too: they have no reward.
    """
    for place in places:
        group.states[place].error = group.states[place].error or error
        group.states[place].reward = None
    for inspection, state in zip(group.inspections, group.states, strict=True):
        if state.reward is None and state.error is None:
            if inspection.passed:
                state.error = error
            else:
                state.reward = 0.0
    return RankFailed(
        strategy=followed,
        error=error,
        members=_members(group),
        pairs=group.counts,
        judges=judge_counts(group.answers),
        flags=tuple(group.case.flags),
        metrics=_metrics(group, None),
        usage=group.case.ledger.total,
        rubric_hash=group.case.rubric.rubric_hash,
        fingerprint=group.case.fingerprint(),
    )


def lost_to(
    group: Group, followed: Followed, error: JudgingError, places: Sequence[int]
) -> RankFailed:
    """The same where some are to blame for all: they have the error itself, the group and the
    others one that names them. Whose own error is known keeps it.
    """
    for place in places:
        group.states[place].error = group.states[place].error or error
    named = error
    if set(group.passing) - set(places):
        named = copy(error)
        named.args = (f"{', '.join(f'candidates[{place}]' for place in places)}: {error}",)
    return lost(group, followed, named, places)


def ranks(rewards: Sequence[float]) -> tuple[int, ...]:
    """1 for the best; equal rewards share the better rank, and the next ones are left out."""
    return tuple(1 + sum(other > reward for other in rewards) for reward in rewards)


def _members(group: Group) -> tuple[RankedMember, ...]:
    return tuple(
        RankedMember(
            id=candidate.id,
            reward=state.reward,
            error=state.error,
            rules=inspection.rules,
            criteria=state.criteria,
            wins=state.wins,
        )
        for candidate, inspection, state in zip(
            group.request.candidates, group.inspections, group.states, strict=True
        )
    )


def _recent_length_correlation(group: Group, rewards: Sequence[float]) -> float | None:
    """Over the rubric's last groups, with this one where a judge was newly asked about it."""
    rubric = group.case.rubric.id
    if not group.case.request.audit and any(not answer.cached for answer in group.answers):
        judged = group.passing
        group.lengths.add(rubric, [rewards[n] for n in judged], [group.chars(n) for n in judged])
    return group.lengths.correlation(rubric)


def _flag(group: Group, signals: GroupSignals, recent: float | None) -> None:
    if signals.zero_advantage:
        group.case.flag(Flag("zero_advantage", "all rewards are equal: the group teaches nothing"))
    if signals.near_duplicate_share >= _HALF:
        group.case.flag(
            Flag("near_duplicate", f"{signals.near_duplicate_share:.0%} nearly repeat another one")
        )
    r = signals.length_correlation
    if r is not None and r >= FOLLOWS_LENGTH:
        group.case.flag(Flag("length_correlation", f"rewards follow length (r = {r:.2f})"))
    if recent is not None and recent >= RECENTLY_FOLLOWS_LENGTH:
        told = f"rewards have followed length within the last groups (r = {recent:.2f})"
        group.case.flag(Flag("length_correlation", told))


def _metrics(
    group: Group, signals: GroupSignals | None, recent: float | None = None
) -> dict[str, float]:
    """The same keys whatever happened; 0.0 where nothing is known, beside ``judge_failed``."""
    counts, rewards = group.counts, [s.reward for s in group.states if s.reward is not None]
    answers = group.answers
    whole = signals is not None
    return {
        "judge_failed": float(not whole),
        "reward_mean": sum(rewards) / len(rewards) if whole and rewards else 0.0,
        "reward_min": min(rewards) if whole and rewards else 0.0,
        "reward_max": max(rewards) if whole and rewards else 0.0,
        "zero_advantage": float(signals is not None and signals.zero_advantage),
        "near_duplicate_share": signals.near_duplicate_share if signals else 0.0,
        "length_correlation": (signals.length_correlation or 0.0) if signals else 0.0,
        "recent_length_correlation": recent or 0.0,
        "tie_rate": signals.tie_rate if signals else 0.0,
        "pairs_asked": float(counts.asked),
        "pairs_inconsistent": float(counts.inconsistent),
        "pairs_failed": float(counts.failed),
        "short_circuited": sum(not i.passed for i in group.inspections) / len(group.inspections),
        "cached": sum(a.cached for a in answers) / len(answers) if answers else 0.0,
        **_masses(group),
    }


def _masses(group: Group) -> dict[str, float]:
    """The mean probability that the values offered cover, where the rubric wants expected scores:
    0.0 of every verdict without probabilities.
    """
    if group.case.rubric.judging.score == "point":
        return {}
    masses = [
        min(1.0, sum(chances))
        for answer in group.answers
        for chances in answer.reading.probabilities.values() or [()]
    ]
    return {"mass": sum(masses) / len(masses) if masses else 0.0}
