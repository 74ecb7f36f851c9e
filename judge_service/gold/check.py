"""What a gold set is worth: its size, the balance of its labels, its annotators, its duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_service.gold.duplicates import duplicates
from judge_service.gold.item import GoldSet
from judge_service.gold.remarks import Remark, fault, some, warn
from judge_service.gold.scale import off_scale, scales_of
from judge_service.rubric.rubric import Rubric
from judge_service.statistics.bootstrap import Bootstrap, ratio
from judge_service.statistics.estimate import Estimate, wire
from judge_service.statistics.krippendorff import MAX_VALUES, Metric, krippendorff_alpha
from judge_service.text.counted import count_of

FEWEST, MOST = 50, 200
"""Fewer items than this tell little; more cost more than they tell."""
LARGEST_SHARE = 0.6
"""One label more often than this makes kappa low and chance high."""
GOOD_ALPHA = 0.667
"""Below this, Krippendorff advises against conclusions."""
CHOICES = ("first", "second", "tie")


@dataclass(slots=True, kw_only=True)
class LabelFigures:
    """The labels on one criterion, or of the choices: counts by label, and the annotators.

    ``annotators`` says how many items have so many labels; ``agreement`` is the share of pairs of
    annotators that gave the same label, ``alpha`` Krippendorff's (ordinal for points).
    """

    counts: dict[str, int]
    annotators: dict[int, int]
    agreement: Estimate | None
    alpha: Estimate | None

    def wire(self) -> dict[str, Any]:
        """JSON."""
        return {
            "labels": self.counts,
            "annotators": {str(k): v for k, v in self.annotators.items()},
            "agreement": wire(self.agreement),
            "alpha": wire(self.alpha),
        }


@dataclass(slots=True, kw_only=True)
class GoldFigures:
    """What ``check_gold`` found. ``passed`` is whether nothing is a fault."""

    gold: GoldSet
    labels: dict[str, LabelFigures]
    groups: int
    grouped_items: int
    with_family: int
    remarks: list[Remark] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """No fault."""
        return not any(remark.level == "fault" for remark in self.remarks)

    def wire(self) -> dict[str, Any]:
        """JSON."""
        return {
            "name": self.gold.name,
            "digest": self.gold.digest,
            "items": len(self.gold.items),
            "kinds": sorted(self.gold.kinds),
            "labels": {name: figures.wire() for name, figures in self.labels.items()},
            "groups": self.groups,
            "items_in_groups": self.grouped_items,
            "with_family": self.with_family,
            "passed": self.passed,
            "faults": [r.text for r in self.remarks if r.level == "fault"],
            "warnings": [r.text for r in self.remarks if r.level == "warning"],
        }


def check_gold(gold: GoldSet, rubric: Rubric | None = None) -> GoldFigures:
    """Look at a gold set, with a rubric whose labels it should hold where one is given."""
    sizes = Counter(item.group for item in gold.items if item.kind == "assess")
    found = GoldFigures(
        gold=gold,
        labels=_labels(gold),
        groups=sum(size > 1 for size in sizes.values()),
        grouped_items=sum(size for size in sizes.values() if size > 1),
        with_family=sum(
            any(c.families or c.policy_model for c in item.candidates) for item in gold.items
        ),
    )
    found.remarks += [
        *_size(gold),
        *duplicates(gold.items),
        *_balance(found.labels, rubric),
        *_annotators(found.labels),
        *([] if rubric is None else _against(gold, rubric)),
        *_limits(found),
    ]
    return found


def _labels(gold: GoldSet) -> dict[str, LabelFigures]:
    found = {}
    for name in sorted(gold.criteria):
        units = [item.labels[name] for item in gold.items if name in item.labels]
        found[name] = _figures(units, "ordinal")
    choices = [item.choices for item in gold.items if item.choices]
    if choices:
        found["choice"] = _figures(choices, "nominal")
    return found


def _figures(units: Sequence[Sequence[float | str]], metric: Metric) -> LabelFigures:
    counts = Counter(label for unit in units for label in unit)
    pairs = [len(unit) * (len(unit) - 1) // 2 for unit in units]
    equal = [sum(n * (n - 1) // 2 for n in Counter(unit).values()) for unit in units]
    alpha = krippendorff_alpha(units, metric=metric) if len(counts) <= MAX_VALUES else None
    order = CHOICES if metric == "nominal" else sorted(counts)
    return LabelFigures(
        counts={_name(label): counts[label] for label in order},
        annotators=dict(sorted(Counter(map(len, units)).items())),
        agreement=Bootstrap(len(units)).estimate(ratio(equal, pairs)),
        alpha=alpha,
    )


def _name(label: float | str) -> str:
    return label if isinstance(label, str) else f"{label:g}"


def _size(gold: GoldSet) -> list[Remark]:
    n = len(gold.items)
    if not n:
        return [fault("there are no items")]
    found = []
    if len(gold.kinds) > 1:
        found.append(
            fault(
                "single candidates and pairs are mixed, and no one run can use both; put them into "
                "two files"
            )
        )
    if n < FEWEST:
        found.append(
            warn(
                f"{count_of(n, 'item')}; {FEWEST} to {MOST} tell more: intervals are wide with few"
            )
        )
    elif n > MOST:
        found.append(warn(f"{n} items; more than {MOST} cost more than they tell"))
    return found


def _balance(labels: Mapping[str, LabelFigures], rubric: Rubric | None) -> list[Remark]:
    found = []
    scales = {} if rubric is None else scales_of(rubric)
    for name, figures in labels.items():
        total = sum(figures.counts.values())
        label, most = max(figures.counts.items(), key=lambda entry: entry[1])
        if most > LARGEST_SHARE * total:
            found.append(
                warn(
                    f"{name}: {most / total:.0%} of the labels are {label}; agreement will look "
                    "high and kappa low whatever the judge does"
                )
            )
        unused = [str(p) for p in scales.get(name, ()) if not figures.counts.get(str(p))]
        if unused:
            found.append(
                warn(f"{name}: nobody gave {', '.join(unused)}, so no judge is tested there")
            )
    return found


def _annotators(labels: Mapping[str, LabelFigures]) -> list[Remark]:
    found = []
    for name, figures in labels.items():
        if max(figures.annotators) < 2:
            found.append(
                warn(
                    f"{name}: one label per item; how far people agree cannot be told, and no "
                    "judge can be asked for more than they do"
                )
            )
        elif figures.alpha is not None and figures.alpha.value < GOOD_ALPHA:
            found.append(
                warn(
                    f"{name}: annotators agree too little (Krippendorff's alpha "
                    f"{figures.alpha.value:.2f}, {GOOD_ALPHA:g} is the least to conclude from)"
                )
            )
    return found


def _against(gold: GoldSet, rubric: Rubric) -> list[Remark]:
    """Whether the labels are about the rubric, and none of its anchors is an item."""
    found = []
    if rubric.kind == "compare" and "assess" in gold.kinds:
        return [fault(f"rubric {rubric.id!r} compares two candidates; the items have one each")]
    scales = scales_of(rubric)
    if "assess" in gold.kinds:
        unknown = sorted(gold.criteria - scales.keys())
        missing = sorted(scales.keys() - gold.criteria)
        if unknown:
            found.append(warn(f"{', '.join(unknown)}: no criterion of rubric {rubric.id!r}"))
        if missing:
            found.append(warn(f"{', '.join(missing)}: no item has labels on this criterion"))
    found += [fault(line) for line in off_scale(gold.items, scales)]
    shown = {anchor.candidate.strip() for anchor in rubric.anchors}
    leaked = [
        i.id for i in gold.items if any((c.text or "").strip() in shown for c in i.candidates)
    ]
    if leaked:
        found.append(warn(f"{some(leaked)}: an anchor of the rubric; the judge is told its point"))
    return found


def _limits(found: GoldFigures) -> list[Remark]:
    """What the set cannot show, however good its labels are."""
    remarks = []
    if found.gold.kinds == {"assess"} and not found.groups:
        remarks.append(
            warn(
                "no prompt has two candidates, so it cannot be told how many orderings within a "
                "group a new judge turns round"
            )
        )
    if not found.with_family:
        remarks.append(
            warn("no item names a family, so no gap for a judge's own family can be measured")
        )
    return remarks
