"""The client and the examples from their folders, a service, and a stand-in for one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOUBLES = ROOT / "tests" / "clients" / "doubles"
for folder in (ROOT / "clients" / "src", ROOT / "examples" / "dashscope", DOUBLES):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from tests.clients.stand_in import StandIn  # noqa: E402
from tests.harness import Judges, RunningService, judged_by, write_rubric  # noqa: E402
from tests.provider import FakeProvider  # noqa: E402

GOOD = 4


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of whoever runs the tests do not count."""
    for name in ("URL", "API_KEY", "RUBRIC", "TIMEOUT_S", "FAMILY", "POLICY_MODEL", "PURPOSE"):
        monkeypatch.delenv(f"JUDGE_SERVICE_{name}", raising=False)


@pytest.fixture(scope="package")
def provider() -> Iterator[FakeProvider]:
    """The provider of the service's judges; its honest score is 4 of 1 to 5."""
    with FakeProvider(tolerant=True) as provider:
        provider.oracle({}, default=GOOD)
        yield provider


@pytest.fixture(scope="package")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with a rubric to assess, one to compare, and a hard rule."""
    folder = tmp_path_factory.mktemp("clients")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "short", rules='[[rules]]\nrule = "max_chars"\nlimit = 60\nhard = true\n')
    judges = Judges(provider).add("main", "alpha")
    with judged_by(judges, folder) as service:
        yield service


@pytest.fixture
def judge(provider: FakeProvider) -> FakeProvider:
    """The provider, honest again and without requests."""
    provider.reset()
    provider.oracle({}, default=GOOD)
    return provider


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    """A server that answers whatever a test tells it to."""
    with StandIn() as server:
        yield server
