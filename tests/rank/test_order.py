"""The order of a list has no part in the rewards."""

from __future__ import annotations

import random

import pytest

from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours
from tests.provider.seen import Answer, Seen
from tests.rank.support import rank

TEXTS = [f"{n % 5 + 1} text {n}" for n in range(16)]


def noisy(seen: Seen) -> Answer:
    """Biased by position and by the whim of a pair, but the same each time."""
    whim = random.Random(repr(list(seen.candidates.values())))  # noqa: S311 - repeatable
    if seen.form != "choice":
        return seen.honest()
    first, second = (int(text[0]) for text in seen.candidates.values())
    return seen.choice(first - second + whim.gauss(0.7, 1.5) > 0)


@pytest.mark.parametrize(
    ("strategy", "rubric", "texts", "times"),
    [
        ("assess", "quality", TEXTS, 30), ("auto", "quality", TEXTS[:9], 15),
        ("pairwise", "pair", TEXTS[:6], 20), ("pairwise", "pair", TEXTS, 8),
        ("listwise", "quality", TEXTS, 20),
    ],
    ids=["assess", "auto", "all orders", "single orders", "list"],
)  # fmt: skip
def test_shuffled_lists_give_the_same_rewards(
    service: RunningService,
    provider: FakeProvider,
    strategy: str,
    rubric: str,
    texts: list[str],
    times: int,
) -> None:
    """Whatever the order, each text has its reward to the last bit, and nothing is asked twice."""
    provider.behave("main", behaviours.decides(noisy))
    prompt = new_prompt()
    draw = random.Random(5)  # noqa: S311 - repeatable
    seen: set[tuple[tuple[str, float], ...]] = set()
    calls = set()
    for _ in range(times):
        order = draw.sample(texts, len(texts))
        answer = rank(service, order, rubric=rubric, strategy=strategy, prompt=prompt)
        assert answer["status"] == "success", answer["error"]
        seen.add(tuple(sorted(zip(order, answer["rewards"], strict=True))))
        calls.add(len(provider.requests))

    assert len(seen) == 1
    assert len(calls) == 1
