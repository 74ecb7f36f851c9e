"""The prompts that FastChat gives a judge, taken apart: question, reference, answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from judge_service.gold.forms.form import Unusable, sections
from judge_service.types import Message

_REFERENCE = ("[The Start of Reference Answer]", "[The End of Reference Answer]")
_CONVERSATION = "<|The Start of Assistant {}'s Conversation with User|>"
_CONVERSATION_END = "<|The End of Assistant {}'s Conversation with User|>"
_REFERENCES = ("<|The Start of Reference Answer|>", "<|The End of Reference Answer|>")
_USER = "\n\n### User:\n"


class Asked(NamedTuple):
    """What a judge was shown: the first question, the turns that follow it for each answer, and
    the reference to the last question, if there is one.
    """

    prompt: str
    answers: tuple[tuple[Message, ...], ...]
    reference: str | None


def pair_prompt(text: str) -> Asked:
    """A prompt about two answers, or about two conversations. Raises Unusable."""
    if _CONVERSATION.format("A") in text:
        return _conversations(text, ("A", "B"))
    marks = ("[User Question]", *_answer_marks(" A"), *_answer_marks(" B"))
    question, first, _, second = sections(text, marks)
    return _one_turn(question, (first, second))


def single_prompt(text: str) -> Asked:
    """A prompt about one answer, or about one conversation. Raises Unusable."""
    if _CONVERSATION.format("A") in text:
        return _conversations(text, ("A",))
    question, answer = sections(text, ("[Question]", *_answer_marks("")))
    return _one_turn(question, (answer,))


def _answer_marks(name: str) -> tuple[str, str]:
    return f"[The Start of Assistant{name}'s Answer]", f"[The End of Assistant{name}'s Answer]"


def _one_turn(question: str, answers: Sequence[str]) -> Asked:
    reference = None
    if _REFERENCE[0] in question:
        question, rest = question.split(_REFERENCE[0], 1)
        reference = rest.partition(_REFERENCE[1])[0].strip()
    return Asked(
        question.strip(), tuple((Message(role="assistant", text=a),) for a in answers), reference
    )


def _conversations(text: str, names: Sequence[str]) -> Asked:
    reference = None
    if _REFERENCES[0] in text:
        (told,) = sections(text, _REFERENCES)
        reference = _turns(told, "Reference answer")[-1].text
    told_of = []
    for name in names:
        (told,) = sections(text, (_CONVERSATION.format(name), _CONVERSATION_END.format(name)))
        told_of.append(_turns(told, f"Assistant {name}"))
    first = told_of[0][0].text
    if any(turns[0].text != first for turns in told_of):
        raise Unusable("the two conversations begin with different questions")
    return Asked(first, tuple(turns[1:] for turns in told_of), reference)


def _turns(text: str, answerer: str) -> tuple[Message, ...]:
    """The turns of a conversation as it stands in a prompt: user and assistant by turns."""
    mark = f"\n\n### {answerer}:\n"
    found: list[Message] = []
    for part in f"\n\n{text.strip()}".split(_USER)[1:]:
        question, answered, answer = part.partition(mark)
        if not answered:
            raise Unusable(f"no section {mark.strip()!r}")
        found += [
            Message(role="user", text=question.strip()),
            Message(role="assistant", text=answer.strip()),
        ]
    if not found:
        raise Unusable("a conversation without a question")
    return tuple(found)
