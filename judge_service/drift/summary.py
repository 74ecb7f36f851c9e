"""What a report says of one side as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge_service.drift.data import Lined, failures, spent
from judge_service.drift.plan import RunData
from judge_service.gold.item import GoldItem
from judge_service.pairwise import PREFERENCE
from judge_service.statistics.bootstrap import Bootstrap
from judge_service.statistics.estimate import wire
from judge_service.statistics.shift import mean


def side_summary(lined: Lined, data: RunData, *, seed: int) -> dict[str, Any]:
    """One side: who judged with which rubric, which models answered, what failed, the mean score.

    ``served_model_changed`` is whether the same model name was served by other models than on the
    baseline's side; None where the names differ.
    """
    items = lined.gold.items
    first = data.first
    counted = [first[item.id].status for item in items if item.id in first]
    served = sorted(
        {model for run in data.runs for found in run.values() for model in found.served}
    )
    before = sorted({m for run in lined.baseline.runs for j in run.values() for m in j.served})
    alike = data.side.model == lined.baseline.side.model
    return {
        **data.side.wire(),
        "gold": lined.gold.name,
        "gold_digest": lined.gold.digest,
        "models_served": served,
        "served_model_changed": bool(served and before and served != before) if alike else None,
        "runs": len(data.runs),
        "recorded": data.recorded,
        "judged": counted.count("judged"),
        "failed": len(items) - counted.count("judged") - counted.count("short_circuited"),
        "failures": failures(first, items),
        "short_circuited": counted.count("short_circuited"),
        "mean": _mean(data, items, seed=seed),
        "usage": spent(data.runs),
    }


def _mean(data: RunData, items: Sequence[GoldItem], *, seed: int) -> dict[str, Any] | None:
    """The mean score in [0, 1] (of pairs: the first one's share of wins), with both bounds: every
    failed item at the worst, and every one at the best. An inconsistent pair is nobody's win.
    """
    values = []
    failed = 0
    for item in items:
        found = data.first.get(item.id)
        if found is None or found.status == "failed":
            failed += 1
        elif found.status == "judged":
            value = PREFERENCE[found.outcome] if found.outcome else found.score
            values += [] if value is None else [value]
    estimate = wire(mean(values, draws=Bootstrap(len(values), seed=seed)))
    if estimate is None:
        return None
    total, n = sum(values), len(values) + failed
    return {**estimate, "n": len(values), "bounds": [total / n, (total + failed) / n]}
