"""How the service ends: what is complete is answered, what is not is let go, nothing is left."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.door.process import HEAD, STUB, Served, assess, get, gone, served
from tests.door.support import Caller, wait_for
from tests.provider import FakeProvider
from tests.provider.behaviours import held, honest

IN_FLIGHT = 20
START_S = 60.0
"""The start of a process on a busy machine, in seconds."""
END_S = 50.0
"""Enough for a busy machine to end processes, and less than requests in flight are waited for."""
BOTH = pytest.mark.parametrize("workers", ["1", "2"])


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """Every text is worth 4 points of 5."""
    with FakeProvider(tolerant=True) as fake:
        fake.oracle(lambda _: 4)
        yield fake


def holding(service: Served, stack: ExitStack) -> list[Caller]:
    """Callers whose requests the service has got, and holds."""
    callers = [stack.enter_context(service.caller()) for _ in range(IN_FLIGHT)]
    for caller in callers:
        assert caller.send(get("/")).answer().status == 200
        caller.send(get("/held"))
    return callers


def assert_ended(service: Served) -> None:
    """Exit code 0, in time, without a traceback, and no process is left."""
    code, err = service.ended(END_S)
    assert code == 0
    assert "Traceback" not in err
    wait_for(lambda: gone(list(service.family)))


@BOTH
def test_sigterm_lets_go_of_half_sent_requests(
    provider: FakeProvider, tmp_path: Path, workers: str
) -> None:
    """Half-sent and idle requests end while others are in flight, nobody new is let in, those in
    flight are answered, and the exit code is 0.
    """
    with (
        served(provider, tmp_path, "--workers", workers, before=STUB) as service,
        ExitStack() as stack,
    ):
        head, body, idle = [stack.enter_context(service.caller()) for _ in range(3)]
        for caller in (head, body, idle):
            assert caller.send(get("/")).answer().status == 200
        head.send(HEAD)
        body.send(HEAD + b'Content-Length: 100\r\n\r\n{"rubric"')
        callers = holding(service, stack)
        service.terminate()

        assert idle.closed()
        for half in (head, body):
            assert half.answer().status == 503
            assert half.closed()
        wait_for(service.is_refusing)
        (tmp_path / "go").touch()
        answers = [caller.answer() for caller in callers]

        assert [answer.status for answer in answers] == [200] * IN_FLIGHT
        assert {answer.fields["connection"] for answer in answers} == {"close"}
        assert_ended(service)


def test_sigterm_waits_for_verdicts(provider: FakeProvider, tmp_path: Path) -> None:
    """No verdict that is being asked for is lost."""
    gate = threading.Event()
    provider.behave_by_default(held(honest(), gate))
    with served(provider, tmp_path) as service, service.caller() as caller:
        caller.send(assess())
        wait_for(lambda: len(provider.requests) == 1, START_S)
        service.terminate()
        wait_for(service.is_refusing)
        gate.set()

        assert json.loads(caller.answer().body)["reward"] == 0.75
        assert_ended(service)


@BOTH
def test_a_second_sigterm_hurries(provider: FakeProvider, tmp_path: Path, workers: str) -> None:
    """What still runs is cut off: no answer is better than an invented one."""
    with (
        served(provider, tmp_path, "--workers", workers, before=STUB) as service,
        ExitStack() as stack,
    ):
        callers = holding(service, stack)
        service.terminate()
        wait_for(service.is_refusing)
        service.terminate()

        assert all(caller.closed() for caller in callers)
        assert_ended(service)


@BOTH
def test_a_hurried_stop_closes_what_is_open(
    provider: FakeProvider, tmp_path: Path, workers: str
) -> None:
    """Requests are cut off, but what is yet to be stored is not: the app's own ending is run."""
    with (
        served(provider, tmp_path, "--workers", workers, before=STUB) as service,
        ExitStack() as stack,
    ):
        pids = {one.pid for one in service.workers()} or {service.process.pid}
        callers = holding(service, stack)
        service.terminate()
        wait_for(service.is_refusing)
        service.terminate()

        assert all(caller.closed() for caller in callers)
        assert_ended(service)
        assert {path.name for path in tmp_path.glob("ended.*")} == {f"ended.{n}" for n in pids}


def test_a_hurried_stop_is_over_soon(provider: FakeProvider, tmp_path: Path) -> None:
    """Even if the app's own ending is not: that is one line, and the exit code is 0."""
    guarded = f"{STUB}; s.app = lambda _: s.GuardedStart(stub())"
    short = f"{guarded}; import judge_service.cli.hurry as h; h.HURRY_S = 0.5; h.CUT_S = 0.1"
    (tmp_path / "slow").touch()
    with served(provider, tmp_path, before=short) as service:
        service.terminate()
        wait_for(service.is_refusing)
        service.terminate()

        code, err = service.ended(END_S)
        lines = [json.loads(line) for line in err.splitlines()]
        assert code == 0
        assert [line["level"] for line in lines] == ["warning"]
        assert "not everything was closed within 0.5 s" in lines[0]["message"]


def test_a_signal_to_the_whole_group_is_no_hurry(provider: FakeProvider, tmp_path: Path) -> None:
    """Workers get it themselves and once more from their parent; requests are answered."""
    with (
        served(provider, tmp_path, "--workers", "2", before=STUB) as service,
        ExitStack() as stack,
    ):
        callers = holding(service, stack)
        service.terminate()
        for worker in service.workers():
            worker.terminate()
        wait_for(service.is_refusing)
        with pytest.raises(subprocess.TimeoutExpired):
            service.process.wait(1.0)
        (tmp_path / "go").touch()

        assert [caller.answer().status for caller in callers] == [200] * IN_FLIGHT
        assert_ended(service)


@BOTH
def test_the_grace_period_ends(provider: FakeProvider, tmp_path: Path, workers: str) -> None:
    """A request that takes longer is cut off; the exit code is 0 all the same."""
    short = f"{STUB}; s.GRACE_S = 1"
    with (
        served(provider, tmp_path, "--workers", workers, before=short) as service,
        ExitStack() as stack,
    ):
        callers = holding(service, stack)
        service.terminate()

        assert all(caller.closed() for caller in callers)
        assert_ended(service)


def test_workers_come_and_go(provider: FakeProvider, tmp_path: Path) -> None:
    """One that is killed is replaced while the other serves; with the parent all of them go."""
    with served(provider, tmp_path, "--workers", "2", before=STUB) as service:
        first = service.workers()
        assert len(first) == 2
        first[0].kill()
        first[0].wait(START_S)
        for _ in range(20):
            with service.caller() as caller:
                assert caller.send(get("/")).answer().body != str(first[0].pid).encode()
        wait_for(lambda: len(set(service.workers()) - set(first)) == 1, START_S)
        workers = service.workers()
        service.process.send_signal(signal.SIGKILL)

        wait_for(lambda: gone(workers), START_S)
        wait_for(service.is_refusing)
