"""The reward function for ms-swift: a score for every sample, or an exception."""

from __future__ import annotations

import asyncio
import math
import pickle
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

import pytest
from judge_client import ConfigError, InvalidRequest, JudgingFailed, NotFound
from judge_client.ms_swift import JudgeORM, make_orm
from judge_client.swift_samples import samples_of

from tests.clients.coded_judge import OUTAGES, judged, outcome
from tests.clients.readme import paste
from tests.clients.stand_in import Got, StandIn, Told, failed, problem
from tests.clients.trainer_service import BAD, GOOD, shipped
from tests.provider import FakeProvider

ARGS = types.SimpleNamespace(num_generations=2, scale_rewards="group")
GDPO = types.SimpleNamespace(num_generations=2, scale_rewards="gdpo")
USER = {"role": "user", "content": "q"}


def rows(*texts: str, prompts: str = "") -> dict[str, Any]:
    """A batch as ms-swift hands it out; ``prompts`` names each one's prompt by a letter."""
    names = list(prompts) or ["p"] * len(texts)
    asked = [{"role": "user", "content": name} for name in names]
    said = [{"role": "assistant", "content": text} for text in texts]
    return {
        "completions": list(texts),
        "messages": [[a, s] for a, s in zip(asked, said, strict=True)],
        "prompt_id": [f"prompt_{name}" for name in names],
        "request_id": [f"chatcmpl-{n}" for n in range(len(texts))],
        "finish_reason": ["stop"] * len(texts),
        "is_truncated": [False] * len(texts),
        "trainer_state": object(),
    }


def orm_of(stand_in: StandIn, args: Any = ARGS, **more: Any) -> JudgeORM:
    """A reward function over the stand-in, made as ms-swift makes it."""
    return make_orm(stand_in.url, **{"rubric": "r", "timeout_s": 5.0, **more})(args=args)


def column(output: list[float | None]) -> list[float]:
    """What ms-swift makes of an output: None is NaN, and NaN is nothing in its sum."""
    return [math.nan if reward is None else reward for reward in output]


@pytest.fixture
def coded(stand_in: StandIn) -> StandIn:
    """A stand-in whose verdicts are in the texts."""
    stand_in.script = judged
    return stand_in


def test_every_sample_has_its_score(coded: StandIn) -> None:
    """One POST, in order, and 0.0 is a score like others."""
    orm = orm_of(coded, reference_column="solution", name="judge_help")

    got = orm(**rows("0.5", "0", "1"), solution=["a", None, 72])

    assert got == [0.5, 0.0, 1.0]
    (request,) = coded.requests
    items = request.body["items"]
    assert [item.get("reference") for item in items] == ["a", None, "72"]
    assert items[0]["prompt"] == [{"role": "user", "content": "p"}]
    assert items[0]["candidate"]["finish_reason"] == "stop"
    assert type(orm).__name__ == "judge_help"


def test_what_failed_is_judged_again(stand_in: StandIn) -> None:
    """Only that, until it has a verdict: the trainer notices nothing."""

    def script(got: Got) -> Told:
        items = got.body["items"]
        passing = failed("timeout") if got.n < 3 else None
        return Told(
            body={
                "results": [
                    (passing if item["candidate"]["messages"][-1]["content"] == "0.25" else None)
                    or outcome("assess", item)
                    for item in items
                ]
            }
        )

    stand_in.script = script

    assert orm_of(stand_in, timeout_s=20)(**rows("1", "0.25", "0")) == [1.0, 0.25, 0.0]
    assert [len(got.body["items"]) for got in stand_in.requests] == [3, 1, 1]


@pytest.mark.parametrize("mode", ["each", "group"])
@pytest.mark.parametrize("texts", [["1", "fail"], ["fail", "fail"]], ids=["partial", "all"])
def test_a_failure_never_yields_a_score(coded: StandIn, texts: list[str], mode: str) -> None:
    """The call raises when the time to hold is up."""
    started = time.monotonic()
    with pytest.raises(JudgingFailed):
        orm_of(coded, mode=mode, timeout_s=1.0)(**rows(*texts))
    assert time.monotonic() - started < 15.0
    assert len(coded.requests) > 1


def test_what_will_never_be_judged_ends_it_at_once(coded: StandIn) -> None:
    """Nothing is held for a refusal."""
    with pytest.raises(JudgingFailed, match="refused"):
        orm_of(coded, timeout_s=60)(**rows("1", "never", "fail"))
    assert len(coded.requests) == 1


