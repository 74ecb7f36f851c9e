"""Rubrics: a named, versioned set of criteria with rules, weights and the way of judging.

Every check is made at load, once; what is loaded can be used without further questions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    Strict,
    StrictBool,
    StrictInt,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from judge_service.rubric.anchor import Anchor
from judge_service.rubric.length import LengthControl
from judge_service.rubric.scale import Point, Scale, check_scale
from judge_service.rules import Rule, parse_rules

ID_PATTERN = r"^[a-z0-9][a-z0-9._-]{0,63}$"
SUM_TOLERANCE = 1e-6
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
MAX_CRITERIA = 16
ENVELOPE_VERSION = 1
"""Version of what a judge is sent; part of every rubric hash."""

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Share = Annotated[float, Strict(), Field(ge=0.0, le=1.0, allow_inf_nan=False)]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _no_controls(text: str) -> str:
    if _CONTROL.search(text) is not None:
        raise ValueError("must not have control characters")
    return text


NotBlank = Annotated[str, AfterValidator(_not_blank)]


class Criterion(BaseModel):
    """One atomic question. ``scale`` is present exactly in rubrics of kind assess."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
    weight: Share | None = None
    question: NotBlank = Field(max_length=4_000)
    scale: tuple[Point, ...] | None = None

    @field_validator("scale")
    @classmethod
    def _ordered(cls, scale: tuple[Point, ...] | None) -> tuple[Point, ...] | None:
        if scale is not None:
            check_scale(scale)
        return scale

    @cached_property
    def points(self) -> Scale:
        """The scale. Only criteria of an assess rubric have one."""
        if self.scale is None:
            raise ValueError(f"criterion {self.name!r} has no scale")
        return Scale(self.scale)


class Weights(BaseModel):
    """How much of the reward comes from weighted rules and how much from the judge."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Share = 0.0
    model: Share = 1.0

    @model_validator(mode="after")
    def _sum(self) -> Weights:
        if abs(self.rule + self.model - 1.0) > SUM_TOLERANCE:
            raise ValueError(f"rule and model must sum to 1, not {self.rule + self.model:g}")
        return self


class Judging(BaseModel):
    """How the judges are asked; the defaults suit a single judge per prompt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    panel_size: StrictInt = Field(default=1, ge=1, le=9)
    quorum: StrictInt = Field(default=1, ge=1, le=9)
    reference: Literal["optional", "required", "forbidden"] = "optional"
    judged: Literal["last_turn", "trajectory"] = "last_turn"
    fallback: Literal["none", "family"] = "none"
    ask: Literal["each", "together"] = "each"
    score: Literal["point", "expected"] = "point"
    pairs: Literal["alone", "after_lists"] = "alone"
    on_unjudgeable: Literal["failed", "zero"] = "failed"
    strip_reasoning: StrictBool = True
    normalize_formatting: StrictBool = False
    on_inconsistent: Literal["inconsistent", "escalate"] = "inconsistent"

    @property
    def wants_second(self) -> bool:
        """Whether a second family may be asked where the first gives no verdict."""
        return self.fallback == "family" or self.on_unjudgeable == "zero"

    @model_validator(mode="after")
    def _reachable(self) -> Judging:
        if self.quorum > self.panel_size:
            raise ValueError(
                f"quorum {self.quorum} can never be met by a panel of {self.panel_size}"
            )
        return self


def _rules(value: object, info: ValidationInfo) -> object:
    if isinstance(value, (list, tuple)) and all(isinstance(v, Mapping) for v in value):
        context = info.context or {}
        return parse_rules(value, allowed_modules=context.get("rule_modules", ()))
    return value


