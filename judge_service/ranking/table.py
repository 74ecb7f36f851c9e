"""The table of a group's pairs: who met whom in which order, and what every judge said of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from judge_service.asking.ask import Answer
from judge_service.envelope.envelope import PAIR_FORM
from judge_service.errors import JudgingError, QuorumNotMet
from judge_service.judges.judge import JudgeSpec
from judge_service.outcome import Choice, PairCounts, PairOutcome
from judge_service.pairwise import mapped_back, pair_outcome, panel_outcome
from judge_service.ranking.asking import Reply
from judge_service.ranking.bradley_terry import Shown, strengths, win_shares
from judge_service.ranking.schedule import Meeting, all_orders
from judge_service.ranking.standing import far_apart
from judge_service.reply.expectation import UNKNOWN, Expectation, preference, together

Pair = tuple[int, int]
WON: dict[Choice, float] = {"first": 1.0, "tie": 0.5, "second": 0.0}
_MIRRORED: dict[Choice, Choice] = {"first": "second", "second": "first", "tie": "tie"}
POSITION_SHARE = 0.9
"""From this share of orders won by one position on, positions explain the choices."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """``replies`` are by judge id and meeting; members are numbers from 0, at least two.

    An ``arbiter`` decides pairs that the ``judges`` left inconsistent, where it has replies in both
    orders. With ``graded`` the judges' own odds count where they are known. ``standing`` is what
    lists said of the members before, with mean 0 and standard deviation 1.
    """

    judges: Sequence[JudgeSpec]
    meetings: Sequence[Meeting]
    replies: Mapping[tuple[str, Meeting], Reply]
    members: int
    quorum: int
    graded: bool = False
    arbiter: JudgeSpec | None = None
    standing: Sequence[float] | None = None

    @cached_property
    def full(self) -> bool:
        """Whether every pair met in both orders."""
        return len(self.meetings) == all_orders(self.members)

    @cached_property
    def outcomes(self) -> dict[Pair, PairOutcome | None]:
        """The pairs that met in both orders, smaller number first; None where too few judges gave
        a verdict on both.
        """
        asked = set(self.meetings)
        found: dict[Pair, PairOutcome | None] = {}
        for first, second in self.meetings:
            pair = (min(first, second), max(first, second))
            if Meeting(second, first) not in asked or pair in found:
                continue
            orders = [both for judge in self.judges if (both := self.both(judge, pair))]
            panel = [pair_outcome(ab, ba) for ab, ba in orders]
            enough = len(panel) >= self.quorum
            found[pair] = panel_outcome(panel, len(self.judges)) if enough else None
            if found[pair] == "inconsistent" and self.arbiter is not None:
                decided = self.both(self.arbiter, pair)
                found[pair] = "inconsistent" if decided is None else pair_outcome(*decided)
        return found

    @cached_property
    def singles(self) -> dict[Pair, bool]:
        """The pairs that met in one order only, and whether enough judges gave a verdict."""
        found: dict[Pair, bool] = {}
        for meeting in self.meetings:
            pair = (min(meeting), max(meeting))
            if pair not in self.outcomes:
                verdicts = sum(self.choice(judge, meeting) is not None for judge in self.judges)
                found[pair] = verdicts >= self.quorum
        return found

    @cached_property
    def decided(self) -> list[Pair]:
        """The pairs that somebody won or that are a tie."""
        swapped = [p for p, o in self.outcomes.items() if o not in (None, "inconsistent")]
        return swapped + [pair for pair, has_verdict in self.singles.items() if has_verdict]

    def failure(self, members: Collection[int]) -> JudgingError | None:
        """Why a pair of one of ``members`` has no verdict, None where none of theirs lacks one.

        With one judge its own error, else that too few of the panel gave a verdict; the arbiter's
        own, where that is whose verdict is missing.
        """
        if self.arbiter is not None:
            for (judge, meeting), reply in self.replies.items():
                if judge != self.arbiter.id or not set(meeting) & set(members):
                    continue
                if isinstance(reply, JudgingError):
                    return reply
        failed = [pair for pair, outcome in self.outcomes.items() if outcome is None]
        failed += [pair for pair, has_verdict in self.singles.items() if not has_verdict]
        for pair in failed:
            errors = {
                judge: reply
                for (judge, meeting), reply in self.replies.items()
                if set(meeting) == set(pair) and isinstance(reply, JudgingError)
            }
            if not errors or not set(pair) & set(members):
                continue
            if len(self.judges) == 1:
                return next(iter(errors.values()))
            causes = "; ".join(f"{judge}: {error.code}" for judge, error in errors.items())
            return QuorumNotMet(
                f"{len(self.judges) - len(errors)} of {len(self.judges)} judges gave a verdict, "
                f"{self.quorum} are needed ({causes})"
            )
        return None

    def choice(self, judge: JudgeSpec, meeting: Meeting) -> Choice | None:
        """What a judge chose among the two as they were shown, None without a verdict."""
        reply = self.replies.get((judge.id, meeting))
        return mapped_back(reply.reading.choice, "AB") if isinstance(reply, Answer) else None

    def both(self, judge: JudgeSpec, pair: Pair) -> tuple[Choice, Choice] | None:
        """A judge's choices in both orders, as if the pair's first were always named first."""
        ab = self.choice(judge, Meeting(*pair))
        ba = self.choice(judge, Meeting(pair[1], pair[0]))
        return None if ab is None or ba is None else (ab, _MIRRORED[ba])

    def counts(self) -> PairCounts:
        """What became of the pairs."""
        outcomes = list(self.outcomes.values())
        single = sum(self.singles.values())
        return PairCounts(
            asked=len(outcomes) + len(self.singles),
            consistent=sum(o in ("first", "second") for o in outcomes),
            tie=outcomes.count("tie"),
            inconsistent=outcomes.count("inconsistent"),
            failed=outcomes.count(None) + len(self.singles) - single,
            single=single,
            first_position_share=self.first_share,
        )

    @cached_property
    def first_share(self) -> float | None:
        """Of the orders with a winner, the share that the one shown first won."""
        winners = [c for _, c in self._choices() if c != "tie"]
        return winners.count("first") / len(winners) if winners else None

    @property
    def by_position(self) -> bool:
        """Whether pairs asked in one order were decided by position. In balanced orders each
        answer is first as often as second, so that an honest judge's share is near one half.

        Where pairs were chosen because they are close, position decides more of them even for a
        judge that does look at the answers. Then it must have decided those far apart, too.
        """
        share = self.first_share
        if not self.singles or share is None or max(share, 1 - share) < POSITION_SHARE:
            return False
        if self.standing is None:
            return True
        position: Choice = "first" if share > 0.5 else "second"
        far = far_apart(self.standing)
        choices = [choice for (_, meeting), choice in self._choices() if set(meeting) in far]
        return choices.count(position) >= POSITION_SHARE * len(choices)

    def shares(self) -> tuple[float, ...]:
        """The win share of every member: counted where all orders were asked, else expected."""
        return tuple(self.shares_of(range(self.members)).values())

    def shares_of(self, members: Sequence[int]) -> dict[int, float]:
        """The same among at least two ``members``, all of whose decided pairs are with each
        other.
        """
        if not self.full:
            judges = len(self.everybody)
            fitted = strengths(self._shown(), self.members, judges, self.standing)
            return dict(zip(members, win_shares(fitted[[*members]]).tolist(), strict=True))
        wins, met = [0.0] * self.members, [0] * self.members
        for pair in self.decided:
            won = self._won(pair)
            for member, points in zip(pair, (won, 1.0 - won), strict=True):
                wins[member] += points
                met[member] += 1
        return {member: wins[member] / met[member] for member in members}

    @property
    def everybody(self) -> tuple[JudgeSpec, ...]:
        """The judges, and the arbiter where there is one."""
        return (*self.judges, *(() if self.arbiter is None else (self.arbiter,)))

    def _arbitrated(self, meeting: Meeting) -> bool:
        """Whether the arbiter decided the pair, so that what the others said of it is no vote."""
        pair = (min(meeting), max(meeting))
        decided = self.arbiter is not None and self.both(self.arbiter, pair) is not None
        return decided and self.outcomes[pair] != "inconsistent"

    def _shown(self) -> list[Shown]:
        return [
            Shown(*meeting, number, WON[choice], self._expected(judge, meeting).log_odds)
            for number, judge in enumerate(self.everybody)
            for meeting in self.meetings
            if (choice := self.choice(judge, meeting)) is not None
            and (judge is self.arbiter or not self._arbitrated(meeting))
        ]

    def _expected(self, judge: JudgeSpec, meeting: Meeting) -> Expectation:
        """The preference for the one shown first."""
        reply = self.replies.get((judge.id, meeting))
        if not self.graded or not isinstance(reply, Answer):
            return UNKNOWN
        return preference(reply.reading, PAIR_FORM)

    def _won(self, pair: Pair) -> float:
        """How far a decided pair's smaller number won; graded, that is the mean of both orders of
        those whose pair came out so.
        """
        outcome = _decided(self.outcomes[pair])
        ab, ba = Meeting(*pair), Meeting(*pair[::-1])
        graded = together(
            [
                together([self._expected(judge, ab), self._expected(judge, ba).mirrored])
                for judge in self.everybody
                if (both := self.both(judge, pair)) is not None and pair_outcome(*both) == outcome
            ]
        )
        return WON[outcome] if graded.value is None else graded.value

    def _choices(self) -> list[tuple[tuple[JudgeSpec, Meeting], Choice]]:
        return [
            ((judge, meeting), choice)
            for judge in self.judges
            for meeting in self.meetings
            if (choice := self.choice(judge, meeting)) is not None
        ]


def _decided(outcome: PairOutcome | None) -> Choice:
    if outcome is None or outcome == "inconsistent":
        raise ValueError("this pair is not decided")
    return outcome
