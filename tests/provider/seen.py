"""One request as a scripted judge sees it: the decoded envelope and what the oracle says of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .envelope_reader import Envelope, FormKind

Answer = int | str | dict[str, int]
"""A score, a choice, or scores by criterion or slot."""

Oracle = Callable[[str], int]
"""The honest score of a decoded candidate text."""


class OracleError(LookupError):
    """The oracle was asked about a text it was not told of."""


def text_hash(text: str) -> str:
    """The key under which the oracle knows a candidate text: its SHA-256, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def table_oracle(scores: Mapping[str, int], default: int | None = None) -> Oracle:
    """An oracle from a table of :func:`text_hash`; an unknown text is ``default``, or an error."""

    def ask(text: str) -> int:
        score = scores.get(text_hash(text), default)
        if score is None:
            raise OracleError(f"no score for the candidate text {text[:80]!r}")
        return score

    return ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What reached the provider, decoded.

    ``n`` counts the requests for this model from 1. ``body`` and ``headers`` (lower-case names) are
    the HTTP request's; ``system`` and ``user`` its two messages as sent.
    """

    model: str
    n: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    system: str
    user: str
    envelope: Envelope
    oracle: Oracle | None

    @property
    def slots(self) -> Mapping[str, str]:
        """The decoded text of each block, in the order shown."""
        return self.envelope.slots

    @property
    def nonce(self) -> str:
        """The nonce of all blocks."""
        return self.envelope.nonce

    @property
    def v(self) -> str:
        """The token that must open the verdict."""
        return self.envelope.form.v

    @property
    def end(self) -> str:
        """The token that must close the verdict."""
        return self.envelope.form.end

    @property
    def form(self) -> FormKind:
        """What is asked for: ``score``, ``choice`` or ``scores``."""
        return self.envelope.form.kind

    @property
    def allowed(self) -> tuple[int | str, ...]:
        """The values offered; of several scores, those of the first."""
        form = self.envelope.form
        return form.allowed or next(iter(form.fields.values()))

    @property
    def fields(self) -> Mapping[str, tuple[int, ...]]:
        """The points offered for each key when several scores are asked for."""
        return self.envelope.form.fields

    @property
    def candidates(self) -> dict[str, str]:
        """The slots that hold candidates, with their texts."""
        return {slot: text for slot, text in self.slots.items() if slot.startswith("candidate")}

    @property
    def candidate(self) -> str:
        """The text of the only candidate, or of the first one."""
        return next(iter(self.candidates.values()))

    def score_of(self, text: str) -> int:
        """The honest score of a text; without an oracle, a point that only the text decides."""
        if self.oracle is not None:
            return self.oracle(text)
        points = [value for value in self.allowed if isinstance(value, int)] or [1, 2, 3, 4, 5]
        return points[int(text_hash(text)[:8], 16) % len(points)]

    def honest(self) -> Answer:
        """The verdict of a judge that knows: of a pair, the higher score; equal ones are a tie."""
        if self.form == "score":
            return self.score_of(self.candidate)
        if self.form == "choice":
            first, second = (self.score_of(text) for text in self.candidates.values())
            return "tie" if first == second else self.choice(first > second)
        texts = self.candidates
        return {key: self.score_of(texts.get(key, self.candidate)) for key in self.fields}

    def choice(self, first: bool) -> str:
        """The name of the first slot shown, or of the second."""
        return list(self.candidates)[0 if first else 1]

    def best(self) -> Answer:
        """The highest verdict there is; of a pair, the first candidate."""
        return self._edge(max, first=True)

    def worst(self) -> Answer:
        """The lowest verdict there is; of a pair, the second candidate."""
        return self._edge(min, first=False)

    def _edge(self, edge: Callable[[tuple[int, ...]], int], *, first: bool) -> Answer:
        if self.form == "choice":
            return self.choice(first)
        if self.form == "scores":
            return {key: edge(values) for key, values in self.fields.items()}
        return edge(tuple(value for value in self.allowed if isinstance(value, int)))

    def another(self, answer: Answer) -> Answer:
        """A verdict on the scale that is not ``answer``: what a draft would have said."""
        if isinstance(answer, dict):
            return {
                key: next(value for value in values if value != answer.get(key))
                for key, values in self.fields.items()
            }
        return next(value for value in self.allowed if value != answer)
