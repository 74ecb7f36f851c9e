"""What a judge gets to see of a candidate under a rubric, and what the rules check."""

from __future__ import annotations

from dataclasses import dataclass

from judge_service.candidate.identity import NOBODY, Identity, identity_of
from judge_service.judges.family import declared_families, families_of
from judge_service.rubric.rubric import Rubric
from judge_service.rules import RuleInput, is_blank
from judge_service.text.data_block import render_message, render_messages
from judge_service.types import Candidate, Message, Prompt, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A candidate as it is judged.

    ``text`` is what rules check and length control counts (reasoning stripped where the rubric
    says so). ``shown`` is what goes into the candidate's block: the text, a copy without
    formatting, or messages. ``context`` are the turns before the one judged, ``identity`` says
    which answer it is.
    """

    candidate: Candidate
    text: str
    shown: str | tuple[Message, ...]
    context: tuple[Message, ...]
    tool_calls: tuple[ToolCall, ...]
    empty: bool
    identity: Identity

    @property
    def chars(self) -> int:
        """Length of the text as judged, in characters."""
        return len(self.text)

    @property
    def shown_text(self) -> str:
        """What stands in the candidate's block, as one text."""
        return self.shown if isinstance(self.shown, str) else render_messages(self.shown)

    def same_as(self, other: Exhibit) -> bool:
        """Whether the two are one answer: by what was given, or by what a judge is shown of it."""
        return bool(self.identity.keys & other.identity.keys)

    def families(self) -> frozenset[str]:
        """The candidate's lineages: those named, else what the policy model's name tells."""
        named = frozenset[str]().union(*map(declared_families, self.candidate.families))
        if named:
            return named
        if self.candidate.policy_model:
            return families_of(self.candidate.policy_model)
        return frozenset()

    def rule_input(self, prompt: Prompt, reference: str | None) -> RuleInput:
        """What the rules are given."""
        return RuleInput(
            text=self.text,
            prompt=asked(prompt),
            reference=reference,
            finish_reason=self.candidate.finish_reason,
            tool_calls=self.tool_calls,
        )


def asked(prompt: Prompt) -> str:
    """What the candidate answered: the text, or the last user turn of a conversation."""
    if isinstance(prompt, str):
        return prompt
    return next((m.text for m in reversed(prompt) if m.role == "user"), "")


def prompt_text(prompt: Prompt) -> str:
    """The prompt as one text, as it stands in its block."""
    return prompt if isinstance(prompt, str) else render_messages(prompt)


def exhibit(candidate: Candidate, rubric: Rubric) -> Exhibit:
    """Prepare a candidate for judging under ``rubric``."""
    judging = rubric.judging
    if candidate.messages is None:
        text = _answer(candidate.text or "", rubric)
        shown = _plain(text) if judging.normalize_formatting else text
        return Exhibit(
            candidate=candidate,
            text=text,
            shown=shown,
            context=(),
            tool_calls=(),
            empty=is_blank(text),
            identity=identity_of(text, shown),
        )
    if judging.judged == "trajectory":
        return _trajectory(candidate, candidate.messages, rubric)
    return _last_turn(candidate, candidate.messages, rubric)


def unread(candidate: Candidate) -> Exhibit:
    """A candidate that nobody had the time to look at: as it came, for its length and family."""
    messages = candidate.messages or ()
    text = candidate.text or "\n".join(m.text for m in messages if m.role == "assistant")
    return Exhibit(
        candidate=candidate,
        text=text,
        shown=text,
        context=(),
        tool_calls=(),
        empty=False,
        identity=NOBODY,
    )


def _answer(text: str, rubric: Rubric) -> str:
    """The text that is judged. The patterns it takes are made by the first who needs them."""
    if not rubric.judging.strip_reasoning:
        return text
    from judge_service.text.reasoning import strip_reasoning

    return strip_reasoning(text)


def _plain(text: str) -> str:
    """The text without formatting; the same is true of its patterns."""
    from judge_service.text.formatting import normalize_formatting

    return normalize_formatting(text)


def _last_turn(candidate: Candidate, messages: tuple[Message, ...], rubric: Rubric) -> Exhibit:
    last = next(
        (i for i in reversed(range(len(messages))) if messages[i].role == "assistant"), None
    )
    if last is None:
        return Exhibit(
            candidate=candidate,
            text="",
            shown="",
            context=messages,
            tool_calls=(),
            empty=True,
            identity=identity_of("", "", messages),
        )
    turn = _stripped(messages[last], rubric)
    # The calls are part of what the turn says; a turn with calls is never empty.
    text = render_message(turn) if turn.tool_calls else turn.text
    shown: str | tuple[Message, ...] = text
    if turn.tool_calls:
        # As a message, so that what the turn says cannot be taken for one of its calls.
        shown = (turn,)
    elif rubric.judging.normalize_formatting:
        shown = _plain(text)
    return Exhibit(
        candidate=candidate,
        text=text,
        shown=shown,
        context=messages[:last],
        tool_calls=turn.tool_calls,
        empty=is_blank(turn.text) and not turn.tool_calls,
        identity=identity_of(text, shown, messages[:last]),
    )


def _trajectory(candidate: Candidate, messages: tuple[Message, ...], rubric: Rubric) -> Exhibit:
    turns = tuple(_stripped(m, rubric) if m.role == "assistant" else m for m in messages)
    acts = [m for m in turns if m.role == "assistant"]
    text = "\n".join(m.text for m in acts if m.text)
    return Exhibit(
        candidate=candidate,
        text=text,
        shown=turns,
        context=(),
        tool_calls=tuple(call for m in acts for call in m.tool_calls),
        empty=all(is_blank(m.text) and not m.tool_calls for m in acts),
        identity=identity_of(text, turns),
    )


def _stripped(message: Message, rubric: Rubric) -> Message:
    return Message(
        role=message.role,
        text=_answer(message.text, rubric),
        name=message.name,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
    )
