"""One client in threads, loops, and forked and spawned processes."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from judge_client import Assessed, AsyncJudgeClient, JudgeClient

from tests.clients.stand_in import SUCCESS, Got, StandIn, Told

Ask = Callable[[object, float], float | None]


def echo(got: Got) -> Told:
    """The reward is what the candidate says."""
    return Told(body={**SUCCESS, "reward": float(got.body["candidate"]["text"])})


@pytest.fixture
def client(stand_in: StandIn) -> JudgeClient:
    """A client of the stand-in."""
    stand_in.script = echo
    return JudgeClient(stand_in.url, rubric="quality", timeout_s=20, api_key="k")


def ask(client: JudgeClient, reward: float) -> float | None:
    """The reward that the stand-in gives back."""
    result = client.assess("p", str(reward))
    return result.reward if isinstance(result, Assessed) else None


def ask_async(client: AsyncJudgeClient, reward: float) -> float | None:
    """The same by a loop of its own."""

    async def run() -> float | None:
        result = await client.assess("p", str(reward))
        return result.reward if isinstance(result, Assessed) else None

    return asyncio.run(run())


def test_threads_share_a_client(client: JudgeClient, stand_in: StandIn) -> None:
    """Answers go to who asked, whoever asks at once."""
    with ThreadPoolExecutor(16) as threads:
        got = list(threads.map(lambda n: ask(client, n / 100), range(100)))

    assert got == [n / 100 for n in range(100)]


def test_threads_with_loops_share_a_client(client: JudgeClient, stand_in: StandIn) -> None:
    """The asynchronous client, too, each thread with loops of its own."""
    shared = AsyncJudgeClient(stand_in.url, rubric="quality")

    with ThreadPoolExecutor(4) as threads:
        got = list(threads.map(lambda n: ask_async(shared, n / 20), range(20)))

    assert got == [n / 20 for n in range(20)]


def test_the_sync_client_works_inside_a_running_loop(client: JudgeClient) -> None:
    """A notebook, or a trainer's loop, may call it."""

    async def run() -> float | None:
        return ask(client, 0.25)

    assert asyncio.run(run()) == 0.25


def test_a_pickled_client_is_the_same_without_connections(
    client: JudgeClient, stand_in: StandIn
) -> None:
    """Settings travel, the key too; connections are made anew."""
    assert ask(client, 0.5) == 0.5

    again: JudgeClient = pickle.loads(pickle.dumps(client))  # noqa: S301 - our own

    assert again.settings == client.settings
    assert ask(again, 0.75) == 0.75
    assert stand_in.connections == 2
    inner = AsyncJudgeClient(stand_in.url, rubric="quality", retry_failed=3)
    assert pickle.loads(pickle.dumps(inner)).retry_failed == 3  # noqa: S301 - our own


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_worker_processes_use_a_client(client: JudgeClient, stand_in: StandIn, way: str) -> None:
    """A client that is in use works in a child as well, and here afterwards."""
    assert ask(client, 0.125) == 0.125
    context = multiprocessing.get_context(way)

    with context.Pool(2) as pool:
        got = pool.starmap(ask, [(client, n / 10) for n in range(10)])
        pool.close()
        pool.join()

    assert got == [n / 10 for n in range(10)]
    assert ask(client, 0.875) == 0.875


def test_a_forked_child_uses_what_it_inherited(client: JudgeClient, stand_in: StandIn) -> None:
    """Without pickling, too: neither the parent's connections nor its thread are touched."""
    shared = AsyncJudgeClient(stand_in.url, rubric="quality")
    assert ask(client, 0.5) == 0.5
    assert ask_async(shared, 0.5) == 0.5
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()

    def child() -> None:
        answers.put((ask(client, 0.25), ask_async(shared, 0.75)))

    process = context.Process(target=child)
    process.start()
    process.join(30)

    assert process.exitcode == 0
    assert answers.get() == (0.25, 0.75)
    assert ask(client, 0.375) == 0.375


def test_a_client_thrown_away_leaves_nothing(stand_in: StandIn) -> None:
    """Its connections are closed, without a warning, and no thread is left per client."""
    stand_in.script = echo
    ask(JudgeClient(stand_in.url, rubric="quality"), 0.5)
    gc.collect()
    before = threading.active_count()

    for _ in range(5):
        ask(JudgeClient(stand_in.url, rubric="quality"), 0.5)
    gc.collect()

    clients = [thread for thread in threading.enumerate() if thread.name == "judge-client"]
    assert len(clients) == 1
    assert threading.active_count() <= before + 6  # the stand-in's own, one per connection


def test_nothing_happens_at_construction(stand_in: StandIn) -> None:
    """A client is cheap: no connection, no thread."""
    before = threading.active_count()

    for _ in range(50):
        JudgeClient(stand_in.url, rubric="quality")

    assert threading.active_count() == before
    assert stand_in.connections == 0
