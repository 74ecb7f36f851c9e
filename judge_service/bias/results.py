"""From outcomes, as batches write them, to records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from judge_service.bias.origin import Origin
from judge_service.bias.record import (
    PANEL,
    PairRecord,
    PointRecord,
    of_judge,
    of_panel,
)
from judge_service.bias.report import BiasReport, Records, judge_bias
from judge_service.outcome import Choice, Order, PairOutcome

Scales = Mapping[tuple[str, str], Sequence[int]]
"""The points of a scale, worst to best, by rubric hash and criterion."""


class NotAnOutcome(ValueError):
    """A line is not what a batch or the service writes; the message says why."""


class _Scored(NamedTuple):
    """An assessment, until the whole file has told what its points are worth."""

    item: str
    rubric: str
    weights: dict[str, float]
    together: float
    points: dict[str, dict[str, int]]
    fresh: dict[str, dict[str, int]]
    chars: int
    origin: Origin


@dataclass(slots=True, kw_only=True)
class Reading:
    """Takes outcomes one by one; ``report`` says what they show."""

    scales: Scales = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    _pairs: list[PairRecord] = field(default_factory=list)
    _scored: list[_Scored] = field(default_factory=list)
    _families: dict[str, str] = field(default_factory=dict)
    _worth: dict[tuple[str, str], dict[int, float]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def take(self, item: str, outcome: Mapping[str, Any], origin: Origin | None = None) -> None:
        """Take one outcome; ``item`` names what was asked. Raises NotAnOutcome."""
        origin = (origin or Origin()).with_metadata(outcome.get("metadata"))
        if outcome.get("status") not in ("success", "failed"):
            raise NotAnOutcome("no outcome: neither success nor failed")
        if "rewards" in outcome:
            # A group tells the sums of its pairs and no single verdict.
            self.counts["groups_left_out"] += 1
            return
        self.counts["outcomes"] += 1
        self.counts["failed"] += outcome["status"] == "failed"
        try:
            self._take(item, outcome, origin)
        except NotAnOutcome:
            raise
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise NotAnOutcome(f"not an outcome of this service ({type(error).__name__})") from None

    def report(self) -> BiasReport:
        """What all of them show, judge by judge."""
        points = [record for scored in self._scored for record in self._points(scored)]
        records = Records(pairs=self._pairs, points=points, families=self._families)
        panel = records.of(PANEL)
        return BiasReport(
            source="results",
            outcomes=dict(self.counts),
            notes=self._notes(),
            judges=[judge_bias(judge, records) for judge in self._families],
            panel=judge_bias(PANEL, records) if panel.pairs or panel.points else None,
        )

    def _notes(self) -> list[str]:
        notes = []
        if left_out := self.counts["scores_left_out"]:
            notes.append(
                f"{left_out} scores were left out: the files do not tell what their points are "
                "worth; name the folder of their rubrics"
            )
        if left_out := self.counts["groups_left_out"]:
            notes.append(f"{left_out} groups were left out: a ranking tells no single verdict")
        return notes

    def _take(self, item: str, outcome: Mapping[str, Any], origin: Origin) -> None:
        for verdict in outcome["verdicts"]:
            self._families[str(verdict["judge"])] = str(verdict["family"])
        if outcome["short_circuited"]:
            self.counts["short_circuited"] += 1
        elif "orders" in outcome:
            self._take_pair(item, outcome, origin)
        else:
            self._take_score(item, outcome, origin)

    def _take_pair(self, item: str, outcome: Mapping[str, Any], origin: Origin) -> None:
        cached = {(v["judge"], v["order"]) for v in outcome["verdicts"] if v["cached"]}
        orders: dict[str, dict[Order, Choice | None]] = defaultdict(dict)
        for order in outcome["orders"]:
            orders[str(order["judge"])][_order(order["order"])] = _choice(order["choice"])
        pairs = [
            of_judge(
                judge, item, given,
                lengths=_lengths(outcome["metrics"]), marks=_two(origin.marks),
                families=_two(origin.families) or (frozenset(), frozenset()),
                cached=[o for o in given if (judge, o) in cached],
            )
            for judge, given in orders.items()
        ]  # fmt: skip
        for judge in orders:
            self._families.setdefault(judge, "")
        self._pairs += pairs
        if len(pairs) > 1:
            self._pairs.append(of_panel(pairs, _outcome(outcome["outcome"])))

    def _take_score(self, item: str, outcome: Mapping[str, Any], origin: Origin) -> None:
        rubric = str(outcome["rubric_hash"])
        weights = {}
        together = 0.0
        for name, result in outcome["criteria"].items():
            weights[name] = float(result["weight"])
            worth = self._worth[rubric, name][int(result["point"])] = float(result["normalized"])
            together += weights[name] * worth
        if outcome["status"] == "failed" or not sum(weights.values()):
            return
        points: dict[str, dict[str, int]] = defaultdict(dict)
        fresh: dict[str, dict[str, int]] = defaultdict(dict)
        for verdict in outcome["verdicts"]:
            judge, name, point = verdict["judge"], verdict["criterion"], int(verdict["point"])
            points[judge][name] = point
            if not verdict["cached"]:
                fresh[judge][name] = point
        chars = int(outcome["metrics"]["length_chars"])
        self._scored.append(
            _Scored(
                item,
                rubric,
                weights,
                together / sum(weights.values()),
                points,
                fresh,
                chars,
                origin,
            )
        )

    def _points(self, scored: _Scored) -> Iterator[PointRecord]:
        """The records of one answer: of each judge that gave all its points, and of a panel."""
        origin = scored.origin
        common: dict[str, Any] = {
            "item": scored.item,
            "rubric": scored.rubric,
            "chars": scored.chars,
            "marks": None if origin.marks is None else origin.marks[0],
            "families": frozenset() if origin.families is None else origin.families[0],
        }
        for judge, points in scored.points.items():
            value = self._value(scored, points)
            if value is None:
                self.counts["scores_left_out"] += 1
            else:
                yield PointRecord(judge=judge, value=value, fresh=scored.fresh[judge], **common)
        if len(scored.points) > 1:
            yield PointRecord(judge=PANEL, value=scored.together, **common)

    def _value(self, scored: _Scored, points: Mapping[str, int]) -> float | None:
        """Points by weight in [0, 1]; None where one is missing or its worth is not known."""
        total = 0.0
        for name, weight in scored.weights.items():
            worth = self._worth_of(scored.rubric, name, points.get(name))
            if worth is None:
                return None
            total += weight * worth
        return total / sum(scored.weights.values())

    def _worth_of(self, rubric: str, criterion: str, point: int | None) -> float | None:
        if point is None:
            return None
        scale = self.scales.get((rubric, criterion))
        if scale is not None and point in scale:
            return scale.index(point) / (len(scale) - 1)
        return self._worth[rubric, criterion].get(point)


def _outcome(word: object) -> PairOutcome | None:
    return "inconsistent" if word == "inconsistent" else _choice(word)


def _lengths(metrics: Mapping[str, Any]) -> tuple[int, int] | None:
    try:
        return int(metrics["length_chars/first"]), int(metrics["length_chars/second"])
    except KeyError:
        return None


def _order(word: object) -> Order:
    if word not in ("AB", "BA"):
        raise NotAnOutcome("an order is AB or BA")
    return "AB" if word == "AB" else "BA"


def _choice(word: object) -> Choice | None:
    for choice in ("first", "second", "tie"):
        if word == choice:
            return choice
    if word is not None:
        raise NotAnOutcome("a choice is first, second, tie or null")
    return None


def _two(values: tuple[Any, ...] | None) -> tuple[Any, Any] | None:
    return (values[0], values[1]) if values is not None and len(values) == 2 else None
