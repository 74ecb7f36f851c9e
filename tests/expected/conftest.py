"""A service whose judges tell token probabilities, or do not."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from judge_service.adapters.backend_router import BackendRouter
from tests.expected.support import ANYBODY, TEN, TWO
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module", params=[True, False], ids=["direct", "litellm"])
def direct(request: pytest.FixtureRequest) -> bool:
    """Whether judges are asked directly or through LiteLLM: nobody notices which."""
    return bool(request.param)


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, direct: bool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Rubrics that want expected scores; of the judges only ``mute`` is not asked for them."""
    folder = tmp_path_factory.mktemp("expected")
    write_rubric(folder, "points")
    write_rubric(folder, "quality", score="expected")
    write_rubric(folder, "ten", criteria=TEN, score="expected")
    write_rubric(folder, "two", criteria=TWO, score="expected", ask="together")
    write_rubric(folder, "weakest", criteria=TWO, score="expected", top='aggregate = "min"')
    write_rubric(folder, "panel", score="expected", panel_size=3, quorum=2)
    write_rubric(folder, "pair", kind="compare", score="expected")
    write_rubric(folder, "pair-of-points", kind="compare")
    write_rubric(folder, "escalating", kind="compare", score="expected", on_inconsistent="escalate")
    judges = Judges(provider)
    for number, judge in enumerate(ANYBODY):
        first = {"weight": 1e9} if judge == "main" else {}
        judges.add(judge, f"family-{number}", top_logprobs=20, **first)
    judges.add("five", "family-five", top_logprobs=5).add("mute", "family-mute")
    with pytest.MonkeyPatch.context() as patch:
        router = functools.partial(BackendRouter, direct=lambda _: direct)
        patch.setattr("judge_service.service.BackendRouter", router)
        with judged_by(judges, folder, breaker=False) as service:
            yield service


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> None:
    provider.reset()