@pytest.mark.parametrize("outage", OUTAGES)
@pytest.mark.parametrize("mode", ["each", "group"])
def test_an_outage_raises_in_time(stand_in: StandIn, outage: str, mode: str) -> None:
    """Whatever the answer is, it becomes no score."""
    stand_in.says(OUTAGES[outage])
    started = time.monotonic()

    with pytest.raises(JudgingFailed):
        orm_of(stand_in, mode=mode, timeout_s=0.4)(**rows("1", "0"))

    assert time.monotonic() - started < 15.0


def test_gdpo_leaves_a_sample_out(coded: StandIn) -> None:
    """There, and only there, None is no score; what may pass is asked for again all the same."""
    orm = orm_of(coded, GDPO, on_fail="none", timeout_s=1.0)

    got = orm(**rows("1", "fail", "never", "0"))

    assert got == [1.0, None, None, 0.0]
    assert math.isnan(column(got)[1])
    assert len(coded.requests) > 1
    assert [len(r.body["items"]) for r in coded.requests][1] == 1
    for args in (None, ARGS):
        with pytest.raises(ConfigError, match="gdpo"):
            orm_of(coded, args, on_fail="none")


def test_groups_are_those_of_a_prompt(coded: StandIn) -> None:
    """By ``prompt_id``, wherever they stand, ``num_generations`` at a time."""
    texts = ("0.1", "0.9", "0.3", "0.2", "0.5", "0.6")

    got = orm_of(coded, mode="group")(**rows(*texts, prompts="ababaa"))

    assert got == [float(text) for text in texts]
    items = coded.requests[0].body["items"]
    ranked = [[m["messages"][-1]["content"] for m in item["candidates"]] for item in items]
    assert ranked == [["0.1", "0.3"], ["0.5", "0.6"], ["0.9", "0.2"]]


def test_an_evaluation_has_groups_of_one(coded: StandIn) -> None:
    """Where every prompt stands alone, completions are assessed."""
    assert orm_of(coded, mode="group")(**rows("0.5", "1", prompts="ab")) == [0.5, 1.0]


def test_a_split_group_is_a_mistake(coded: StandIn) -> None:
    """Half of a group is not ranked as if it were one."""
    with pytest.raises(InvalidRequest, match="gather"):
        orm_of(coded, mode="group", group_size=4)(**rows("0.5", "1"))


def test_a_group_is_gathered_from_all_ranks(
    coded: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process gets its own members' scores from the whole group."""
    first = samples_of(**column_of(rows("0.1", "0.2")))
    accelerate, utils = types.ModuleType("accelerate"), types.ModuleType("accelerate.utils")
    accelerate.PartialState = lambda: types.SimpleNamespace(process_index=1)  # type: ignore[attr-defined]
    utils.gather_object = lambda own: [*own, (0, first)]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "accelerate", accelerate)
    monkeypatch.setitem(sys.modules, "accelerate.utils", utils)
    orm = orm_of(coded, mode="group", group_size=4, across_ranks="gather")

    assert orm(**rows("0.3", "0.4")) == [0.3, 0.4]

    (item,) = coded.requests[0].body["items"]
    ranked = [member["messages"][-1]["content"] for member in item["candidates"]]
    assert ranked == ["0.1", "0.2", "0.3", "0.4"]


def column_of(batch: dict[str, Any]) -> dict[str, Any]:
    """A batch as another process reads it."""
    given = {name: batch.pop(name) for name in ("completions", "messages")}
    return {**given, "columns": batch, "reference_column": None}


def test_several_turns_are_judged_as_messages(coded: StandIn) -> None:
    """The prompt ends where the policy begins."""
    batch = rows("1")
    said = {"role": "assistant", "content": "look"}
    batch["messages"] = [
        [USER, said, {"role": "tool", "content": "seen"}, *batch["messages"][0][1:]]
    ]

    assert orm_of(coded)(**batch) == [1.0]

    (item,) = coded.requests[0].body["items"]
    assert item["prompt"] == [USER]
    assert [turn["role"] for turn in item["candidate"]["messages"]] == [
        "assistant", "tool", "assistant",
    ]  # fmt: skip


def test_messages_without_the_completion(coded: StandIn) -> None:
    """It is the last turn, also where the prompt has turns of an assistant."""
    said = {"role": "assistant", "content": "0"}
    batch = {**rows("1"), "messages": [[USER, said, USER]]}

    assert orm_of(coded)(**batch) == [1.0]
    assert coded.requests[0].body["items"][0]["candidate"]["messages"][-1]["content"] == "1"


