"""Seen items of a batch and the results that were made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judge_service.drift.judgement import Judgement
from judge_service.errors import ConfigError
from judge_service.gold.item import GoldItem, Kind
from judge_service.request import AssessRequest, CompareRequest
from judge_service.review.seen import Pool, Said, Seen, spread
from judge_service.rubric.rubric import Rubric

_ID = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


class NotAResult(ValueError):
    """A line is not what a batch writes; the message says why."""


@dataclass(slots=True)
class Batch:
    """Takes the outcomes of one batch or of several that asked about the same items.

    ``rubrics`` are those that can be had, by their hash.
    """

    rubrics: Mapping[str, Rubric]
    _items: dict[int, GoldItem] = field(default_factory=dict)
    _said: dict[int, list[Said]] = field(default_factory=dict)
    _apart: dict[int, float] = field(default_factory=dict)
    _rubric: Rubric | None = None
    left_out: int = 0

    def take(
        self, index: int, own_id: object, request: AssessRequest | CompareRequest,
        outcome: Mapping[str, Any],
    ) -> None:  # fmt: skip
        """One outcome and the request it came of. Raises NotAResult.

        What has no label (failed, or ended by a rule) is left out and counted.
        """
        if outcome.get("status") not in ("success", "failed") or "rewards" in outcome:
            raise NotAResult("no outcome of an assessment or a comparison")
        try:
            if outcome["status"] == "failed" or outcome["short_circuited"]:
                self.left_out += 1
                return
            rubric = self._one_rubric(str(outcome["rubric_hash"]))
            item = self._items.setdefault(index, _item(index, own_id, request))
            said, apart = _read(item, outcome, rubric)
        except NotAResult:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise NotAResult(f"not an outcome of this service ({type(error).__name__})") from None
        self._said.setdefault(index, []).append(said)
        self._apart[index] = max(self._apart.get(index, 0.0), apart)

    def pool(self, name: str) -> Pool:
        """All that was taken. Raises ConfigError where nothing of it has a label."""
        rubric = self._rubric
        kinds = {item.kind for item in self._items.values()}
        if rubric is None or not kinds:
            raise ConfigError(f"{name}: no outcome has a verdict")
        if len(kinds) > 1:
            raise ConfigError(f"{name}: mixes single candidates and pairs; review them apart")
        kind: Kind = next(iter(kinds))
        scaled = [c for c in rubric.criteria if c.scale is not None]
        return Pool(
            name=name,
            kind=kind,
            rubric=rubric.id,
            rubric_hash=rubric.rubric_hash,
            scales={} if kind == "compare" else {c.name: c.points.values for c in scaled},
            seen=tuple(
                Seen(item=item, said=tuple(self._said[index]), unsteady=self._apart[index])
                for index, item in _named_once(self._items)
                if index in self._said
            ),
            left_out=self.left_out,
        )

    def _one_rubric(self, rubric_hash: str) -> Rubric:
        rubric = self.rubrics.get(rubric_hash)
        if rubric is None:
            raise NotAResult(
                f"its rubric (hash {rubric_hash[:16]!r}) is not there in that version; name its "
                "folder with --rubrics-dir and --anchors-dir"
            )
        if self._rubric is not None and self._rubric.rubric_hash != rubric_hash:
            raise NotAResult(
                f"its rubric is {rubric.id!r}, that of the lines before {self._rubric.id!r}; "
                "review them apart"
            )
        self._rubric = rubric
        return rubric


def _named_once(items: Mapping[int, GoldItem]) -> list[tuple[int, GoldItem]]:
    """The items in order; one whose id is taken gets its index."""
    taken: set[str] = set()
    found = []
    for index, item in sorted(items.items()):
        name = item.id if item.id not in taken else f"item-{index}"
        while name in taken:
            name += "-"
        taken.add(name)
        found.append((index, item if name == item.id else replace(item, id=name)))
    return found


def _item(index: int, own_id: object, request: AssessRequest | CompareRequest) -> GoldItem:
    name = "" if own_id is None else str(own_id)
    shown = (request.candidate,) if isinstance(request, AssessRequest) else request.candidates
    return GoldItem(
        id=name if _ID.fullmatch(name) else f"item-{index}",
        prompt=request.prompt,
        candidates=tuple(replace(candidate, id=None) for candidate in shown),
        reference=request.reference,
    )


def _read(item: GoldItem, outcome: Mapping[str, Any], rubric: Rubric) -> tuple[Said, float]:
    verdicts: Sequence[Mapping[str, Any]] = outcome["verdicts"]
    judges = list(dict.fromkeys(str(v["judge"]) for v in verdicts))
    reasons = {
        ", ".join(str(v[n]) for n in ("judge", "criterion", "order") if v.get(n)): str(v["reason"])
        for v in verdicts
    }
    common: dict[str, Any] = {
        "item": item.id, "digest": item.digest, "status": "judged", "reasons": reasons,
    }  # fmt: skip
    if item.kind == "compare":
        if outcome["outcome"] not in ("first", "second", "tie", "inconsistent"):
            raise NotAResult("an outcome is first, second, tie or inconsistent")
        made = Judgement(outcome=outcome["outcome"], **common)
        apart = float(made.outcome == "inconsistent")
    else:
        made = Judgement(
            points={str(n): int(one["point"]) for n, one in outcome["criteria"].items()},
            reward=float(outcome["reward"]),
            score=float(outcome["metrics"]["model_score"]),
            **common,
        )
        apart = _apart(verdicts, rubric)
    return Said(judge="+".join(judges) or "kept", judgement=made), apart


def _apart(verdicts: Sequence[Mapping[str, Any]], rubric: Rubric) -> float:
    """How far the members of a panel are apart on one criterion at most, in [0, 1]."""
    worth: dict[str, list[float]] = {}
    for criterion in rubric.criteria:
        values = criterion.points.values
        worth[criterion.name] = [
            values.index(int(v["point"])) / (len(values) - 1)
            for v in verdicts
            if v.get("criterion") == criterion.name
        ]
    return max(map(spread, worth.values()), default=0.0)
