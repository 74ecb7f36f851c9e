"""A real service, and base classes of Gym's that can be imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.clients import stub_nemo_gym
from tests.clients.digits import Digits, digits


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Digits]:
    """A real service."""
    with digits(tmp_path_factory.mktemp("gym")) as found:
        yield found


@pytest.fixture
def judged(running: Digits) -> Digits:
    """The same, with an honest judge."""
    running.reset()
    return running


@pytest.fixture(autouse=True)
def _gym(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Gym's base classes can be imported."""
    stub_nemo_gym.install(lambda name, module: monkeypatch.setitem(sys.modules, name, module))
    yield
    sys.modules.pop("judge_client.nemo_gym.server", None)
