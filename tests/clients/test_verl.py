"""verl's reward function, as its trainer calls it; verl itself is not needed for it."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from judge_client import AccessDenied, ConfigError, InvalidRequest, JudgingFailed, NotFound
from judge_client.results import Failure
from judge_client.verl import JudgeUnavailable, compute_score

from tests.clients import verl_worker
from tests.clients.digits import REWARDS, Digits, digits
from tests.clients.overrides import pasted
from tests.clients.stand_in import SUCCESS, StandIn, Told, failed, problem
from tests.clients.test_distribution import SOURCE
from tests.harness import new_prompt
from tests.provider import behaviours, faults

KEYS = ["score", "judge_score_raw", "judge_failed", "judge_swap_consistent", "judge_cached"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Digits]:
    """A real service."""
    with digits(tmp_path_factory.mktemp("verl")) as found:
        yield found


@pytest.fixture
def judged(running: Digits) -> Digits:
    """The same, with an honest judge."""
    running.reset()
    return running


def row(text: str, prompt: Any = None, **more: Any) -> dict[str, Any]:
    """What verl passes for one response."""
    extra = {"question": new_prompt() if prompt is None else prompt, "index": 3, "num_turns": 2}
    return {"data_source": "d", "solution_str": text, "ground_truth": "", "extra_info": extra,
            **more}  # fmt: skip


def score(where: Digits | StandIn, text: str, **more: Any) -> dict[str, float]:
    """The answer to one response, by a loop of its own."""
    settings = {"judge_url": where.url, "rubric": "quality", "family": "xi", "timeout_s": 20}
    return asyncio.run(compute_score(**{**row(text), **settings, **more}))


@pytest.mark.parametrize("point", REWARDS)
def test_a_verdict_is_a_score(judged: Digits, point: int) -> None:
    """Points become rewards, 0.0 among them; the same numbers stand beside every one."""
    found = score(judged, f"{point} a")

    assert found["score"] == REWARDS[point]
    assert list(found) == KEYS
    assert all(isinstance(number, float) for number in found.values())
    assert found["judge_failed"] == 0.0


def test_a_rule_is_an_honest_zero(judged: Digits) -> None:
    """Too long for the rubric, and too long for anybody: 0.0 without a judge."""
    for text, rubric in (("4 " + "x" * 99, "short"), ("5" * (1024 * 1024 + 1), "quality")):
        found = score(judged, text, rubric=rubric)

        assert found["score"] == 0.0
        assert list(found) == KEYS
    assert judged.provider.requests == []


def test_verl_awaits_it() -> None:
    """The trainer looks at it: only a coroutine function is awaited, not run in threads."""
    assert inspect.iscoroutinefunction(compute_score)
    assert inspect.iscoroutinefunction(partial(compute_score, rubric="quality").func)
    module = importlib.import_module("judge_client.verl")
    assert pickle.loads(pickle.dumps(module.compute_score)) is compute_score  # noqa: S301 - ours


def test_64_at_once_with_failures_among_them(judged: Digits) -> None:
    """A quarter of the judge's replies is no verdict: those samples raise, the others have all of
    their numbers, and nobody gets another one's.
    """
    judged.provider.behave("main", behaviours.chokes_on("unspeakable"))
    texts = [f"{1 + n % 5} {'unspeakable' if n % 4 == 3 else 'a'} {n}" for n in range(64)]
    settings: dict[str, Any] = {"judge_url": judged.url, "rubric": "quality", "timeout_s": 60}

    async def run() -> list[Any]:
        calls = (compute_score(**row(text), **settings) for text in texts)
        return await asyncio.gather(*calls, return_exceptions=True)

    for n, found in enumerate(asyncio.run(run())):
        if n % 4 == 3:
            assert isinstance(found, JudgeUnavailable)
            assert found.error.code == "unparsable"
        else:
            assert (list(found), found["score"]) == (KEYS, REWARDS[1 + n % 5])


@pytest.mark.parametrize("code", ["timeout", "refused", "inconclusive", "overloaded"])
def test_a_failure_raises(stand_in: StandIn, code: str) -> None:
    """Whatever the service says: no number, and an exception that survives Ray's pickling."""
    stand_in.says(Told(body=failed(code)))

    with pytest.raises(JudgeUnavailable, match=code) as raised:
        score(stand_in, "4 a")

    again = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 - our own
    assert (type(again), again.error.code) == (JudgeUnavailable, code)
    assert isinstance(again, JudgingFailed)


