"""The workflow for AReaL, as its executor runs it, over the service."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from judge_client import ConfigError, InvalidRequest, NotFound

from tests.clients import stub_areal
from tests.clients.digits import REWARDS, Digits, digits
from tests.clients.readme import paste
from tests.clients.stand_in import SUCCESS, StandIn, Told, failed
from tests.clients.stub_areal import Characters, Config, Engine, Stats, grouped
from tests.clients.test_distribution import SOURCE
from tests.harness import new_prompt
from tests.provider import behaviours, faults

KEYS = {"input_ids", "loss_mask", "logprobs", "versions", "attention_mask", "rewards"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Digits]:
    """A real service."""
    with digits(tmp_path_factory.mktemp("areal")) as found:
        yield found


@pytest.fixture
def judged(running: Digits) -> Digits:
    """The same, with an honest judge."""
    running.reset()
    return running


@pytest.fixture(autouse=True)
def stats(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stats]:
    """AReaL can be imported; its statistics."""
    yield stub_areal.install(lambda name, module: monkeypatch.setitem(sys.modules, name, module))
    sys.modules.pop("judge_client._areal.workflow", None)


def workflow(where: Digits | StandIn, **settings: Any) -> Any:
    """The workflow as AReaL makes it: by its path, with keyword arguments."""
    made = stub_areal._imported("judge_client.areal.JudgeRLVRWorkflow")
    given = {"url": where.url, "rubric": "quality", "family": "xi", "timeout_s": 20}
    return made(gconfig=Config(), tokenizer=Characters(), **{**given, **settings})


def row(**more: Any) -> dict[str, Any]:
    """A row of the data."""
    return {"messages": [{"role": "user", "content": new_prompt()}], **more}


def episode(made: Any, text: str, data: dict[str, Any] | None = None, **engine: Any) -> Any:
    """One trajectory, by a loop of its own."""
    return asyncio.run(made.arun_episode(Engine([text], **engine), data or row()))


@pytest.mark.parametrize("point", REWARDS)
def test_a_trajectory_has_its_reward(judged: Digits, stats: Stats, point: int) -> None:
    """The tensors that AReaL's own workflow makes, with the reward, 0.0 among them."""
    data = row()
    asked = len(data["messages"][0]["content"])

    found = episode(workflow(judged), f"{point} a", data)

    assert set(found) == KEYS
    assert found["rewards"].data == [REWARDS[point]]
    assert found["loss_mask"].data == [[0] * asked + [1] * 4]
    assert found["versions"].data == [[-1] * asked + [2] * 4]
    assert {len(found[name].data[0]) for name in KEYS - {"rewards"}} == {asked + 4}
    assert stats.told == [{"reward": REWARDS[point], "judge_failed": 0.0}]


@pytest.mark.parametrize("code", ["timeout", "refused", "overloaded"])
def test_a_failure_is_no_trajectory(stand_in: StandIn, stats: Stats, code: str) -> None:
    """None, which AReaL rejects, and no reward in the statistics."""
    stand_in.says(Told(body=failed(code)))

    assert episode(workflow(stand_in), "4 a") is None
    assert stats.told == [{"judge_failed": 1.0}]


@pytest.mark.parametrize(
    "told",
    [Told(drop=True), Told(body=b"<html>"), Told(body={**SUCCESS, "reward": None}),
     Told(body={**SUCCESS, "reward": -0.5})],
    ids=["hung up", "a page", "null", "below 0"],
)  # fmt: skip
def test_an_outage_is_no_trajectory(stand_in: StandIn, told: Told) -> None:
    """Within its time, whatever stands in the service's place."""
    stand_in.says(told)

    assert episode(workflow(stand_in, timeout_s=0.5), "4 a") is None


def test_a_group_goes_on_without_a_failure(judged: Digits) -> None:
    """A quarter has no verdict: the others are what is trained on."""
    judged.provider.behave("main", behaviours.chokes_on("unspeakable"))
    engine = Engine(["1 a", "5 unspeakable", "3 a", "5 a"])

    found = asyncio.run(grouped(workflow(judged), engine, row(), 64))

    rewards = sorted(trajectory["rewards"].data[0] for trajectory in found)
    assert rewards == [0.0] * 16 + [0.5] * 16 + [1.0] * 16
    assert {request.gconfig.n_samples for request in engine.requests} == {1}


def test_a_judge_that_is_down_leaves_nothing(judged: Digits) -> None:
    """All of a group is rejected."""
    judged.provider.behave("main", faults.status_error(500))

    made = workflow(judged, timeout_s=3)

    assert asyncio.run(grouped(made, Engine(["4 a"]), row(), 4)) == []


