"""Calls without a loop of their own, where the thread or the loop that works for them cannot be."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judge_client import AssessFailed, Failure, JudgeClient
from judge_client.loop_thread import LOOP, LoopThread

from tests.clients.every_trainer import MODULES
from tests.clients.stand_in import StandIn
from tests.clients.test_garbage import well

SOURCE = Path(__file__).resolve().parents[2] / "clients" / "src"
SYNCHRONOUS = (
    "client assess", "client rank_many", "client join", "trl", "trl groups",
    "trl groups over ranks", "ms-swift", "ms-swift groups", "skyrl",
)  # fmt: skip
"""The modules whose calls run on the thread."""
WITHOUT_DESCRIPTORS = """
import os, resource, time
from judge_client import JudgeClient

client = JudgeClient("http://127.0.0.1:9", rubric="r", timeout_s=2)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
began = time.monotonic()
print(client.assess("p", "a").error.message)
for one in held:
    os.close(one)
print(client.assess("p", "a").error.message)
print(time.monotonic() - began < 20)
"""


def no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the thread from starting, as a limit of threads does."""
    start = threading.Thread.start

    def refused(self: threading.Thread) -> None:
        if self.name == "judge-client":
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", refused)


def no_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the thread from having a loop, as a limit of file descriptors does."""
    make = asyncio.events.new_event_loop

    def refused() -> asyncio.AbstractEventLoop:
        if threading.current_thread().name == "judge-client":
            raise OSError(24, "Too many open files")
        return make()

    monkeypatch.setattr(asyncio.events, "new_event_loop", refused)


@pytest.mark.parametrize("lacking", [no_thread, no_loop])
@pytest.mark.parametrize("name", SYNCHRONOUS)
def test_without_a_loop_there_is_no_verdict(
    stand_in: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    lacking: Callable[[pytest.MonkeyPatch], None],
) -> None:
    """The call fails in its trainer's words instead of hanging, and the next one is judged."""
    stand_in.script = well
    LOOP.stop()

    with monkeypatch.context() as patched:
        lacking(patched)
        assert list(MODULES[name](stand_in, 5.0)) == []

    assert len(MODULES[name](stand_in, 20.0)) >= 1


@pytest.mark.parametrize("lacking", [no_thread, no_loop])
def test_the_failure_says_what_was_lacking(
    stand_in: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    lacking: Callable[[pytest.MonkeyPatch], None],
) -> None:
    """It is the client's own, and asking again may help."""
    LOOP.stop()
    lacking(monkeypatch)
    client = JudgeClient(stand_in.url, rubric="r", timeout_s=5)

    found = client.assess("p", "a")

    assert isinstance(found, AssessFailed)
    assert (found.error.code, found.error.at, found.error.retryable) == (
        "unreachable", "client", True,
    )  # fmt: skip
    assert "can't start new thread" in found.error.message or "open files" in found.error.message
    assert isinstance(client.rubric(), Failure)
    client.close()
    assert stand_in.requests == []


def test_file_descriptors_that_are_used_up_are_no_hang() -> None:
    """At the first call none is left: it fails in its time, and so does the next, for its own
    reason, once there are some.
    """
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_DESCRIPTORS], env={"PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip

    first, second, in_time = ran.stdout.splitlines()
    assert "Too many open files" in first
    assert "127.0.0.1:9" in second
    assert in_time == "True"


def test_a_loop_that_was_stopped_is_no_hang() -> None:
    """Whoever waits for work on it hears of the end; a later call gets another loop."""
    thread = LoopThread()
    begun = threading.Event()
    told: list[Any] = []

    async def endless() -> Any:
        begun.set()
        await asyncio.Event().wait()

    async def short() -> Any:
        return "done"

    waiting = threading.Thread(target=lambda: told.append(thread.run(endless(), lambda why: why)))
    waiting.start()
    assert begun.wait(20)
    thread.stop()
    waiting.join(20)

    assert [one.code for one in told] == ["unreachable"]
    assert thread.run(short(), lambda why: why) == "done"
    thread.stop()
