"""Callers that hang up: what was asked of judges for them is stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from tests.door.process import assess
from tests.door.support import Caller, wait_for
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider
from tests.provider.faults import hang

CALLERS = 50
CANCELLED_S = 5.0
"""Far less than a judge may take, and enough for a busy machine to hang up on all of them."""


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """Every text is worth 4 points of 5."""
    with FakeProvider(tolerant=True) as fake:
        fake.oracle(lambda _: 4)
        yield fake


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service that has judged once."""
    folder = tmp_path_factory.mktemp("service")
    write_rubric(folder)
    with judged_by(Judges(provider).add("alpha"), folder) as running:
        running.assess("A first answer.")
        yield running


def callers(service: RunningService, ahead: bytes = b"") -> list[Caller]:
    """Callers that have sent a request each, no two the same."""
    port = int(service.url.rsplit(":", 1)[1])
    made = [Caller(port) for _ in range(CALLERS)]
    for number, caller in enumerate(made):
        caller.send(assess(f"Answer {number} of {id(made)}.") + ahead)
    return made


def open_files() -> int:
    """How many file descriptors this process, which is also the service's, has."""
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("ahead", [b"", assess("Sent ahead.")], ids=["plain", "pipelined"])
def test_upstream_calls_end_with_their_callers(
    service: RunningService, provider: FakeProvider, ahead: bytes
) -> None:
    """At once; nothing is left open, and the next requests are served."""
    wait_for(lambda: provider.in_flight == 0)
    before = open_files()
    provider.behave_by_default(hang())
    for _ in range(2):
        asking = callers(service, ahead)
        wait_for(lambda: provider.in_flight == CALLERS)
        for caller in asking:
            caller.end()
        started = time.monotonic()
        wait_for(lambda: provider.in_flight == 0)
        took = time.monotonic() - started
        assert took < CANCELLED_S

    provider.reset()
    assert service.assess("Another answer.")["reward"] == 0.75
    wait_for(lambda: open_files() <= before + 5)


def test_a_caller_on_a_used_connection_is_noticed_too(
    service: RunningService, provider: FakeProvider
) -> None:
    """Its earlier requests change nothing."""
    provider.reset()
    with Caller(int(service.url.rsplit(":", 1)[1])) as caller:
        for number in range(3):
            assert caller.send(assess(f"Answer {number}.")).answer().status == 200
        provider.behave_by_default(hang())
        caller.send(assess("An answer that takes for ever."))
        wait_for(lambda: provider.in_flight == 1)
        caller.end()

        wait_for(lambda: provider.in_flight == 0, CANCELLED_S)
    provider.reset()