def test_loops_threads_and_pickles(coded: StandIn) -> None:
    """A step's loop, the next one's, another thread, and a copy in another process."""
    orm = orm_of(coded, name="judge_help", api_key="k")

    async def step() -> list[float | None]:
        return orm(**rows("0.5", "1"))

    assert [asyncio.run(step()), asyncio.run(step())] == [[0.5, 1.0]] * 2
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(orm(**rows("0.25"))))
    thread.start()
    thread.join(20)
    assert got == [[0.25]]
    again = pickle.loads(pickle.dumps(orm))  # noqa: S301 - our own
    assert again(**rows("0.75", "0")) == [0.75, 0.0]
    assert type(again).__name__ == "judge_help"
    assert {r.headers["authorization"] for r in coded.requests} == {"Bearer k"}


class Helpful(JudgeORM):
    """A reward function written as a class, as ms-swift's own are."""

    rubric = "of-the-class"
    timeout_s = 4.0


def test_a_class_has_its_settings_as_attributes(
    coded: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They win over the environment, and an argument over both."""
    monkeypatch.setenv("JUDGE_SERVICE_URL", coded.url)
    monkeypatch.setenv("JUDGE_SERVICE_RUBRIC", "of-the-environment")
    monkeypatch.setenv("JUDGE_SERVICE_FAMILY", "xi")

    for orm in (Helpful(args=ARGS), pickle.loads(pickle.dumps(Helpful()))):  # noqa: S301
        orm(**rows("1"))
    Helpful(rubric="argument")(**rows("1"))
    JudgeORM()(**rows("1"))

    rubrics = [got.body["items"][0]["rubric"] for got in coded.requests]
    assert rubrics == ["of-the-class"] * 2 + ["argument", "of-the-environment"]
    assert coded.requests[0].body["items"][0]["candidate"]["family"] == ["xi"]
    assert coded.requests[0].body["timeout_s"] < 4.0
    with pytest.raises(TypeError, match="rubrik"):
        Helpful(rubrik="r")


@pytest.mark.parametrize(
    "given",
    [
        {"rubric": None},
        {"mode": "pairs"},
        {"mode": "group", "group_size": 1},
        {"group_size": "8"},
        {"across_ranks": "server"},
        {"on_fail": "zero"},
        {"on_fail": "group_mean"},
        {"timeout_s": 0},
        {"name": "a b"},
        {"name": 7},
        {"url": "judge"},
    ],
    ids=str,
)
def test_wrong_settings_are_found_at_once(given: dict[str, Any]) -> None:
    """When the function is made, before a training begins."""
    with pytest.raises(ConfigError):
        make_orm(**{"url": "http://judge", "rubric": "r", **given})


def test_mistakes_raise(coded: StandIn) -> None:
    """A missing column, and an unknown rubric, which is not an outage."""
    with pytest.raises(InvalidRequest, match="solution"):
        orm_of(coded, reference_column="solution")(**rows("1"))
    with pytest.raises(InvalidRequest, match="messages"):
        orm_of(coded)(["1"])
    coded.says(Told(status=404, body=problem("unknown_rubric")))
    with pytest.raises(NotFound):
        orm_of(coded, timeout_s=60)(**rows("1"))


def test_odd_samples_stop_no_training(coded: StandIn) -> None:
    """What is too long has lost, half a character is replaced, and nothing is asked of nothing."""
    assert orm_of(coded)(**rows("x" * (1024 * 1024 + 1), "1")) == [0.0, 1.0]
    assert orm_of(coded)(**rows("1", prompts="\ud800")) == [1.0]
    assert orm_of(coded)([], messages=[]) == []
    assert orm_of(coded, mode="group")([], messages=[]) == []


def test_the_readme_runs_as_pasted(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the service and a shipped rubric, with the registry where ms-swift has it."""
    rewards = types.ModuleType("swift.rewards")
    rewards.orms = {}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "swift", types.ModuleType("swift"))
    monkeypatch.setitem(sys.modules, "swift.rewards", rewards)
    with shipped(provider, tmp_path) as service:
        monkeypatch.setenv("JUDGE_SERVICE_URL", service.url)
        orms = paste("ms-swift")["orms"]

        assert orms["judge"](args=ARGS)(**rows(GOOD, BAD, "")) == [1.0, 0.0, 0.0]
