"""A service with rubrics for groups, and judges of several families."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness import CRITERION, Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

TWO_CRITERIA = CRITERION.replace("weight = 1.0", "weight = 0.75") + CRITERION.replace(
    'name = "quality"\nweight = 1.0', 'name = "clarity"\nweight = 0.25'
)
RULES = '[[rules]]\nrule = "forbidden_text"\ntext = "forbidden"\nhard = true\n'
LENGTH = "[length]\nfree_chars = 100\nzero_chars = 300\n"


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """The judge main unless a request names others."""
    folder = tmp_path_factory.mktemp("rank")
    write_rubric(folder, rules=RULES)
    write_rubric(folder, "two", criteria=TWO_CRITERIA)
    write_rubric(folder, "pair", kind="compare", rules=RULES)
    write_rubric(folder, "short-pair", kind="compare", length=LENGTH)
    write_rubric(folder, "way-pair", kind="compare", judged="trajectory")
    write_rubric(folder, "moving", fallback="family")
    write_rubric(folder, "moving-pair", kind="compare", fallback="family")
    write_rubric(folder, "zero", on_unjudgeable="zero")
    write_rubric(folder, "short", length=LENGTH)
    write_rubric(folder, "plain-pair", kind="compare", normalize_formatting=True)
    write_rubric(folder, "panel", panel_size=3, quorum=2)
    write_rubric(folder, "panel-pair", kind="compare", panel_size=3, quorum=2)
    write_rubric(folder, "expected", score="expected")
    write_rubric(folder, "expected-pair", kind="compare", score="expected")
    write_rubric(folder, "escalating", on_inconsistent="escalate")
    for fallback in ("none", "family"):
        write_rubric(folder, f"escalating-pair-{fallback}", kind="compare",
                     on_inconsistent="escalate", fallback=fallback)  # fmt: skip
    for fallback in ("none", "family"):
        write_rubric(folder, f"listed-{fallback}", pairs="after_lists", fallback=fallback,
                     length=LENGTH)  # fmt: skip
    write_rubric(folder, "listed-two", pairs="after_lists", criteria=TWO_CRITERIA)
    write_rubric(folder, "listed-panel", pairs="after_lists", panel_size=3, quorum=2)
    write_rubric(folder, "listed-expected", pairs="after_lists", score="expected")
    judges = Judges(provider).add("main", "alpha", weight=1e9, price={"input": 1.0, "output": 1.0})
    for name, family in (("second", "beta"), ("third", "gamma"), ("failing", "delta")):
        judges.add(name, family)
    judges.add("odds", "theta", top_logprobs=20)
    with judged_by(judges, folder, breaker=False) as service:
        yield service


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> Iterator[None]:
    """Honest judges: a text's score is the digit it begins with, 3 without one."""
    provider.reset()
    provider.oracle(lambda text: int(text[0]) if text[:1].isdigit() else 3)
    yield
    assert provider.problems == []
