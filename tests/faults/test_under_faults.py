"""The fault suite in small: faulty judges, a dying Redis, stampedes and callers that hang up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.faults.chaos import chaos, outage
from benchmarks.faults.hangup import hangup
from benchmarks.faults.redis_faults import CASES, one
from benchmarks.faults.report import Report
from benchmarks.faults.stage import Stage, stage
from benchmarks.faults.stampede import stampede, stampede_of_a_failure

SEED = 20
pytestmark = pytest.mark.timeout(300)
"""Several processes start: on a busy machine that alone takes its time."""


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Stage]:
    """A service of two processes with a real Redis, its judges on the provider of the suite."""
    with stage(workers=2, with_redis=True, attempt_timeout_s=2.0) as set_up:
        yield set_up


@pytest.fixture(scope="module")
def one_worker() -> Iterator[Stage]:
    """A service of one process without Redis."""
    with stage(workers=1) as set_up:
        yield set_up


def kept(report: Report) -> None:
    """Every promise was kept."""
    assert not report.broken, report.explain()


def test_chaos(two_workers: Stage) -> None:
    """A fifth of the replies faulty and Redis killed again and again: every answer comes, none is
    wrong, hardly any fails, and few more calls are made than needed.
    """
    kept(chaos(two_workers, requests=400, seed=SEED, in_flight=32))


@pytest.mark.parametrize("name", CASES)
def test_redis_misbehaves(two_workers: Stage, name: str) -> None:
    """Whatever Redis does or holds, the right verdict comes in time, and Redis is used again."""
    kept(one(two_workers, name, CASES[name], SEED * 1000 + len(name), 6))


def test_a_stampede_on_two_workers(two_workers: Stage) -> None:
    """Many identical requests at once cost at most one upstream call per worker."""
    kept(stampede(two_workers, requests=100, seed=SEED, latency_s=0.3))


def test_a_stampede_on_one_worker(one_worker: Stage) -> None:
    """Many identical requests at once cost one upstream call, without any Redis."""
    kept(stampede(one_worker, requests=200, seed=SEED, latency_s=0.3))


def test_a_stampede_that_fails(one_worker: Stage) -> None:
    """A failure is shared with those waiting and not kept: the next caller gets a verdict."""
    kept(stampede_of_a_failure(one_worker, requests=50, seed=SEED, latency_s=0.1))


def test_callers_hang_up(one_worker: Stage) -> None:
    """Their upstream calls end within half a second, nothing leaks, the next callers are served."""
    kept(hangup(one_worker, clients=50, seed=SEED, judge_s=20.0, after=20, quiet_s=0.4))


def test_an_outage(two_workers: Stage) -> None:
    """When every reply is an error hardly a call is repeated, and service is back at once."""
    kept(outage(two_workers, requests=150, seed=SEED, in_flight=24, timeout_s=0.8))
