"""Whatever the group, the rubric, the budget and the judge: what always holds of a ranking."""

from __future__ import annotations

import asyncio
import json
import math
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge_service.api.answers import RankAnswer
from judge_service.errors import InvalidRequest
from judge_service.outcome import Ranked, RankOutcome
from judge_service.request import Strategy
from judge_service.wire import rank_wire
from tests.harness import write_rubric
from tests.rank.conftest import LENGTH, RULES
from tests.rank.in_process import WhimsicalJudge, engine_of, group_of

KINDS = ("assess", "compare")
RUBRICS = ["-".join(words) for words in product(
    KINDS, ("point", "expected"), ("inconsistent", "escalate"), ("none", "family"), "13"
)]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.integers(0, 30).map(lambda n: f"text {'x' * n}"), min_size=2, max_size=12),
    st.lists(
        st.sampled_from(["", "forbidden", "the same", "the  same", "**the same**", "another"]),
        min_size=2, max_size=8,
    ),
    st.integers(1, 5).map(lambda n: [*(f"forbidden {i}" for i in range(n)), "the only one"]),
    st.integers(2, 9).map(lambda n: ["all the same"] * n),
    st.just([f"{n} of sixty-four" for n in range(64)]),
)  # fmt: skip
JUDGES = st.builds(
    WhimsicalJudge,
    bias=st.sampled_from([0.0, 0.5, -3.0, 3.0]), whim=st.sampled_from([0.0, 0.7, 2.0]),
    tie=st.sampled_from([0.0, 0.5, 1.0]), fails=st.sampled_from([0.0, 0.0, 0.03, 0.3, 1.0]),
    tells=st.sampled_from([1.0, 0.8, 0.0]),
)  # fmt: skip


@pytest.fixture(scope="module")
def rubrics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rubric for every way of judging."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "anchors").mkdir()
    for rubric in RUBRICS:
        kind, score, flips, fallback, size = rubric.split("-")
        write_rubric(
            folder, rubric, kind=kind, rules=RULES, length=LENGTH if size == "3" else "",
            score=score, on_inconsistent=flips, fallback=fallback,
            normalize_formatting=fallback == "family", panel_size=int(size),
            quorum=1 if size == "1" else 2,
            pairs="after_lists" if (kind, flips) == ("assess", "escalate") else "alone",
        )  # fmt: skip
    return folder / "rubrics"


@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts=TEXTS,
    rubric=st.sampled_from(RUBRICS),
    strategy=st.sampled_from(["auto", "assess", "pairwise", "listwise"]),
    budget=st.one_of(st.none(), st.integers(0, 3), st.integers(0, 200)),
    judge=JUDGES,
    judges=st.integers(1, 3),
    seed=st.integers(0, 2**20),
)
def test_what_always_holds(
    rubrics: Path,
    texts: list[str],
    rubric: str,
    strategy: Strategy,
    budget: int | None,
    judge: WhimsicalJudge,
    judges: int,
    seed: int,
) -> None:
    """Rewards in range, equal for equal texts, whatever the order; a failure has none; and never
    more verdicts than were allowed.
    """
    engine = engine_of(rubrics, judge, judges=judges, top_logprobs=(None, 20)[seed % 2])
    if budget is None and len(texts) > 12:
        budget = 100
    shuffled = random.Random(seed).sample(texts, len(texts))  # noqa: S311 - repeatable

    async def both() -> list[RankOutcome]:
        return [
            await engine.rank(group_of(order, rubric, strategy=strategy, max_calls=budget))
            for order in (texts, shuffled)
        ]

    try:
        first, second = asyncio.run(both())
    except InvalidRequest:
        assert not judge.asked
        return
    assert budget is None or len(judge.asked) <= budget
    assert _by_text(first, texts) == _by_text(second, shuffled)
    assert len(judge.asked) == judge.asked.total() or judge.fails
    told = rank_wire(first)
    RankAnswer.model_validate(told)
    json.dumps(told, allow_nan=False)


def _by_text(outcome: RankOutcome, texts: list[str]) -> dict[str, Any]:
    """The rewards by text, or the error's code, checked against what is always so."""
    for member, text in zip(outcome.members, texts, strict=True):
        assert (member.reward is None) == (member.error is not None)
        if not text.strip() or "forbidden" in text:
            assert member.reward == 0.0
    if not isinstance(outcome, Ranked):
        assert not hasattr(outcome, "rewards")
        return {"error": outcome.error.code}
    found: dict[str, float] = {}
    for reward, text in zip(outcome.rewards, texts, strict=True):
        assert math.isfinite(reward)
        assert 0.0 <= reward <= 1.0
        assert found.setdefault(text, reward) == reward
    return found
