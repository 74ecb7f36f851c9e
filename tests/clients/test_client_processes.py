"""One client in threads, loops, and forked and spawned processes."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from judge_client import Assessed, AsyncJudgeClient, JudgeClient

from tests.clients.forms import FORMS, Form, Rewards
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told
from tests.harness import RunningService
from tests.provider import FakeProvider

TEXTS = ["4 of five", "1 of five", "5 of five", "2 of five"]
WORTH = [0.75, 0.0, 1.0, 0.25]


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


def in_threads(form: Form, made: Any) -> list[Rewards]:
    """From many threads at once."""
    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(lambda n: form.score(made, TEXTS), range(8)))


def in_a_loop(form: Form, made: Any) -> list[Rewards]:
    """Inside a loop that runs, as in a notebook, in threads of which each begins loops anew."""

    async def run() -> Rewards:
        return await asyncio.to_thread(form.score, made, TEXTS)

    return [asyncio.run(run()), asyncio.run(run())]


def again_and_again(form: Form, made: Any) -> list[Rewards]:
    """One call after the other: under ``asyncio.run`` twice and more."""
    return [form.score(made, TEXTS) for _ in range(3)]


def pickled(form: Form, made: Any) -> list[Rewards]:
    """What was in use, as a pickle."""
    before = form.score(made, TEXTS)
    return [before, form.score(pickle.loads(pickle.dumps(made)), TEXTS)]  # noqa: S301 - our own


def in_workers(way: str) -> Callable[[Form, Any], list[Rewards]]:
    """In processes that get a pickle, by what is in use here, and here afterwards."""

    def run(form: Form, made: Any) -> list[Rewards]:
        before = form.score(made, TEXTS)
        with multiprocessing.get_context(way).Pool(2) as pool:
            there = pool.starmap(form.score, [(made, TEXTS)] * 4)
            pool.close()
            pool.join()
        return [before, *there, form.score(made, TEXTS)]

    return run


def inherited(form: Form, made: Any) -> list[Rewards]:
    """In a forked child that got no pickle: the parent's connections and thread are not its own."""
    before = form.score(made, TEXTS)
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=lambda: answers.put(form.score(made, TEXTS)))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    return [before, answers.get(), form.score(made, TEXTS)]


WAYS: dict[str, Callable[[Form, Any], list[Rewards]]] = {
    "threads": in_threads,
    "in a running loop": in_a_loop,
    "again and again": again_and_again,
    "pickled": pickled,
    "forked workers": in_workers("fork"),
    "spawned workers": in_workers("spawn"),
    "a forked child": inherited,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_one_object_works_anywhere(
    service: RunningService,
    judge: FakeProvider,
    form: Form,
    way: Callable[[Form, Any], list[Rewards]],
) -> None:
    """Made once, it gets a real service's answers wherever it is carried, each to who asked."""
    judge.oracle(lambda text: int(text[0]))
    made = form.make(service.url, rubric="quality", family="xi", timeout_s=60, api_key="k")

    for found in way(form, made):
        assert found == WORTH


def test_the_sync_client_works_inside_a_running_loop(client: JudgeClient) -> None:
    """A notebook, or a trainer's loop, may call it, though the loop then stands still."""

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
