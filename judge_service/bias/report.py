"""The bias report: one model for ``GET /v1/bias``, for files and for terminals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from judge_service.bias.figure import RESAMPLED, Figure, Resampled, Said
from judge_service.bias.findings import findings
from judge_service.bias.length import length
from judge_service.bias.own_family import families_of, own_family
from judge_service.bias.position import position
from judge_service.bias.record import PairRecord, PointRecord
from judge_service.bias.stability import stability
from judge_service.bias.style import style


class Part(BaseModel):
    """Base of all parts of the report."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PositionBias(Part):
    """Shares of pairs with a verdict in both orders. ``preference_fairness`` is the share of
    recency minus that of primacy, in [-1, 1]. ``first_position_share`` is the share of single
    orders with a winner that the answer shown first won: 0.5 without a bias, whatever the answers
    are.
    """

    consistent: Figure | None = None
    ties: Figure | None = None
    primacy: Figure | None = None
    recency: Figure | None = None
    preference_fairness: Figure | None = None
    first_position_share: Figure | None = None


class LengthBias(Part):
    """What length does to decided pairs and to scores.

    ``longer_won_share``: of consistent wins between answers of different length. ``correlation``:
    Spearman's rho of preference and ratio of lengths. ``first_won_share`` and
    ``controlled_first_won_share``: the wins of the caller's first answer, ties as halves, as they
    are and at equal length. ``effect``: the chance of the longer answer of two that nothing else
    sets apart, longer by one standard deviation; 0.5 where length does nothing.
    ``point_correlation``: Spearman's rho of an answer's length and its score.
    """

    longer_won_share: Figure | None = None
    correlation: Figure | None = None
    first_won_share: Figure | None = None
    controlled_first_won_share: Figure | None = None
    effect: Figure | None = None
    point_correlation: Figure | None = None


class FamilyBias(Part):
    """How much more a judge likes its own kin than judges of other families do, in [-1, 1]: in
    preference over the same pairs (``gap``), in score beyond what it gives more to everybody
    (``point_gap``).
    """

    gap: Figure | None = None
    point_gap: Figure | None = None


class StyleBias(Part):
    """What markup and emoji do. ``more_markup_won_share``: of consistent wins between answers of
    different markup. ``effect``: the chance of the answer with more markup, by one standard
    deviation, at equal length. ``point_correlation``: Spearman's rho of markup and score with
    length held fixed.
    """

    more_markup_won_share: Figure | None = None
    effect: Figure | None = None
    point_correlation: Figure | None = None


class Stability(Part):
    """Of two verdicts on the same question, both asked for anew, how often they are equal."""

    choices: Figure | None = None
    points: Figure | None = None


class JudgeBias(Part):
    """One judge's figures, over ``pairs`` with a verdict in both orders and ``answers`` with a
    score. ``failed_pairs`` lack a verdict in an order, null where that is not known. ``reasons``
    says of each figure that is null why; ``findings`` are what the intervals show, in sentences.
    """

    judge: str
    family: str
    pairs: int
    failed_pairs: int | None = None
    answers: int = 0
    position: PositionBias = PositionBias()
    length: LengthBias = LengthBias()
    own_family: FamilyBias = FamilyBias()
    style: StyleBias = StyleBias()
    stability: Stability = Stability()
    reasons: dict[str, str] = Field(default_factory=dict)
    findings: list[str] = Field(default_factory=list)


class BiasReport(Part):
    """The report. ``window`` is how many pairs and answers of a judge a process looks back on, null
    for files; ``processes`` how many processes of a service are in it. ``panel`` is what panels
    came to together, null where every outcome is one judge's. ``outcomes`` counts what was read.
    """

    source: Literal["live", "results"]
    window: int | None = None
    processes: int | None = None
    outcomes: dict[str, int] | None = None
    notes: list[str] = Field(default_factory=list)
    judges: list[JudgeBias]
    panel: JudgeBias | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """All records of all judges, repeats included, in the order they came; ``families`` are the
    labels of the judges.
    """

    pairs: Sequence[PairRecord]
    points: Sequence[PointRecord]
    families: Mapping[str, str]

    def of(self, judge: str) -> Records:
        """Those of one judge."""
        return Records(
            pairs=[p for p in self.pairs if p.judge == judge],
            points=[p for p in self.points if p.judge == judge],
            families=self.families,
        )


def judge_bias(
    judge: str,
    records: Records,
    *,
    count_failed: bool = True,
    resampled: Resampled = RESAMPLED,
) -> JudgeBias:
    """The figures of one judge, or of the ``PANEL``, among ``records``.

    A pair or an answer that was judged again counts once, by its first verdict; repeats are for
    stability.
    """
    own = records.of(judge)
    family = records.families.get(judge, "")
    lineages = {name: families_of(label) for name, label in records.families.items()}
    pairs = _once((p.item, p) for p in own.pairs if p.outcome is not None)
    points = _once(((p.rubric, p.item), p) for p in own.points)
    said = {
        "position": position(pairs, resampled),
        "length": length(pairs, points, resampled),
        "own_family": own_family(judge, lineages, records.pairs, records.points, resampled),
        "style": style(pairs, points, resampled),
        "stability": stability(own.pairs, own.points, resampled),
    }
    sections: dict[str, Any] = {
        name: {figure: v for figure, v in found.items() if isinstance(v, Figure)}
        for name, found in said.items()
    }
    known = {pair.item for pair in pairs}
    failed = {p.item for p in own.pairs if p.outcome is None} - known
    return JudgeBias(
        judge=judge or "panel",
        family=family,
        pairs=len(pairs),
        failed_pairs=len(failed) if count_failed else None,
        answers=len(points),
        reasons=_reasons(said),
        findings=findings(said, own_family_of=family),
        **sections,
    )


R = TypeVar("R")


def _once(records: Iterable[tuple[object, R]]) -> list[R]:
    first: dict[object, R] = {}
    for key, record in records:
        first.setdefault(key, record)
    return list(first.values())


def _reasons(said: Mapping[str, Mapping[str, Said]]) -> dict[str, str]:
    return {
        f"{section}.{name}": value.reason
        for section, found in said.items()
        for name, value in found.items()
        if not isinstance(value, Figure)
    }
