"""From items and probes to requests, and how many verdicts they take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from judge_service.errors import ConfigError
from judge_service.probing.item import ProbeItem
from judge_service.probing.probe import Making, Probe
from judge_service.probing.view import RubricView

NOBODYS_FAMILY = "probe-item"
"""The family that probes' candidates are said to be of: no judge's, so that none is left out."""
TWIN_RUNS = 2
"""How often an honest twin is asked about: all probes of an item lean on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who is probed: one judge, or the ``panel`` that the rubric wants of several.

    ``families`` are the lineages of all of them.
    """

    name: str
    judges: tuple[str, ...]
    families: tuple[str, ...]
    panel: bool = False

    @property
    def label(self) -> str:
        """The families as one word."""
        return "+".join(self.families)


class Key(NamedTuple):
    """What a question is for: a probe's name or, of an answer judged alone, ``weak`` or ``good``;
    the item's id; the number of the run.
    """

    role: str
    item: str
    run: int


@dataclass(frozen=True, slots=True)
class Question:
    """One request; ``verdicts`` is how many verdicts of judges it takes."""

    key: Key
    kind: Literal["assess", "compare"]
    body: dict[str, Any]
    verdicts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How everything is asked. ``audit`` asks the judge past rules and cache."""

    audit: bool = True
    runs: int = 1
    timeout_s: float | None = None
    panel_size: int | None = None
    with_reference: bool = False


@dataclass(slots=True, kw_only=True)
class Plan:
    """The questions about one subject; ``items`` of every probe that applies."""

    subject: Subject
    questions: list[Question] = field(default_factory=list)
    items: dict[str, list[str]] = field(default_factory=dict)

    @property
    def verdicts(self) -> int:
        """How many verdicts all of it takes."""
        return sum(question.verdicts for question in self.questions)


def plan(
    rubric: RubricView,
    items: Sequence[ProbeItem],
    probes: Iterable[Probe],
    subject: Subject,
    how: How,
) -> Plan:
    """Every question about ``subject``. Raises ConfigError where an item lacks the reference that
    the rubric needs.
    """
    lacking = [i.id for i in items if rubric.reference == "required" and i.reference is None]
    if lacking:
        raise ConfigError(
            f"rubric {rubric.id!r} needs a reference, and the items {', '.join(lacking[:5])} have "
            "none"
        )
    made = Plan(subject=subject)
    planner = _Planner(rubric, subject, how)
    for probe in probes:
        for number, item in enumerate(items):
            questions = list(planner.attack(probe, item, number))
            if questions:
                made.items.setdefault(probe.name, []).append(item.id)
                made.questions += questions
    if rubric.kind == "assess":
        twins = {probe.twin for probe in probes if probe.make is not None}
        made.questions[:0] = [
            question
            for item in items
            for twin in sorted(twins)
            for question in planner.twin(twin, item)
        ]
    return made


@dataclass(frozen=True, slots=True)
class _Planner:
    rubric: RubricView
    subject: Subject
    how: How

    def attack(self, probe: Probe, item: ProbeItem, number: int) -> Iterator[Question]:
        """The questions of one probe about one item; none where it does not apply."""
        if probe.kind == "family":
            if number == 0:
                yield self._own_family(probe, item)
            return
        if probe.kind == "position":
            other = item.good if probe.name == "identical_pair" else item.also_good
            if other is not None:
                yield from self._pairs(probe.name, item, {"text": item.good}, {"text": other})
            return
        text = self._text(probe, item, number)
        if text is None or text == _twin(item, probe.twin):
            return
        candidate = {"text": text}
        if probe.finish_reason is not None:
            candidate["finish_reason"] = probe.finish_reason
        if self.rubric.kind == "compare":
            yield from self._pairs(probe.name, item, candidate, {"text": _twin(item, probe.twin)})
            return
        for run in range(self.how.runs):
            yield self._assess(Key(probe.name, item.id, run), item, candidate)

    def twin(self, twin: str, item: ProbeItem) -> Iterator[Question]:
        """The questions about an honest answer alone."""
        runs = max(TWIN_RUNS, self.how.runs) if self.how.audit else 1
        for run in range(runs):
            yield self._assess(Key(twin, item.id, run), item, {"text": _twin(item, twin)})

    def _text(self, probe: Probe, item: ProbeItem, number: int) -> str | None:
        assert probe.make is not None  # noqa: S101 - the others are about the request
        making = Making(
            item=item, rubric=self.rubric, number=number, judge=self.subject.name,
            family=self.subject.label, referenced="reference" in self._common(item),
        )  # fmt: skip
        return probe.make(making)

    def _pairs(
        self, role: str, item: ProbeItem, first: dict[str, Any], second: dict[str, Any]
    ) -> Iterator[Question]:
        pair = [{**candidate, "family": NOBODYS_FAMILY} for candidate in (first, second)]
        for run in range(self.how.runs):
            body = {**self._common(item), "candidates": pair, "audit": self.how.audit}
            yield Question(Key(role, item.id, run), "compare", body, 2 * self._judges())

    def _assess(self, key: Key, item: ProbeItem, candidate: dict[str, Any]) -> Question:
        body = {
            **self._common(item),
            "candidate": {**candidate, "family": NOBODYS_FAMILY},
            "audit": self.how.audit,
        }
        return Question(key, "assess", body, self.rubric.questions * self._judges())

    def _own_family(self, probe: Probe, item: ProbeItem) -> Question:
        """An answer of the family, as everybody sends it: no judge may be asked."""
        kin = {"text": item.good, "family": list(self.subject.families)}
        key, common = Key(probe.name, item.id, 0), self._common(item)
        if self.rubric.kind == "compare":
            pair = [kin, {"text": item.weak, "family": NOBODYS_FAMILY}]
            return Question(key, "compare", {**common, "candidates": pair}, 0)
        return Question(key, "assess", {**common, "candidate": kin}, 0)

    def _common(self, item: ProbeItem) -> dict[str, Any]:
        body: dict[str, Any] = {
            "rubric": self.rubric.id,
            "prompt": item.prompt,
            "judges": list(self.subject.judges),
        }
        wanted = self.rubric.reference == "required" or (
            self.how.with_reference and self.rubric.reference == "optional"
        )
        if wanted and item.reference is not None:
            body["reference"] = item.reference
        if self.how.panel_size is not None:
            body["panel_size"] = self.how.panel_size
        if self.how.timeout_s is not None:
            body["timeout_s"] = self.how.timeout_s
        return body

    def _judges(self) -> int:
        wanted = self.how.panel_size or self.rubric.panel_size
        return min(wanted, len(self.subject.judges)) if self.subject.panel else 1


def _twin(item: ProbeItem, twin: str) -> str:
    return item.good if twin == "good" else item.weak
