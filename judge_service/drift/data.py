"""The judgements of two sides, lined up item by item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import Run, RunData
from judge_service.gold.item import GoldItem, GoldSet
from judge_service.statistics.agreement import Label
from judge_service.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One item with what the first run of each side made of it."""

    item: GoldItem
    baseline: Judgement
    candidate: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Lined:
    """Two sides over one gold set. ``judged`` are items with a label on both sides; an item that
    failed on either side has none, and one that a rule ended on either side has none to compare.
    """

    gold: GoldSet
    baseline: RunData
    candidate: RunData
    judged: tuple[Row, ...]
    failed: int
    short_circuited: int

    @property
    def n(self) -> int:
        """All items."""
        return len(self.gold.items)

    @property
    def all_rows(self) -> list[Row]:
        """All items that both sides were asked about, whatever came of it."""
        return [
            Row(item=i, baseline=self.baseline.first[i.id], candidate=self.candidate.first[i.id])
            for i in self.gold.items
            if i.id in self.baseline.first and i.id in self.candidate.first
        ]


def line_up(gold: GoldSet, baseline: RunData, candidate: RunData) -> Lined:
    """Line the first runs up. An item that was not asked about counts as failed."""
    judged, failed, short = [], 0, 0
    for item in gold.items:
        pair = baseline.first.get(item.id), candidate.first.get(item.id)
        states = {found.status if found else "failed" for found in pair}
        if "failed" in states:
            failed += 1
        elif "short_circuited" in states:
            short += 1
        elif pair[0] is not None and pair[1] is not None:
            judged.append(Row(item=item, baseline=pair[0], candidate=pair[1]))
    return Lined(
        gold=gold,
        baseline=baseline,
        candidate=candidate,
        judged=tuple(judged),
        failed=failed,
        short_circuited=short,
    )


def label(judgement: Judgement, criterion: str | None) -> Label | None:
    """The point on a criterion, or the outcome of a pair (no criterion); None without a label."""
    if judgement.status != "judged":
        return None
    return judgement.outcome if criterion is None else judgement.points.get(criterion)


def labels(run: Run, items: Iterable[GoldItem], criterion: str | None) -> list[Label | None]:
    """The labels of a run, in the order of the items."""
    return [label(run[i.id], criterion) if i.id in run else None for i in items]


def failures(run: Run, items: Sequence[GoldItem]) -> dict[str, int]:
    """How many items of a run have no verdict, by cause, the commonest first."""
    causes = Counter(
        "not_asked" if item.id not in run else run[item.id].error or ""
        for item in items
        if item.id not in run or run[item.id].status == "failed"
    )
    return dict(causes.most_common())


def spent(runs: Iterable[Run]) -> dict[str, Any]:
    """What runs cost: requests, tokens, USD (of what has a price), and the judges' seconds."""
    total, seconds, known = Usage(), 0.0, 0.0
    for run in runs:
        for judgement in run.values():
            total = total + judgement.usage
            known += judgement.usage.cost_usd or 0.0
            seconds += judgement.seconds
    return {
        "upstream_requests": total.upstream_requests,
        "prompt_tokens": total.prompt_tokens,
        "completion_tokens": total.completion_tokens,
        "cached_tokens": total.cached_tokens,
        "cost_usd": None if total.unknown_cost_calls else known,
        "unknown_cost_calls": total.unknown_cost_calls,
        "judge_seconds": round(seconds, 3),
    }