def test_a_slow_judge_is_not_cut_off(judged: Digits) -> None:
    """Many at once: none waits for a pool of processes, none becomes 0."""
    judged.provider.behave("main", behaviours.slow(behaviours.honest(), 0.4))
    engine = Engine([f"{1 + n % 5} a" for n in range(8)])

    found = asyncio.run(grouped(workflow(judged), engine, row(), 8))

    rewards = sorted(trajectory["rewards"].data[0] for trajectory in found)
    assert rewards == sorted(REWARDS[1 + n % 5] for n in range(8))


def test_one_loop_after_the_other(judged: Digits) -> None:
    """The executor's loop is not the only one, and workflows are sent to other processes."""
    made = workflow(judged)

    rewards = [episode(made, f"{point} a")["rewards"].data for point in (1, 5)]
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own

    assert rewards == [[0.0], [1.0]]
    assert episode(again, "2 a")["rewards"].data == [0.25]


def test_too_long_is_worth_nothing(judged: Digits) -> None:
    """Over 1 MiB: an honest 0.0, which is trained on."""
    found = episode(workflow(judged), "5" * (1024 * 1024 + 1))

    assert found["rewards"].data == [0.0]
    assert judged.provider.requests == []


@pytest.mark.parametrize(
    ("settings", "data", "shown"),
    [
        ({}, {"answer": "42"}, "42"),
        ({}, {"answer": 42}, "42"),
        ({}, {}, None),
        ({"reference_key": "solution"}, {"answer": "no", "solution": "yes"}, "yes"),
        ({"reference_key": None}, {"answer": "42"}, None),
    ],
    ids=str,
)
def test_what_is_asked(
    stand_in: StandIn, settings: dict[str, Any], data: dict[str, Any], shown: str | None
) -> None:
    """The row's messages, the answer without its end token, and the reference of the row."""
    given = row(**data)

    episode(workflow(stand_in, **settings), "4 a", given, stop_reason="length")

    body = stand_in.requests[0].body
    assert body["prompt"] == given["messages"]
    assert body["candidate"] == {"text": "4 a", "family": ["xi"], "finish_reason": "length"}
    assert body.get("reference") == shown


def ids_of(prompt: Any, tokenizer: Any, enable_thinking: bool) -> list[int]:
    """A function of the user's own."""
    return [7 if enable_thinking else 8]


def prompt_of(data: dict[str, Any]) -> str:
    """Another."""
    return str(data["question"])


@pytest.mark.parametrize("by_path", [True, False], ids=["paths", "functions"])
def test_functions_of_ones_own(stand_in: StandIn, by_path: bool) -> None:
    """As AReaL's own workflow takes them."""
    functions = [f"{__name__}.{f.__name__}" if by_path else f for f in (ids_of, prompt_of)]
    made = workflow(
        stand_in, get_input_ids_fn=functions[0], data_extract_prompt_fn=functions[1],
        enable_thinking=True,
    )  # fmt: skip

    found = episode(made, "4 a", {"question": "Why?"})

    assert found["input_ids"].data[0][0] == 7
    assert stand_in.requests[0].body["prompt"] == "Why?"


@pytest.mark.parametrize(
    ("settings", "match"),
    [({"rubric": None}, "rubric"), ({"timeout_s": "x"}, "timeout_s"), ({"url": "x"}, "url"),
     ({"reference_key": 3}, "reference_key")],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_be_right(
    stand_in: StandIn, settings: dict[str, Any], match: str
) -> None:
    """They are errors when the workflow is made."""
    with pytest.raises(ConfigError, match=match):
        workflow(stand_in, **settings)


def test_mistakes_are_not_outages(judged: Digits) -> None:
    """An unknown rubric, and a prompt that is none, raise: AReaL logs them."""
    with pytest.raises(NotFound):
        episode(workflow(judged, rubric="unknown"), "4 a")
    odd = workflow(judged, data_extract_prompt_fn=lambda data: 7, get_input_ids_fn=ids_of)
    with pytest.raises(InvalidRequest, match="prompt"):
        episode(odd, "4 a")


def test_a_missing_areal_is_explained() -> None:
    """The module can be imported; the workflow says what to install."""
    code = (
        "import sys; sys.modules['areal'] = None\n"
        "import judge_client.areal as adapter\n"
        "try:\n    adapter.JudgeRLVRWorkflow\nexcept ImportError as error:\n    print(error)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCE)}, capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "pip install areal" in ran.stdout


def test_the_readme_as_pasted(judged: Digits, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it gives to the trainer makes the workflow."""
    given: dict[str, Any] = {}
    trainer = SimpleNamespace(train=lambda **settings: given.update(settings))
    config = SimpleNamespace(gconfig=Config(), tokenizer_path="a/path")
    monkeypatch.setenv("JUDGE_SERVICE_URL", judged.url)

    paste("AReaL", trainer=trainer, config=config)

    kwargs = {**given["workflow_kwargs"], "rubric": "quality"}
    assert given["workflow_kwargs"]["rubric"] == "helpfulness"
    made = stub_areal._imported(given["workflow"])(**kwargs)
    assert episode(made, "4 a")["rewards"].data == [0.75]