@pytest.mark.parametrize(
    "told",
    [
        Told(drop=True),
        Told(body=b"<html>"),
        Told(status=503, body=problem("overloaded")),
        Told(body={**SUCCESS, "reward": None}),
        Told(body={**SUCCESS, "reward": 1.5}),
        Told(body={**SUCCESS, "reward": True}),
        Told(body=b'{"status": "success", "reward": NaN, "error": null}'),
        Told(body={**SUCCESS, "metrics": {"model_score": "x"}}),
    ],
    ids=["hung up", "a page", "busy", "null", "above 1", "true", "NaN", "odd metrics"],
)
def test_what_is_no_reward_is_no_number(stand_in: StandIn, told: Told) -> None:
    """Neither an outage nor a strange answer becomes a score."""
    stand_in.says(told)

    with pytest.raises(JudgeUnavailable):
        score(stand_in, "4 a", timeout_s=0.5)


def test_an_outage_ends_in_time() -> None:
    """Nobody listens: the time is kept."""
    with pytest.raises(JudgeUnavailable, match="unreachable"):
        asyncio.run(
            compute_score(**row("a"), judge_url="http://127.0.0.1:1", rubric="r", timeout_s=0.5)
        )


def test_a_judge_that_is_down(judged: Digits) -> None:
    """The provider fails every call."""
    judged.provider.behave("main", faults.status_error(500))

    with pytest.raises(JudgeUnavailable, match="upstream_error"):
        score(judged, "4 a", timeout_s=3)


def test_one_loop_after_the_other(judged: Digits) -> None:
    """A new loop at every step, and several threads: no connection outlives its loop."""
    assert [score(judged, f"{point} a")["score"] for point in (1, 5, 3)] == [0.0, 1.0, 0.5]

    async def run() -> list[float]:
        calls = (asyncio.to_thread(score, judged, f"{point} a") for point in (2, 4))
        return [found["score"] for found in await asyncio.gather(*calls)]

    assert asyncio.run(run()) == [0.25, 0.75]


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_worker_processes(judged: Digits, way: str) -> None:
    """Whether it was used before or not, a worker process scores, and this one afterwards."""
    assert verl_worker.score(judged.url, "4 a") == 0.75

    with multiprocessing.get_context(way).Pool(2) as pool:
        texts = [(judged.url, f"{1 + n % 5} {n}") for n in range(10)]
        found = pool.starmap(verl_worker.score, texts)
        pool.close()
        pool.join()

    assert found == [(n % 5) / 4 for n in range(10)]
    assert verl_worker.score(judged.url, "2 a") == 0.25


