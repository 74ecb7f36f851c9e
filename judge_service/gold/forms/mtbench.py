"""MT-Bench: votes of people (or of a judge) on two conversations, and FastChat's judgments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from judge_service.gold.forms.form import (
    Converted,
    Options,
    Unusable,
    candidate,
    flipped,
    sections,
    text_of,
)
from judge_service.gold.forms.rows import Row
from judge_service.gold.item import GoldItem
from judge_service.judges.family import families_of
from judge_service.outcome import Choice
from judge_service.types import Candidate, Message

_WINNERS: dict[str, Choice] = {
    "model_a": "first", "model_b": "second", "model_1": "first", "model_2": "second", "tie": "tie",
}  # fmt: skip
_FIRST = ("[The Start of Assistant A's Answer]", "[The End of Assistant A's Answer]")
_SECOND = ("[The Start of Assistant B's Answer]", "[The End of Assistant B's Answer]")
_QUESTION, _REFERENCE = "[User Question]", "[The Start of Reference Answer]"
BY_A_MODEL = (
    "some labels are a model's, not people's; agreement with them is no agreement with people"
)


class _Vote(NamedTuple):
    key: tuple[str, str, str, str]
    prompt: str
    candidates: tuple[Candidate, Candidate]
    choice: Choice
    by_model: bool


def mtbench(rows: Iterable[tuple[str, Row]], _: Options) -> Converted:
    """All votes on one pair of answers become one item, whichever of the two stood first.

    Rows are human votes (``question_id, model_a, model_b, winner, judge, conversation_a,
    conversation_b, turn``), or FastChat's judgments of pairs (``g1_winner, g2_winner`` and the
    prompt that the judge was given). Votes for nobody (errors, orders that disagree) are left out.
    """
    found = Converted()
    votes: defaultdict[tuple[str, ...], list[_Vote]] = defaultdict(list)
    for place, row in rows:
        try:
            vote = _judged(row) if "g1_winner" in row else _voted(row)
        except Unusable as why:
            found.skipped.append((place, str(why)))
            continue
        votes[vote.key].append(vote)
    if any(vote.by_model for group in votes.values() for vote in group):
        found.notes.append(BY_A_MODEL)
    for key, group in votes.items():
        found.add(
            GoldItem(
                id="/".join(key),
                prompt=group[0].prompt,
                candidates=group[0].candidates,
                choices=tuple(vote.choice for vote in group),
            )
        )
    return found


def _voted(row: Row) -> _Vote:
    first, second = text_of(row, "model_a"), text_of(row, "model_b")
    winner = text_of(row, "winner")
    turn = int(text_of(row, "turn")) if "turn" in row else 1
    shown = [_turns(row, name, turn) for name in ("conversation_a", "conversation_b")]
    judge = row.get("judge")
    return _vote(
        (text_of(row, "question_id"), first, second, f"turn{turn}"),
        shown[0][0],
        (_answer(shown[0][1], first), _answer(shown[1][1], second)),
        _choice(winner),
        by_model=isinstance(judge, list) or str(judge).startswith(("gpt", "claude")),
    )


def _judged(row: Row) -> _Vote:
    winners = [_choice(text_of(row, name)) for name in ("g1_winner", "g2_winner")]
    if winners[0] != winners[1]:
        raise Unusable("the two orders disagree")
    asked, answer, _, other = sections(
        text_of(row, "g1_user_prompt"), (_QUESTION, *_FIRST, *_SECOND)
    )
    first, second = text_of(row, "model_1"), text_of(row, "model_2")
    return _vote(
        (text_of(row, "question_id"), first, second, f"turn{row.get('turn', 1)}"),
        asked.partition(_REFERENCE)[0].strip(),
        (candidate(answer, first), candidate(other, second)),
        winners[0],
        by_model=True,
    )


def _vote(
    key: tuple[str, str, str, str],
    prompt: str,
    shown: tuple[Candidate, Candidate],
    choice: Choice,
    *,
    by_model: bool,
) -> _Vote:
    question, first, second, turn = key
    if first > second:
        key, shown, choice = (question, second, first, turn), (shown[1], shown[0]), flipped(choice)
    return _Vote(key, prompt, shown, choice, by_model)


def _choice(winner: str) -> Choice:
    choice = _WINNERS.get(winner)
    if choice is None:
        raise Unusable(f"a vote for nobody: {winner[:40]!r}")
    return choice


def _turns(row: Row, name: str, turn: int) -> tuple[str, Sequence[Message]]:
    """The first question, and what follows it up to the answer of the turn."""
    told = row.get(name)
    if not isinstance(told, list) or len(told) < 2 * turn:
        raise Unusable(f"{name} holds no answer of turn {turn}; the answers' texts are needed")
    messages = [_message(entry) for entry in told[: 2 * turn]]
    return messages[0].text, messages[1:]


def _message(entry: Any) -> Message:
    if not isinstance(entry, dict):
        raise Unusable("a conversation holds something that is no message")
    return Message(role=str(entry.get("role", "")), text=str(entry.get("content", "")))


def _answer(messages: Sequence[Message], model: str) -> Candidate:
    if len(messages) == 1:
        return candidate(messages[0].text, model)
    name = model if families_of(model) else None
    return Candidate(messages=tuple(messages), policy_model=name)
