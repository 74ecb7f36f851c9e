"""A service with judges and rubrics for every situation of an assessment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.assess.support import (
    BY_WEIGHT,
    GOOD,
    HARD_RULES,
    LENGTH,
    TWO_CRITERIA,
    WEIGHTED_RULE,
)
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges; its honest score is 4 of 1 to 5."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with judges and rubrics for every situation; without ``judges``, main judges."""
    folder = tmp_path_factory.mktemp("assess")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "ruled", rules=HARD_RULES)
    write_rubric(folder, "weighted", rules=WEIGHTED_RULE, top="", length=BY_WEIGHT)
    nearly = BY_WEIGHT.replace("0.8", "0.8000009")
    write_rubric(folder, "nearly", rules=WEIGHTED_RULE, length=nearly)
    write_rubric(folder, "two", criteria=TWO_CRITERIA)
    write_rubric(folder, "worst", criteria=TWO_CRITERIA, top='aggregate = "min"')
    write_rubric(folder, "together", criteria=TWO_CRITERIA, ask="together")
    write_rubric(folder, "short", length=LENGTH)
    write_rubric(folder, "with-thoughts", strip_reasoning=False)
    write_rubric(folder, "plain-form", normalize_formatting=True)
    write_rubric(folder, "trajectory", judged="trajectory")
    write_rubric(folder, "needs-reference", reference="required")
    write_rubric(folder, "no-reference", reference="forbidden")
    write_rubric(folder, "quorum", panel_size=3, quorum=2)
    judges = Judges(provider)
    judges.add("main", "alpha", weight=1e9, price={"input": 1.0, "output": 10.0})
    judges.add("unpriced", "beta")
    judges.add("listed", "openai", model="openai/gpt-4o-mini")
    judges.add("impatient", "gamma", attempt_timeout_s=0.15)
    judges.add("small", "delta", context_tokens=1000)
    judges.add("window", "epsilon", context_tokens=8192)
    judges.add("unsaid", "zeta")
    judges.add("silent", "eta")
    judges.add("distilled", "deepseek+qwen")
    with judged_by(judges, folder, breaker=False) as service:
        yield service


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> Iterator[None]:
    """Honest judges, no requests yet; and no envelope that a reader of its own cannot read."""
    provider.reset()
    provider.oracle({}, default=GOOD)
    yield
    assert provider.problems == []
