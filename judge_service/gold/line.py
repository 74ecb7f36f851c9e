"""A line of a gold file: what may stand in it, read and written."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    Tag,
    model_validator,
)

from judge_service.candidate.message_schema import MANY, ONE, Text, one_of, text_or_list
from judge_service.gold.item import GoldItem
from judge_service.gold.message import GoldMessage, Messages, counted, message_line
from judge_service.judges.family import declared_families, normalize_family
from judge_service.types import Candidate, Message, Prompt

MAX_ANNOTATORS = 100
MAX_POINT = 1_000_000
"""No scale has points beyond it."""
MAX_FAMILIES = 8
MAX_CRITERIA = 1_000


def _family(word: str) -> str:
    if not normalize_family(word):
        raise ValueError(f"{word!r} is no family")
    return word


def _point(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("must be a number")
    if not -MAX_POINT <= value <= MAX_POINT:
        raise ValueError(f"must lie between -{MAX_POINT:,} and {MAX_POINT:,}")
    return float(value)


FamilyWord = Annotated[str, StringConstraints(min_length=1, max_length=64), AfterValidator(_family)]
HumanPoint = Annotated[float, BeforeValidator(_point)]
_PER_ANNOTATOR = counted(1, MAX_ANNOTATORS, "entries, one per annotator")
HumanPoints = Annotated[tuple[HumanPoint, ...], _PER_ANNOTATOR]
GoldId = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")
]

ModelName = Annotated[
    str, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\x00-\x1f\x7f]+$")
]


Families = Annotated[
    Annotated[FamilyWord, Tag(ONE)]
    | Annotated[tuple[FamilyWord, ...], counted(1, MAX_FAMILIES, "words"), Tag(MANY)],
    one_of("a word or a list of words", text_or_list),
]
PromptField = Annotated[
    Annotated[Text, Tag(ONE)] | Annotated[Messages, Tag(MANY)],
    one_of("a text or a list of messages", text_or_list),
]


class Line(BaseModel):
    """Base of a gold line and its candidates: unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class _Candidate(Line):
    text: Text | None = None
    messages: Messages | None = None
    policy_model: ModelName | None = None
    family: Families | None = None
    finish_reason: Annotated[str, StringConstraints(max_length=64)] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> _Candidate:
        if (self.text is None) == (self.messages is None):
            raise ValueError("give exactly one of text and messages")
        return self


_OBJECT = "(object)"


def _candidate_form(value: object) -> str | None:
    return _OBJECT if isinstance(value, dict) else text_or_list(value)


CandidateField = Annotated[
    Annotated[Text, Tag(ONE)]
    | Annotated[Messages, Tag(MANY)]
    | Annotated[_Candidate, Tag(_OBJECT)],
    one_of("a text or an object, or a list of messages", _candidate_form),
]


