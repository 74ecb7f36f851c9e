"""One human-labelled item, and a set of them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any, Literal

from judge_service.outcome import Choice
from judge_service.types import Candidate, Prompt

Kind = Literal["assess", "compare"]


@dataclass(frozen=True, kw_only=True)
class GoldItem:
    """One candidate with points by criterion, or two with choices; one label per annotator.

    Annotators are told apart by their place in the list. ``candidates`` has one member for points
    and two for choices; their ``families`` are whose models wrote them, where that is known.
    """

    id: str
    prompt: Prompt
    candidates: tuple[Candidate, ...]
    reference: str | None = None
    labels: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    choices: tuple[Choice, ...] = ()
    metadata: Mapping[str, Any] | None = None

    @property
    def kind(self) -> Kind:
        """Which question the item can put to a judge."""
        return "assess" if len(self.candidates) == 1 else "compare"

    @cached_property
    def digest(self) -> str:
        """16 hex digits over what a judge is shown; labels, families and ids are no part of it."""
        shown = [
            self.prompt if isinstance(self.prompt, str) else [asdict(m) for m in self.prompt],
            [
                c.text if c.messages is None else [asdict(m) for m in c.messages]
                for c in self.candidates
            ],
            self.reference,
        ]
        return _digest(shown)

    @cached_property
    def group(self) -> str:
        """The same for all items that are candidates for one prompt and reference."""
        prompt = self.prompt if isinstance(self.prompt, str) else [asdict(m) for m in self.prompt]
        return _digest([prompt, self.reference])

    def human(self, criterion: str) -> float | None:
        """The human value on a criterion: the mean of its points; None without any."""
        points = self.labels.get(criterion)
        return fmean(points) if points else None

    @property
    def human_choice(self) -> Choice | None:
        """The choice that most annotators made; None where no one choice has the most votes."""
        return majority(self.choices)


def majority(choices: Sequence[Choice]) -> Choice | None:
    """The one choice with the most votes; None where there is none."""
    votes = Counter(choices).most_common(2)
    if not votes or (len(votes) > 1 and votes[0][1] == votes[1][1]):
        return None
    return votes[0][0]


@dataclass(frozen=True, kw_only=True)
class GoldSet:
    """Items of one file, with different ids."""

    name: str
    items: tuple[GoldItem, ...]

    @cached_property
    def digest(self) -> str:
        """16 hex digits over ids and digests of all items, whatever their order."""
        return _digest(sorted([item.id, item.digest] for item in self.items))

    @property
    def kinds(self) -> frozenset[Kind]:
        """Of which kinds the items are."""
        return frozenset(item.kind for item in self.items)

    @cached_property
    def criteria(self) -> frozenset[str]:
        """All criteria that some item has points for."""
        return frozenset(name for item in self.items for name in item.labels)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
