"""One side of a drift run: a judge on a rubric."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from judge_service.drift.judgement import Judgement, NotAJudgement
from judge_service.errors import ConfigError
from judge_service.gold.item import GoldSet, Kind
from judge_service.judges.judge import Bench, JudgeSpec, fingerprint
from judge_service.rubric.library import Library
from judge_service.rubric.rubric import Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class SideInfo:
    """What a report says of a side, and what a file of runs keeps of it.

    ``scales`` are the points of each criterion, worst to best (none for pairs); ``weights`` those
    of the criteria. ``fingerprint`` is over the rubric and what of the judge can move a verdict.
    """

    judge: str
    model: str
    family: str
    rubric: str
    rubric_version: str
    rubric_hash: str
    fingerprint: str
    kind: Kind
    scales: Mapping[str, tuple[int, ...]]
    weights: Mapping[str, float]

    def check(self, judgement: Judgement) -> None:
        """Raise NotAJudgement for one that the side cannot have given."""
        if judgement.status != "judged":
            return
        if self.kind == "compare":
            if judgement.outcome is None:
                raise NotAJudgement("a judgement of a pair has an outcome")
            return
        if judgement.points.keys() != self.scales.keys():
            raise NotAJudgement(f"a judgement has points on {', '.join(self.scales)}, no others")
        for name, point in judgement.points.items():
            if point not in self.scales[name]:
                raise NotAJudgement(f"{point} is no point of {name!r}")

    def wire(self) -> dict[str, Any]:
        """JSON-ready values; ``side_info_of`` reads them back."""
        data = asdict(self)
        data["scales"] = {name: list(points) for name, points in self.scales.items()}
        return data


def side_info_of(data: Mapping[str, Any]) -> SideInfo:
    """A side from its JSON values. Raises ValueError."""
    try:
        fields = {n: data[n] for n in SideInfo.__dataclass_fields__}
        fields["scales"] = {str(n): tuple(map(int, s)) for n, s in fields["scales"].items()}
        fields["weights"] = {str(n): float(w) for n, w in fields["weights"].items()}
        return SideInfo(**fields)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a side: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A judge on a rubric, to be asked.

    ``alone`` is the rubric as one judge answers it: no panel, no second family, no escalation. What
    the judge is shown is the same, byte for byte.
    """

    judge: JudgeSpec
    rubric: Rubric
    kind: Kind

    @property
    def alone(self) -> Rubric:
        """The rubric for this one judge."""
        judging = self.rubric.judging.model_copy(
            update={
                "panel_size": 1,
                "quorum": 1,
                "fallback": "none",
                "on_unjudgeable": "failed",
                "on_inconsistent": "inconsistent",
            }
        )
        return self.rubric.model_copy(update={"judging": judging})

    @property
    def info(self) -> SideInfo:
        """What is kept of the side."""
        scaled = [c for c in self.rubric.criteria if c.scale is not None]
        return SideInfo(
            judge=self.judge.id,
            model=self.judge.model,
            family=self.judge.family_label,
            rubric=self.rubric.id,
            rubric_version=self.rubric.version,
            rubric_hash=self.rubric.rubric_hash,
            fingerprint=fingerprint(self.rubric.rubric_hash, {self.judge.id: self.judge}),
            kind=self.kind,
            scales={} if self.kind == "compare" else {c.name: c.points.values for c in scaled},
            weights={} if self.kind == "compare" else {c.name: c.weight or 0.0 for c in scaled},
        )


def find_side(said: str, gold: GoldSet, bench: Bench, library: Library) -> Side:
    """The side that ``JUDGE[,RUBRIC]`` names. Raises ConfigError.

    Without a rubric it is the one that the gold set is named after, or the only one whose criteria
    the labels are about (all of them, else some), or the only one that compares pairs.
    """
    judge_id, comma, rubric_id = (part.strip() for part in said.partition(","))
    if judge_id not in bench:
        raise ConfigError(f"there is no judge {judge_id[:80]!r}; configured: {', '.join(bench)}")
    rubric = rubric_of(gold, rubric_id if comma else None, library)
    return Side(judge=bench[judge_id], rubric=rubric, kind=kind_of(gold))


def rubric_of(gold: GoldSet, rubric_id: str | None, library: Library) -> Rubric:
    """The rubric of that id, or the one that the set is about (``find_side``). Raises ConfigError
    also where it does not ask what the items are.
    """
    kind = kind_of(gold)
    if rubric_id is not None and rubric_id not in library:
        known = ", ".join(library)
        raise ConfigError(f"there is no rubric {rubric_id[:80]!r}; known: {known}")
    rubric = _rubric_for(gold, kind, library) if rubric_id is None else library[rubric_id]
    if kind == "assess" and rubric.kind == "compare":
        raise ConfigError(
            f"rubric {rubric.id!r} compares two candidates; items of {gold.name!r} have one each"
        )
    return rubric


def kind_of(gold: GoldSet) -> Kind:
    """What the items of a set ask. Raises ConfigError for a set that mixes two kinds."""
    if len(gold.kinds) > 1:
        raise ConfigError(f"{gold.name!r} mixes single candidates and pairs; put them in two files")
    return next(iter(gold.kinds))


def _rubric_for(gold: GoldSet, kind: Kind, library: Library) -> Rubric:
    if gold.name in library and (kind == "compare" or library[gold.name].kind == "assess"):
        return library[gold.name]
    alike = [rubric for rubric in library.values() if rubric.kind == kind]
    named = [(rubric, {c.name for c in rubric.criteria}) for rubric in alike]
    fitting = (
        alike
        if kind == "compare"
        else [rubric for rubric, names in named if names == gold.criteria]
        or [rubric for rubric, names in named if names >= gold.criteria]
    )
    if len(fitting) == 1:
        return fitting[0]
    which = ", ".join(rubric.id for rubric in fitting or library.values())
    raise ConfigError(
        f"{gold.name!r} does not say which rubric it is for; name one, as in JUDGE,RUBRIC: {which}"
    )


def digest_of(*parts: object) -> str:
    """16 hex digits over what the parts say."""
    text = "\n".join(f"{len(str(part))}:{part}" for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
