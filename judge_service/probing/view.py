"""What probes need to know of a rubric, read from its content as the service shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judge_service.rubric.length import LengthControl


class NoRubric(ValueError):
    """What was shown is not a rubric of this version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionView:
    """One criterion: its question, and its points from worst to best with their meanings."""

    name: str
    question: str
    points: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricView:
    """A rubric; ``anchors`` are candidates of the best points, ``questions`` how many calls one
    assessment takes of each judge.
    """

    id: str
    kind: Literal["assess", "compare"]
    criteria: tuple[CriterionView, ...]
    anchors: tuple[str, ...]
    aggregate: Literal["weighted_mean", "min"]
    rule_weight: float
    model_weight: float
    length: LengthControl | None
    panel_size: int
    reference: Literal["optional", "required", "forbidden"]
    questions: int
    rubric_hash: str | None

    @property
    def best(self) -> int:
        """The best point there is to ask for; 5 where there are no points."""
        return max((c.points[-1][0] for c in self.criteria if c.points), default=5)


def view_of(content: Mapping[str, Any]) -> RubricView:
    """The view of a rubric's content. Raises NoRubric."""
    try:
        criteria = tuple(
            CriterionView(
                name=c["name"],
                question=c["question"],
                points=tuple((int(p["point"]), str(p["means"])) for p in c["scale"] or ()),
            )
            for c in content["criteria"]
        )
        judging, weights = content["judging"], content["weights"]
        length = content["length"]
        return RubricView(
            id=content["id"],
            kind="compare" if content["kind"] == "compare" else "assess",
            criteria=criteria,
            anchors=_best_anchors(content["anchors"], criteria),
            aggregate="min" if content["aggregate"] == "min" else "weighted_mean",
            rule_weight=float(weights["rule"]),
            model_weight=float(weights["model"]),
            length=None if length is None else LengthControl.model_validate(length),
            panel_size=int(judging["panel_size"]),
            reference=_reference(judging["reference"]),
            questions=1 if judging["ask"] == "together" else len(criteria),
            rubric_hash=content.get("rubric_hash"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NoRubric(f"a rubric in a form that is not known here ({error})"[:200]) from None


def _reference(word: object) -> Literal["optional", "required", "forbidden"]:
    if word == "required":
        return "required"
    return "forbidden" if word == "forbidden" else "optional"


def _best_anchors(
    anchors: list[Mapping[str, Any]], criteria: tuple[CriterionView, ...]
) -> tuple[str, ...]:
    best = {c.name: c.points[-1][0] for c in criteria if c.points}
    return tuple(a["candidate"] for a in anchors if a["point"] == best.get(a["criterion"]))
