"""Who wrote a candidate and how it is formatted, as far as requests and metadata tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judge_service.bias.record import Families, marks_of
from judge_service.judges.family import declared_families, families_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Of one candidate or two: marks of formatting, characters as sent, families; None where that
    is not known.
    """

    marks: tuple[int, ...] | None = None
    chars: tuple[int, ...] | None = None
    families: tuple[Families, ...] | None = None

    def with_metadata(self, metadata: object) -> Origin:
        """The same with what an outcome's metadata says of families, which wins: ``family`` or
        ``policy_model`` of one candidate, ``families`` or ``policy_models``, lists, of two.
        """
        said = _families(metadata) if isinstance(metadata, Mapping) else None
        if said is None:
            return self
        return Origin(marks=self.marks, chars=self.chars, families=said)

    def could_be(self, metrics: object) -> bool:
        """Whether an outcome with these ``metrics`` may be of these candidates: as many, and none
        longer. What is judged can be shorter than what was sent (reasoning is stripped).
        """
        if self.chars is None:
            return True
        judged = [
            metrics[name]
            for name in ("length_chars", "length_chars/first", "length_chars/second")
            if isinstance(metrics, Mapping) and isinstance(metrics.get(name), (int, float))
        ]
        return len(judged) == len(self.chars) and all(
            shown <= sent for shown, sent in zip(judged, self.chars, strict=True)
        )


def origin_of(body: Mapping[str, Any]) -> Origin:
    """What the body of a request tells of its candidates."""
    found = body["candidates"] if "candidates" in body else [body.get("candidate")]
    candidates = [c for c in found if isinstance(c, Mapping)]
    texts = [_text(candidate) for candidate in candidates]
    known = [text for text in texts if text is not None]
    whole = bool(texts) and len(known) == len(texts)
    return Origin(
        marks=tuple(map(marks_of, known)) if whole else None,
        chars=tuple(map(len, known)) if whole else None,
        families=tuple(map(_of_candidate, candidates)) or None,
    )


def _text(candidate: Mapping[str, Any]) -> str | None:
    """The text, or the last assistant's turn; None where that is not plainly a text."""
    if isinstance(candidate.get("text"), str):
        return str(candidate["text"])
    messages = candidate.get("messages")
    for message in reversed(messages) if isinstance(messages, list) else ():
        if isinstance(message, Mapping) and message.get("role") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) and not message.get("tool_calls") else None
    return None


def _of_candidate(candidate: Mapping[str, Any]) -> Families:
    named = _family(candidate.get("family"))
    return named or _model(candidate.get("policy_model"))


def _families(metadata: Mapping[str, Any]) -> tuple[Families, ...] | None:
    for name, of_one in (("families", _family), ("policy_models", _model)):
        if isinstance(metadata.get(name), list):
            return tuple(of_one(value) for value in metadata[name])
    for name, of_one in (("family", _family), ("policy_model", _model)):
        if name in metadata:
            return (of_one(metadata[name]),)
    return None


def _family(value: object) -> Families:
    words = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return frozenset[str]().union(*(declared_families(w) for w in words if isinstance(w, str)))


def _model(value: object) -> Families:
    return families_of(value) if isinstance(value, str) else frozenset()
