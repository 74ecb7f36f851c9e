"""A service that is not there yet, that dies in the middle of a batch, and that stays away: for the
client in each of its forms, all at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from judge_client import pace, transport

from tests.clients.forms import FORMS, Rewards
from tests.clients.service_worker import service_process
from tests.harness import Judges, write_rubric
from tests.ports import free_port
from tests.provider import FakeProvider, behaviours, faults
from tests.provider.seen import Seen

COUNT = 12
WORTH = [(n % 5) / 4 for n in range(COUNT)]
Batches = Mapping[str, "Future[Rewards]"]


class Held:
    """A judge that never replies to a question about the first text of a batch, until ``go_on``."""

    def __init__(self, provider: FakeProvider) -> None:
        self.asked = {form: threading.Event() for form in FORMS}
        self.go_on = threading.Event()
        provider.behave("main", behaviours.when(self._is_held, faults.hang(), behaviours.honest()))

    def _is_held(self, seen: Seen) -> bool:
        if self.go_on.is_set() or not seen.candidate.endswith(" 0"):
            return False
        self.asked[seen.candidate.split()[1]].set()
        return True

    def wait(self) -> None:
        """Wait until every form's batch is in the middle."""
        for form, asked in self.asked.items():
            assert asked.wait(60), f"nothing of {form} was asked"


@pytest.fixture
def folder(tmp_path: Path, provider: FakeProvider) -> Path:
    """What a service needs."""
    provider.reset()
    provider.oracle(lambda text: int(text[0]))
    write_rubric(tmp_path)
    (tmp_path / "anchors").mkdir()
    Judges(provider).add("main", "alpha").write(tmp_path)
    return tmp_path


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """For calls that go on while the service comes and goes."""
    with ThreadPoolExecutor(len(FORMS)) as made:
        yield made


def post(threads: ThreadPoolExecutor, port: int, timeout_s: float, about: str) -> Batches:
    """A batch of each form, under way."""
    url, batches = f"http://127.0.0.1:{port}", {}
    for name, form in FORMS.items():
        made = form.make(url, rubric="quality", family="xi", timeout_s=timeout_s)
        texts = [f"{1 + n % 5} {name} {about} {n}" for n in range(COUNT)]
        batches[name] = threads.submit(form.score, made, texts)
    return batches


def results(batches: Batches) -> dict[str, Rewards]:
    """What became of them."""
    return {name: batch.result(110) for name, batch in batches.items()}


@pytest.fixture
def failed(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Counts the tries that have failed."""
    failed = threading.Semaphore(0)
    wait = pace.wait_before

    def before(retry: int, told: float | None) -> float:
        failed.release()
        return wait(retry, told)

    monkeypatch.setattr(transport, "wait_before", before)
    return failed


def test_a_service_that_comes_late_and_one_that_comes_again_judge(
    folder: Path, provider: FakeProvider, threads: ThreadPoolExecutor, failed: threading.Semaphore
) -> None:
    """A batch that was posted too early, or whose service died in the middle of it, is posted
    again: all rewards, in order, each to its own text.
    """
    port = free_port()
    early = post(threads, port, 90, "early")
    for _ in FORMS:
        assert failed.acquire(timeout=60)

    with service_process(folder, port):
        assert results(early) == dict.fromkeys(FORMS, WORTH)
        judge = Held(provider)
        broken = post(threads, port, 90, "broken off")
        judge.wait()
    judge.go_on.set()
    with service_process(folder, port):
        assert results(broken) == dict.fromkeys(FORMS, WORTH)


def test_a_service_that_dies_and_stays_away_gives_no_reward(
    folder: Path, provider: FakeProvider, threads: ThreadPoolExecutor, failed: threading.Semaphore
) -> None:
    """All of a batch has failed when its one deadline is over, however often it was tried."""
    port, judge = free_port(), Held(provider)
    with service_process(folder, port):
        began = time.monotonic()
        batches = post(threads, port, 20, "left alone")
        judge.wait()
    judge.go_on.set()

    assert results(batches) == dict.fromkeys(FORMS, [None] * COUNT)
    assert time.monotonic() - began < 60.0
    assert failed.acquire(timeout=0)
