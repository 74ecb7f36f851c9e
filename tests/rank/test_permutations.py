"""Many orders of one list: the same reward for each text, and nothing asked twice."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import NamedTuple

import pytest

from judge_service.outcome import Ranked
from judge_service.request import Strategy
from tests.harness import write_rubric
from tests.rank.in_process import WhimsicalJudge, engine_of, group_of

TIMES = 1_000
FEW = 40
"""Orders for the variants of a strategy that has been ranked a thousand times."""


class Way(NamedTuple):
    """How a group is ranked, and how many verdicts that takes; None where points decide that."""

    rubric: str
    strategy: Strategy
    calls: int | None
    max_calls: int | None = None
    members: int = 16
    times: int = FEW


WAYS = {
    "points": Way("quality", "assess", 16, times=TIMES),
    "points, ties by pairs": Way("quality", "auto", None, 48, times=TIMES),
    "a list": Way("quality", "listwise", 2, times=TIMES),
    "pairs": Way("pair", "pairwise", 32, 32, times=TIMES),
    "pairs by their odds": Way("expected-pair", "pairwise", 32, 32),
    "all pairs once": Way("pair", "pairwise", 120),
    "all pairs, both orders": Way("pair", "pairwise", 56, None, 8),
    "pairs after lists": Way("listed", "pairwise", 80),
    "a few pairs after lists": Way("listed", "pairwise", 40, 40),
    "pairs of a panel": Way("panel", "pairwise", 96, 96),
    "pairs decided by another family": Way("escalating", "pairwise", None, None, 8),
    "expected points": Way("expected", "assess", 16),
    "a list of expected points": Way("expected", "listwise", 2),
    "all pairs by their odds": Way("expected-pair", "pairwise", 64),
    "all pairs by their odds, both orders": Way("expected-pair", "pairwise", 56, 56, 8),
}


def _rubrics(folder: Path) -> Path:
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "listed", pairs="after_lists")
    write_rubric(folder, "panel", kind="compare", panel_size=3, quorum=2)
    write_rubric(folder, "escalating", kind="compare", on_inconsistent="escalate")
    write_rubric(folder, "expected", score="expected")
    (folder / "anchors").mkdir()
    return write_rubric(folder, "expected-pair", kind="compare", score="expected")


@pytest.mark.timeout(600)  # a thousand rankings on a busy machine
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_all_orders_give_the_same_rewards(tmp_path: Path, way: Way) -> None:
    """Shuffled however often, a group has the same rewards, to the last bit."""
    judge = WhimsicalJudge()
    engine = engine_of(_rubrics(tmp_path), judge)
    texts = [f"{n} text number {n}" for n in range(way.members)]

    async def run() -> tuple[set[tuple[tuple[str, float], ...]], set[int]]:
        draw = random.Random(3)  # noqa: S311 - repeatable
        seen, calls = set(), set()
        for _ in range(way.times):
            order = draw.sample(texts, way.members)
            outcome = await engine.rank(
                group_of(order, way.rubric, strategy=way.strategy, max_calls=way.max_calls)
            )
            assert isinstance(outcome, Ranked)
            seen.add(tuple(sorted(zip(order, outcome.rewards, strict=True))))
            calls.add(judge.asked.total())
        return seen, calls

    seen, calls = asyncio.run(run())
    assert len(seen) == 1
    assert len({reward for _, reward in next(iter(seen))}) > 1
    # All that was asked was asked by the first of them.
    assert len(calls) == 1
    assert way.calls is None or calls == {way.calls}
