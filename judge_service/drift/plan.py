"""What a drift run is about: a gold set, two sides, and how often the first is repeated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from judge_service.drift.judgement import Judgement
from judge_service.drift.side import SideInfo, digest_of
from judge_service.errors import ConfigError
from judge_service.gold.item import GoldItem, GoldSet

DEFAULT_REPEAT, MAX_REPEAT = 2, 20
SideName = Literal["baseline", "candidate"]
SIDES: tuple[SideName, SideName] = ("baseline", "candidate")
Run = Mapping[str, Judgement]
"""The judgements of one run, by item id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a judgement belongs: which side, which run (from 1), which item."""

    side: SideName
    run: int
    item: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is asked. A side of which there are recorded runs is not asked again: None."""

    gold: GoldSet
    baseline: SideInfo | None
    candidate: SideInfo | None
    repeat: int = DEFAULT_REPEAT
    cached: bool = False

    @property
    def digest(self) -> str:
        """16 hex digits: the same for the same items, sides and repeats."""
        sides = [
            None if side is None else (side.judge, side.fingerprint, side.rubric)
            for side in (self.baseline, self.candidate)
        ]
        return digest_of(self.gold.digest, sides, self.repeat, self.cached)

    def runs_of(self, side: SideName) -> int:
        """How many runs of a side are asked for."""
        if (self.baseline if side == "baseline" else self.candidate) is None:
            return 0
        return self.repeat if side == "baseline" else 1

    def places(self) -> list[tuple[Place, GoldItem]]:
        """Everything to be asked, item by item: both sides meet the same hour of the day."""
        return [
            (Place(side=side, run=run, item=item.id), item)
            for item in self.gold.items
            for side in SIDES
            for run in range(1, self.runs_of(side) + 1)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunData:
    """A side with its runs. ``recorded`` is when it was asked, for runs taken from a file."""

    side: SideInfo
    runs: tuple[Run, ...]
    recorded: str | None = None

    @property
    def first(self) -> Run:
        """The run whose numbers are compared; empty where the side was not asked about anything."""
        return self.runs[0] if self.runs else {}


def same_items(gold: GoldSet, data: RunData, where: str) -> None:
    """Raise ConfigError unless recorded runs are of exactly these items.

    A judge cannot be blamed for what was changed in the items.
    """
    recorded = {item: found.digest for run in data.runs for item, found in run.items()}
    missing = [item.id for item in gold.items if item.id not in recorded]
    changed = [i.id for i in gold.items if recorded.get(i.id, i.digest) != i.digest]
    extra = sorted(recorded.keys() - {item.id for item in gold.items})
    for what, ids in (("was changed since", changed), ("is not in it", missing)):
        if ids:
            raise ConfigError(
                f"{where}: item {ids[0]!r} {what}{_more(ids)}; both sides must judge the same items"
            )
    if extra:
        raise ConfigError(
            f"{where}: item {extra[0]!r} is not in the gold set any more{_more(extra)}; both sides "
            "must judge the same items"
        )


def same_question(baseline: SideInfo, candidate: SideInfo) -> None:
    """Raise ConfigError where the labels of two sides cannot be compared."""
    if baseline.kind != candidate.kind:
        raise ConfigError("one side judged single candidates and the other one pairs")
    if baseline.kind == "compare":
        return
    shared = baseline.scales.keys() & candidate.scales.keys()
    if not shared:
        raise ConfigError(
            f"rubrics {baseline.rubric!r} and {candidate.rubric!r} have no criterion in common"
        )
    for name in sorted(shared):
        if baseline.scales[name] != candidate.scales[name]:
            raise ConfigError(
                f"criterion {name!r} has another scale in {candidate.rubric!r} than in "
                f"{baseline.rubric!r}; their points cannot be compared"
            )


def _more(ids: list[str]) -> str:
    return f" (and {len(ids) - 1} more)" if len(ids) > 1 else ""