class Rubric(BaseModel):
    """What is judged and how it becomes a reward. Immutable; ``rubric_hash`` names its content."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    id: Id
    version: Annotated[NotBlank, AfterValidator(_no_controls)] = Field(max_length=64)
    description: NotBlank = Field(max_length=2_000)
    kind: Literal["assess", "compare"] = "assess"
    aggregate: Literal["weighted_mean", "min"] = "weighted_mean"
    weights: Weights = Weights()
    criteria: tuple[Criterion, ...]
    rules: Annotated[tuple[Rule, ...], BeforeValidator(_rules)] = ()
    length: LengthControl | None = None
    judging: Judging = Judging()
    anchors: tuple[Anchor, ...] = ()
    _ready: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _whole(self) -> Rubric:
        self._check_names()
        if self.kind == "assess":
            self._check_assess()
        else:
            self._check_compare()
        self._check_rule_weight()
        self._check_anchors()
        return self

    def _check_names(self) -> None:
        if not 1 <= len(self.criteria) <= MAX_CRITERIA:
            raise ValueError(f"criteria: 1 to {MAX_CRITERIA} of them, not {len(self.criteria)}")
        twice = [n for n, count in Counter(c.name for c in self.criteria).items() if count > 1]
        if twice:
            raise ValueError(f"criteria: the name {twice[0]!r} is used twice")

    def _check_assess(self) -> None:
        for criterion in self.criteria:
            if criterion.scale is None:
                raise ValueError(f"criteria.{criterion.name}.scale: an assess rubric needs one")
            if criterion.weight is None:
                raise ValueError(f"criteria.{criterion.name}.weight: missing")
        total = sum(c.weight or 0.0 for c in self.criteria)
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise ValueError(f"criteria: the weights must sum to 1, not {total:g}")

    def _check_compare(self) -> None:
        for criterion in self.criteria:
            if criterion.scale is not None:
                raise ValueError(
                    f"criteria.{criterion.name}.scale: a compare rubric asks for a choice, "
                    "it has no scales"
                )
        if self.judging.pairs != "alone":
            raise ValueError("judging.pairs: a compare rubric has no scale for lists")
        weights = [c.weight for c in self.criteria if c.weight is not None]
        if weights and (
            len(weights) < len(self.criteria) or abs(sum(weights) - 1.0) > SUM_TOLERANCE
        ):
            raise ValueError("criteria: give every criterion a weight, summing to 1, or none")

    def _check_rule_weight(self) -> None:
        weighted = any(rule.weight > 0 for rule in self.rules)
        if self.weights.rule > 0 and not weighted:
            raise ValueError("weights.rule: no rule has a weight, so this must be 0")
        if weighted and self.weights.rule == 0:
            raise ValueError("weights.rule: rules have weights, but their share is 0")

    def _check_anchors(self) -> None:
        for number, anchor in enumerate(self.anchors, start=1):
            fault = self.anchor_fault(anchor)
            if fault:
                raise ValueError(f"anchors[{number}].{fault}")

    def anchor_fault(self, anchor: Anchor) -> str | None:
        """What is wrong with an anchor for this rubric, ``field: message``, or None."""
        scales = {c.name: c.points.values for c in self.criteria if c.scale is not None}
        if not scales:
            return "criterion: a compare rubric has no points to anchor"
        if anchor.criterion not in scales:
            return f"criterion: no criterion {anchor.criterion!r}; there are {sorted(scales)}"
        if anchor.point not in scales[anchor.criterion]:
            offered = list(scales[anchor.criterion])
            return f"point: {anchor.point} is not on the scale of {anchor.criterion!r}: {offered}"
        return None

    @cached_property
    def rubric_hash(self) -> str:
        """SHA-256 (hex) over the whole content, the anchors and the envelope version."""
        content = {"envelope": ENVELOPE_VERSION, "rubric": self.content()}
        canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def ready(self) -> bool:
        """Whether its rules have loaded what they need."""
        return self._ready or not self.rules

    def get_ready(self) -> None:
        """Let the rules load what they need, libraries and patterns: takes some tenths of a second,
        once in a process. In any thread.
        """
        for rule in self.rules:
            rule.get_ready()
        self._ready = True

    def content(self) -> dict[str, Any]:
        """The rubric as JSON-ready values, anchors included."""
        data = self.model_dump(mode="json", exclude={"rules"})
        data["rules"] = [rule.model_dump(mode="json") for rule in self.rules]
        # What a rubric does not say makes no other rubric of it.
        if self.judging.score == "point":
            del data["judging"]["score"]
        if self.judging.pairs == "alone":
            del data["judging"]["pairs"]
        return data

    def warnings(self) -> list[str]:
        """What is allowed but likely a mistake, one sentence each."""
        found: list[str] = []
        if self.kind == "compare" and self.judging.on_unjudgeable == "zero":
            found.append(
                "judging.on_unjudgeable: zero is for assessments and does nothing in a compare "
                "rubric"
            )
        for criterion in self.criteria:
            if criterion.scale is None:
                continue
            values = criterion.points.values
            anchored = {a.point for a in self.anchors if a.criterion == criterion.name}
            missing = [str(p) for p in (values[0], values[-1]) if p not in anchored]
            if missing:
                where = "point" if len(missing) == 1 else "points"
                found.append(
                    f"criteria.{criterion.name}: no anchor at {where} {' and '.join(missing)}; "
                    "scales without anchors at both ends drift to the middle"
                )
        return found
