"""Seen items of a file of drift runs."""

from __future__ import annotations

from judge_service.drift.journal import Recorded
from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import SIDES, RunData, same_items
from judge_service.errors import ConfigError
from judge_service.gold.item import GoldItem, GoldSet
from judge_service.review.seen import Pool, Said, Seen, spread


def pool_of_runs(gold: GoldSet, recorded: Recorded, where: str) -> Pool:
    """What the runs of ``gold`` hold. Raises ConfigError where they are of other items.

    What has no label in the first run of a side (failed, ended by a rule, not asked) is left out.
    """
    sides = [
        data for name in SIDES if name in recorded.sides and (data := recorded.data(name)).runs
    ]
    if not sides:
        raise ConfigError(f"{where}: holds no judgements")
    for data in sides:
        same_items(gold, data, where)
    seen = [one for item in gold.items if (one := _seen(item, sides)) is not None]
    latest = sides[-1].side
    return Pool(
        name=gold.name,
        kind=latest.kind,
        rubric=latest.rubric,
        rubric_hash=latest.rubric_hash,
        scales=dict(latest.scales),
        seen=tuple(seen),
        left_out=len(gold.items) - len(seen),
    )


def _seen(item: GoldItem, sides: list[RunData]) -> Seen | None:
    firsts = [(data.side.judge, data.first.get(item.id)) for data in sides]
    said = [Said(judge=n, judgement=j) for n, j in firsts if j is not None and j.status == "judged"]
    if len(said) < len(sides):
        return None
    return Seen(item=item, said=tuple(said), unsteady=max(_unsteady(item, data) for data in sides))


def _unsteady(item: GoldItem, data: RunData) -> float:
    runs = [j for run in data.runs if (j := run.get(item.id)) is not None and j.status == "judged"]
    if data.side.kind == "compare":
        return float(any(_turned(one, runs[0]) for one in runs))
    return spread([one.score for one in runs if one.score is not None])


def _turned(one: Judgement, first: Judgement) -> bool:
    return one.outcome == "inconsistent" or one.outcome != first.outcome