def test_settings_of_the_environment(judged: Digits, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without reward_kwargs; arguments win."""
    for name, value in {"URL": judged.url, "RUBRIC": "quality", "FAMILY": "alpha"}.items():
        monkeypatch.setenv(f"JUDGE_SERVICE_{name}", value)

    with pytest.raises(JudgeUnavailable, match="no_eligible_judge"):
        asyncio.run(compute_score(**row("4 a")))
    assert asyncio.run(compute_score(**row("4 a"), family=["xi", "psi"]))["score"] == 0.75


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"timeout_s": "soon"}, "timeout_s"),
        ({"judge_url": "judge:8080"}, "url"),
        ({"rubric": "No Rubric"}, "rubric"),
        ({"rubric": None}, "JUDGE_SERVICE_RUBRIC"),
        ({"family": 3}, "family"),
        ({"rubric": "quality", "use_ground_truth": "no"}, "use_ground_truth"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_settings_that_cannot_be_right(more: dict[str, Any], match: str) -> None:
    """They are errors before anything is sent."""
    with pytest.raises(ConfigError, match=match):
        asyncio.run(compute_score(**{**row("a"), "judge_url": "http://127.0.0.1:1", **more}))


def test_mistakes_are_not_outages(judged: Digits, stand_in: StandIn) -> None:
    """An unknown rubric and a refused key say so."""
    with pytest.raises(NotFound):
        score(judged, "4 a", rubric="unknown")
    stand_in.says(Told(status=401, body=problem("unauthorized")))
    with pytest.raises(AccessDenied):
        score(stand_in, "4 a")


class Array:
    """What a table's cell holds when it is a list: numpy's arrays have this."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def __repr__(self) -> str:
        return f"Array({self._values})"

    def tolist(self) -> list[Any]:
        """The list."""
        return self._values


@pytest.mark.parametrize(
    ("extra", "more", "shown"),
    [
        ({"question": "Why?"}, {}, "Why?"),
        ({"prompt": "Why?", "problem": "no"}, {}, "Why?"),
        ({"question": "no", "task": "Why?"}, {"prompt_key": "task"}, "Why?"),
        ({"prompt": [{"role": "user", "content": "Why?"}]}, {},
         [{"role": "user", "content": "Why?"}]),
        ({"raw_prompt": Array([{"role": "user", "content": "Why?"}])}, {},
         [{"role": "user", "content": "Why?"}]),
        ({"question": "half \ud800"}, {}, "half ?"),
    ],
    ids=["question", "prompt", "by its key", "messages", "an array", "half a character"],
)  # fmt: skip
def test_where_the_prompt_is(
    stand_in: StandIn, extra: dict[str, Any], more: dict[str, Any], shown: Any
) -> None:
    """The trainer passes none: the row's extra_info holds it."""
    score(stand_in, "a", extra_info=extra, **more)

    assert stand_in.requests[0].body["prompt"] == shown


@pytest.mark.parametrize(
    ("extra", "more"),
    [(None, {}), ({"index": 1}, {}), ({"question": 7}, {}), ({"question": []}, {}),
     ({"question": "x"}, {"prompt_key": "y"}), ({"question": {}}, {}), ({"question": ["x"]}, {})],
    ids=str,
)  # fmt: skip
def test_a_row_without_prompt_is_a_mistake(
    stand_in: StandIn, extra: Any, more: dict[str, Any]
) -> None:
    """It is told what to write into the data, and nobody is asked."""
    with pytest.raises(InvalidRequest, match="extra_info"):
        score(stand_in, "a", extra_info=extra, **more)
    assert stand_in.requests == []


@pytest.mark.parametrize(
    ("truth", "shown"),
    [("42", "42"), (42, "42"), (["a", "b"], '["a", "b"]'), ("", None), (" ", None), (None, None),
     (float("nan"), None), (Array(["a"]), '["a"]')],
    ids=str,
)  # fmt: skip
def test_the_ground_truth_is_the_reference(
    stand_in: StandIn, truth: Any, shown: str | None
) -> None:
    """A text as it is, anything else as JSON, and none where the row has none."""
    score(stand_in, "a", ground_truth=truth)

    assert stand_in.requests[0].body.get("reference") == shown


def test_a_rubric_without_references(judged: Digits) -> None:
    """A data set must have a ground truth, a rubric need not take it."""
    with pytest.raises(InvalidRequest, match="reference"):
        score(judged, "4 a", ground_truth="x", rubric="blind")
    found = score(judged, "4 a", ground_truth="x", rubric="blind", use_ground_truth=False)
    assert found["score"] == 0.75


def test_what_verl_adds_is_passed_over(stand_in: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    """A reward model's address is no setting of the judge; a misspelt setting is told, once."""
    for _ in range(2):
        score(stand_in, "a", reward_router_address="x:1", reward_model_tokenizer=None, rubrik="y")

    assert [record.getMessage() for record in caplog.records] == [
        "compute_score: 'rubrik' is no setting of the judge, and is passed over"
    ]


def test_the_function_needs_no_verl() -> None:
    """Only the manager does, and it says so."""
    code = (
        "import sys; sys.modules['verl'] = None\n"
        "import judge_client.verl as adapter\n"
        "print(adapter.compute_score.__name__)\n"
        "try:\n    adapter.JudgeGroupRewardManager\nexcept ImportError as error:\n    print(error)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCE)}, capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    assert ran.stdout.startswith("compute_score\n")
    assert "needs verl, 0.7.1 or newer: pip install verl" in ran.stdout
    assert not hasattr(importlib.import_module("judge_client.verl"), "another_name")


def test_a_failure_has_no_number_to_fall_back_on() -> None:
    """There is no such setting: what it says is passed over like any other."""
    assert "fallback" not in inspect.signature(compute_score).parameters
    error = Failure(code="timeout", message="late", retryable=True)
    assert str(JudgeUnavailable(error)) == "timeout: late"


def test_the_readme_as_pasted(judged: Digits, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its command's settings, as verl would read them, score a sample."""
    told = pasted("each")["reward"]["custom_reward_function"]
    assert told["reward_kwargs"] == {"rubric": "helpfulness"}
    monkeypatch.setenv("JUDGE_SERVICE_URL", judged.url)
    module = importlib.import_module(told["path"].removeprefix("pkg://"))
    kwargs = {**told["reward_kwargs"], "rubric": "quality"}

    found = asyncio.run(module.compute_score(**row("4 a"), **kwargs))

    assert found["score"] == 0.75
