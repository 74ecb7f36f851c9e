"""MT-Bench: votes of people (or of a judge) on two conversations, and FastChat's judgments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from judge_service.gold.forms.fastchat import Asked, pair_prompt, single_prompt
from judge_service.gold.forms.form import (
    Converted,
    Options,
    Unusable,
    candidate,
    flipped,
    messages_of,
    text_of,
)
from judge_service.gold.forms.rows import Row
from judge_service.gold.item import GoldItem
from judge_service.outcome import Choice
from judge_service.types import Candidate, Message

_WINNERS: dict[str, Choice] = {
    "model_a": "first", "model_b": "second", "model_1": "first", "model_2": "second", "tie": "tie",
}  # fmt: skip
BY_A_MODEL = (
    "some labels are a model's, not people's; agreement with them is no agreement with people"
)


class _Vote(NamedTuple):
    """A vote on a pair whose candidates stand in the order of their models' names, or a score of
    one answer (``choice`` is None then).
    """

    key: tuple[str, ...]
    prompt: str
    candidates: tuple[Candidate, ...]
    reference: str | None
    choice: Choice | None
    score: float | None
    by_model: bool


@dataclass(slots=True)
class _Votes:
    """All votes on one pair, or all scores of one answer, and where the first of them stands."""

    place: str
    votes: list[_Vote] = field(default_factory=list)


def mtbench(rows: Iterable[tuple[str, Row]], options: Options) -> Converted:
    """All votes on one pair of answers become one item, whichever of the two stood first.

    Rows are human votes (``question_id, model_a, model_b, winner, judge, conversation_a,
    conversation_b, turn``), or FastChat's judgments: of pairs (``g1_winner, g2_winner`` and the
    prompt that the judge was given), or of single answers (``score`` and ``user_prompt``). Votes
    for nobody (errors, orders that disagree, scores of -1) are left out, and so are votes on other
    texts under the same names.
    """
    found = Converted()
    groups: defaultdict[tuple[str, ...], _Votes] = defaultdict(lambda: _Votes(""))
    for place, row in rows:
        try:
            vote = _read(row)
            group = groups[vote.key]
            if group.votes and not _same_texts(group.votes[0], vote):
                raise Unusable(f"other texts than those of {group.place} under the same names")
        except Unusable as why:
            found.skipped.append((place, str(why)))
            continue
        group.place = group.place or place
        group.votes.append(vote)
    if any(vote.by_model for group in groups.values() for vote in group.votes):
        found.notes.append(BY_A_MODEL)
    for key, group in groups.items():
        if group.votes:
            found.add(_item(key, group.votes, options), group.place)
    return found


def _item(key: tuple[str, ...], votes: list[_Vote], options: Options) -> GoldItem:
    scores = tuple(vote.score for vote in votes if vote.score is not None)
    return GoldItem(
        id="/".join(key),
        prompt=votes[0].prompt,
        candidates=votes[0].candidates,
        reference=votes[0].reference,
        choices=tuple(vote.choice for vote in votes if vote.choice is not None),
        labels={options.criterion: scores} if scores else {},
    )


def _same_texts(one: _Vote, other: _Vote) -> bool:
    return (one.prompt, one.candidates) == (other.prompt, other.candidates)


def _read(row: Row) -> _Vote:
    if "g1_winner" in row:
        return _judged_pair(row)
    if "user_prompt" in row and "score" in row:
        return _judged_single(row)
    return _voted(row)


def _voted(row: Row) -> _Vote:
    first, second = text_of(row, "model_a"), text_of(row, "model_b")
    choice, turn = _choice(row, "winner"), _turn(row)
    shown = [_turns(row, name, turn) for name in ("conversation_a", "conversation_b")]
    if shown[0][0] != shown[1][0]:
        raise Unusable("the two conversations begin with different questions")
    judge = row.get("judge")
    return _pair(
        (text_of(row, "question_id"), first, second, f"turn{turn}"),
        Asked(shown[0][0], (shown[0][1], shown[1][1]), None),
        choice,
        by_model=isinstance(judge, list) or str(judge).startswith(("gpt", "claude")),
    )


def _judged_pair(row: Row) -> _Vote:
    choice, again = _choice(row, "g1_winner"), _choice(row, "g2_winner")
    if choice != again:
        raise Unusable("the two orders disagree")
    names = text_of(row, "model_1"), text_of(row, "model_2")
    return _pair(
        (text_of(row, "question_id"), *names, f"turn{_turn(row)}"),
        pair_prompt(text_of(row, "g1_user_prompt")),
        choice,
        by_model=True,
    )


def _judged_single(row: Row) -> _Vote:
    score = row["score"]
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 1 <= score <= 10:
        raise Unusable(f"a score that is not on 1 to 10: {str(score)[:40]!r}")
    model = text_of(row, "model")
    asked = single_prompt(text_of(row, "user_prompt"))
    return _Vote(
        (text_of(row, "question_id"), model, f"turn{_turn(row)}"),
        asked.prompt, (candidate(asked.answers[0], model),), asked.reference,
        None, float(score), True,
    )  # fmt: skip


def _pair(key: tuple[str, str, str, str], asked: Asked, choice: Choice, *, by_model: bool) -> _Vote:
    question, first, second, turn = key
    shown = candidate(asked.answers[0], first), candidate(asked.answers[1], second)
    if first > second:
        key, shown, choice = (question, second, first, turn), (shown[1], shown[0]), flipped(choice)
    return _Vote(key, asked.prompt, shown, asked.reference, choice, None, by_model)


def _choice(row: Row, name: str) -> Choice:
    winner = text_of(row, name)
    choice = _WINNERS.get(winner)
    if choice is None:
        raise Unusable(f"a vote for nobody: {winner[:40]!r}")
    return choice


def _turn(row: Row) -> int:
    turn = row.get("turn", 1)
    if str(turn) not in ("1", "2"):
        raise Unusable(f"turn {str(turn)[:40]!r} is neither 1 nor 2")
    return int(str(turn))


def _turns(row: Row, name: str, turn: int) -> tuple[str, tuple[Message, ...]]:
    """The first question, and what follows it up to the answer of the turn."""
    told = row.get(name)
    if not isinstance(told, list) or len(told) < 2 * turn:
        raise Unusable(f"{name} holds no answer of turn {turn}; the answers' texts are needed")
    messages = messages_of(told[: 2 * turn], name)
    return messages[0].text, messages[1:]