class GoldLine(Line):
    """``{"id", "prompt", "candidate" | "candidates", "reference", "labels" | "choice", "family"}``.

    Reference and family may be missing. ``labels`` are points by criterion, ``choice`` is of two
    candidates; both are lists with one entry per annotator. A candidate is a text, a list of
    messages, or an object with ``text`` or ``messages`` and perhaps a ``family`` of its own.
    ``metadata`` is kept and not looked at.
    """

    id: GoldId
    prompt: PromptField
    candidate: CandidateField | None = None
    candidates: Annotated[tuple[CandidateField, ...], counted(2, 2)] | None = None
    reference: Text | None = None
    labels: (
        Annotated[
            dict[Annotated[str, StringConstraints(min_length=1, max_length=64)], HumanPoints],
            counted(1, MAX_CRITERIA, "criteria"),
        ]
        | None
    ) = None
    choice: Annotated[tuple[Literal["first", "second", "tie"], ...], _PER_ANNOTATOR] | None = None
    family: Families | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> GoldLine:
        if (self.candidate is None) == (self.candidates is None):
            raise ValueError("give exactly one of candidate and candidates")
        if (self.labels is None) == (self.choice is None):
            raise ValueError("give exactly one of labels and choice")
        if self.candidate is not None and self.choice is not None:
            raise ValueError("choice: is between two candidates; a single one has labels")
        if self.candidates is not None and self.labels is not None:
            raise ValueError("labels: are for a single candidate; two have a choice")
        return self

    def item(self) -> GoldItem:
        """The item of the line."""
        shown = (self.candidate,) if self.candidates is None else self.candidates
        return GoldItem(
            id=self.id,
            prompt=_prompt(self.prompt),
            candidates=tuple(self._candidate(c) for c in shown if c is not None),
            reference=self.reference,
            labels={n: tuple(map(float, points)) for n, points in (self.labels or {}).items()},
            choices=self.choice or (),
            metadata=self.metadata,
        )

    def _candidate(self, given: str | tuple[GoldMessage, ...] | _Candidate) -> Candidate:
        if isinstance(given, str):
            return Candidate(text=given, families=_families(self.family))
        if isinstance(given, tuple):
            return Candidate(messages=_domain(given), families=_families(self.family))
        return Candidate(
            text=given.text,
            messages=None if given.messages is None else _domain(given.messages),
            policy_model=given.policy_model,
            families=_families(given.family)
            or (frozenset() if given.policy_model else _families(self.family)),
            finish_reason=given.finish_reason,
        )


class _ShownLine(GoldLine):
    """A line that may have no labels yet."""

    @model_validator(mode="after")
    def _one_kind(self) -> _ShownLine:
        if (self.candidate is None) == (self.candidates is None):
            raise ValueError("give exactly one of candidate and candidates")
        return self


def shown_item(line: object) -> GoldItem:
    """The item of a line that may have no labels yet. Raises ValidationError."""
    return _ShownLine.model_validate(line).item()


def _prompt(prompt: str | tuple[GoldMessage, ...]) -> Prompt:
    return prompt if isinstance(prompt, str) else _domain(prompt)


def _domain(messages: tuple[GoldMessage, ...]) -> tuple[Message, ...]:
    return tuple(message.domain() for message in messages)


def _families(given: str | tuple[str, ...] | None) -> frozenset[str]:
    words = (given,) if isinstance(given, str) else given or ()
    return frozenset[str]().union(*map(declared_families, words))


def line_of(item: GoldItem) -> dict[str, Any]:
    """The line of an item, as JSON-ready values; ``GoldLine`` reads it back to the same item, or
    ``shown_item`` where it has no labels yet.
    """
    families = {c.families for c in item.candidates}
    shared = next(iter(families)) if len(families) == 1 else frozenset()
    shown = [_candidate_line(c, shared) for c in item.candidates]
    line: dict[str, Any] = {
        "id": item.id,
        "prompt": item.prompt
        if isinstance(item.prompt, str)
        else [message_line(message) for message in item.prompt],
    }
    line |= {"candidate": shown[0]} if len(shown) == 1 else {"candidates": shown}
    if item.reference is not None:
        line["reference"] = item.reference
    if item.choices:
        line["choice"] = list(item.choices)
    elif item.labels:
        line["labels"] = {n: [_plain(p) for p in points] for n, points in item.labels.items()}
    if shared:
        line["family"] = _words(shared)
    if item.metadata is not None:
        line["metadata"] = dict(item.metadata)
    return line


def _plain(point: float) -> float | int:
    return int(point) if point == int(point) else point


def _words(families: frozenset[str]) -> str | list[str]:
    words = sorted(families)
    return words[0] if len(words) == 1 else words


def _candidate_line(candidate: Candidate, shared: frozenset[str]) -> str | dict[str, Any]:
    own: dict[str, Any] = {}
    if candidate.families and candidate.families != shared:
        own["family"] = _words(candidate.families)
    for name in ("policy_model", "finish_reason"):
        value = getattr(candidate, name)
        own |= {} if value is None else {name: value}
    if candidate.messages is not None:
        return {"messages": [message_line(m) for m in candidate.messages], **own}
    return {"text": candidate.text or "", **own} if own else candidate.text or ""
