"""A service with a judge for each thing that it remembers of one."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from judge_service.adapters.backend_router import BackendRouter
from judge_service.settings import Settings
from tests.backend.support import GOOD, JUDGES, KEY, KEY_VARIABLE, LEAK, Call, caller
from tests.harness import Judges, RunningService, serve, write_rubric
from tests.provider import FakeProvider


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges; its honest score is 4 of 1 to 5."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module", params=[True, False], ids=["direct", "litellm"])
def direct(request: pytest.FixtureRequest) -> bool:
    """Whether judges are asked directly or through LiteLLM: nobody notices which."""
    return bool(request.param)


@pytest.fixture
def call(direct: bool) -> Call:
    """Calls the backend itself."""
    return caller(direct)


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, direct: bool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A judge for each thing that a service remembers of one; the environment has other keys."""
    folder = tmp_path_factory.mktemp("backend")
    write_rubric(folder)
    more: dict[str, dict[str, object]] = {
        "keyed": {"api_key_env": KEY_VARIABLE},
        "text": {"reply": "text"},
        "object": {"reply": "json_object"},
        "extra": {"extra": {"top_p": 0.5, "seed": 7}, "temperature": 0.3, "max_output_tokens": 77},
        "effort": {"reasoning_effort": "low"},
        "priced": {"price": {"input": 1.0, "output": 2.0}},
    }
    judges = Judges(provider)
    for number, judge in enumerate(JUDGES):
        judges.add(judge, f"family-{number}", **more.get(judge, {}))
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("OPENAI_API_KEY", "AZURE_API_KEY", "LITELLM_API_KEY"):
            patch.setenv(variable, LEAK)
        router = functools.partial(BackendRouter, direct=lambda _: direct)
        patch.setattr("judge_service.service.BackendRouter", router)
        settings = Settings(
            judges=judges.write(folder), rubrics_dir=folder / "rubrics", anchors_dir=folder
        )
        with serve(settings, {KEY_VARIABLE: KEY}, breaker=False) as service:
            yield service


@pytest.fixture(scope="module")
def plain() -> Iterator[FakeProvider]:
    """A provider that answers "plain" to whatever it is asked."""
    with FakeProvider(plain="plain") as provider:
        yield provider


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> None:
    """Honest judges, no requests yet."""
    provider.reset()
    provider.oracle({}, default=GOOD)
