"""What one process remembers of its judges' traffic, and how that becomes a report."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from judge_service.bias.history import WINDOW, Pair
from judge_service.bias.record import PairRecord, PointRecord, marks_of, of_judge
from judge_service.candidate.inspection import Inspection
from judge_service.outcome import Assessed, AssessOutcome, Ranked, RankOutcome
from judge_service.rubric.rubric import Rubric

if TYPE_CHECKING:
    from judge_service.bias.report import BiasReport


class Score(NamedTuple):
    """One answer that a judge newly scored; ``value`` in [0, 1] is before length control and rules.

    ``rubric`` begins the rubric's hash.
    """

    rubric: str
    value: float
    chars: int
    marks: int


@dataclass(slots=True)
class ScoreHistory:
    """The last ``WINDOW`` answers that each judge scored; no texts are kept."""

    _scores: dict[str, deque[Score]] = field(default_factory=dict)

    def add(self, judge: str, score: Score) -> None:
        """Note one."""
        self._scores.setdefault(judge, deque(maxlen=WINDOW)).append(score)

    def scores(self) -> dict[str, tuple[Score, ...]]:
        """Those of every judge, oldest first."""
        return {judge: tuple(scores) for judge, scores in self._scores.items()}

    def assessed(self, rubric: Rubric, inspection: Inspection, outcome: AssessOutcome) -> None:
        """Note an assessment, for every judge that gave all points and did not only repeat kept
        ones.
        """
        if not isinstance(outcome, Assessed):
            return
        given: dict[str, dict[str, int]] = {}
        fresh: set[str] = set()
        for verdict in outcome.verdicts:
            if verdict.criterion is not None and verdict.point is not None:
                given.setdefault(verdict.judge, {})[verdict.criterion] = verdict.point
                fresh |= set() if verdict.cached else {verdict.judge}
        for judge in fresh:
            points = given[judge]
            if all(c.name in points for c in rubric.criteria):
                normalized = {c.name: c.points.normalized(points[c.name]) for c in rubric.criteria}
                self.add(judge, _score(rubric, normalized, inspection))

    def ranked(
        self, rubric: Rubric, inspections: Sequence[Inspection], outcome: RankOutcome
    ) -> None:
        """Note the scored members of a group that one judge was newly asked about."""
        judges = {count.judge for count in outcome.judges}
        fresh = any(count.cached < count.verdicts for count in outcome.judges)
        if not isinstance(outcome, Ranked) or len(judges) != 1 or not fresh:
            return
        (judge,) = judges
        seen: set[bytes] = set()
        for member, inspection in zip(outcome.members, inspections, strict=True):
            # Equal answers were scored once.
            key = inspection.shown.identity.key
            if member.criteria and key not in seen:
                seen.add(key)
                values = {name: result.normalized for name, result in member.criteria.items()}
                self.add(judge, _score(rubric, values, inspection))


def _score(rubric: Rubric, normalized: Mapping[str, float], inspection: Inspection) -> Score:
    weights = {c.name: c.weight or 0.0 for c in rubric.criteria}
    total = sum(weights[name] * value for name, value in normalized.items())
    shown = inspection.shown
    return Score(
        rubric=rubric.rubric_hash[:16],
        value=total / sum(weights.values()),
        chars=shown.chars,
        marks=marks_of(shown.text),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What one process remembers: pairs and scores by judge."""

    pairs: Mapping[str, Sequence[Pair]]
    scores: Mapping[str, Sequence[Score]]


def live_report(
    judges: Mapping[str, str], snapshots: Sequence[Snapshot], notes: Iterable[str] = ()
) -> BiasReport:
    """The report of what some processes remember. ``judges`` are families by id, in order."""
    from judge_service.bias.figure import LIVE_DRAWS, Resampled
    from judge_service.bias.report import BiasReport, Records, judge_bias

    pairs: list[PairRecord] = []
    points: list[PointRecord] = []
    for number, snapshot in enumerate(snapshots):
        for judge in judges:
            where = f"{number}/{judge}"
            pairs += _pairs(judge, where, snapshot.pairs.get(judge, ()))
            points += _points(judge, where, snapshot.scores.get(judge, ()))
    records = Records(pairs=pairs, points=points, families=judges)
    return BiasReport(
        source="live",
        window=WINDOW,
        processes=len(snapshots),
        notes=list(notes),
        judges=[
            judge_bias(judge, records, count_failed=False, resampled=Resampled(LIVE_DRAWS))
            for judge in judges
        ],
    )


def _pairs(judge: str, where: str, pairs: Sequence[Pair]) -> list[PairRecord]:
    return [
        of_judge(
            judge, f"{where}/{n}", {"AB": pair.ab, "BA": pair.ba},
            lengths=pair.lengths, marks=pair.marks,
        )
        for n, pair in enumerate(pairs)
    ]  # fmt: skip


def _points(judge: str, where: str, scores: Sequence[Score]) -> list[PointRecord]:
    return [
        PointRecord(
            judge=judge, item=f"{where}/{n}", rubric=score.rubric,
            value=score.value, chars=score.chars, marks=score.marks,
        )
        for n, score in enumerate(scores)
    ]  # fmt: skip
