"""The reward function for TRL, as its trainers call it; TRL itself is not needed."""

from __future__ import annotations

import pickle
import sys
import types
from typing import Any

import pytest
from judge_client import ConfigError, InvalidRequest, JudgingFailed, NotFound
from judge_client.rows import Row
from judge_client.trl import JudgeReward
from judge_client.trl_trainers import COUNTS_AS_ZERO, on_failed_of

from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, failed, problem
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, text_hash


def worth(text: str) -> Any:
    """An outcome by what a text says: a number, or a failure."""
    return failed("timeout") if text == "fail" else {**SUCCESS, "reward": float(text or 0)}


def said(candidate: dict[str, Any]) -> str:
    """A candidate's text."""
    found: str = candidate["text"] if "text" in candidate else candidate["messages"][-1]["content"]
    return found


def script(got: Got) -> Told:
    """Answers a batch of assessments and rankings."""
    results = []
    for item in got.body["items"]:
        if item["kind"] == "assess":
            results.append(worth(said(item["candidate"])))
            continue
        texts = [said(member) for member in item["candidates"]]
        group = failed("timeout") if "fail" in texts else SUCCESS
        results.append({**group, "rewards": None if "fail" in texts else [float(t) for t in texts]})
    return Told(body={"results": results})


@pytest.fixture
def judged(stand_in: StandIn) -> StandIn:
    """A stand-in that judges batches."""
    stand_in.script = script
    return stand_in


def reward_of(stand_in: StandIn, **more: Any) -> JudgeReward:
    """A reward function over the stand-in."""
    return JudgeReward(stand_in.url, **{"rubric": "r", "name": "judge_r", "timeout_s": 5, **more})


def test_a_batch_is_one_post(judged: StandIn) -> None:
    """A reward for each completion, None where there is no verdict, 0.0 where it is earned."""
    reward = reward_of(judged)

    got = reward(["p"] * 4, ["0.5", "fail", "0.0", "1.0"], completion_ids=[[1]] * 4, extra=[1] * 4)

    assert got == [0.5, None, 0.0, 1.0]
    assert len(judged.requests) == 1
    assert reward.__name__ == "judge_r"


def test_messages_are_judged_as_messages(judged: StandIn) -> None:
    """Conversational data: the prompt's turns, and the completion's."""
    prompt = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    completion = [{"role": "assistant", "content": "0.25"}]

    assert reward_of(judged)([prompt], [completion]) == [0.25]

    item = judged.requests[0].body["items"][0]
    assert item["prompt"] == prompt
    assert item["candidate"]["messages"] == completion


def test_the_reference_is_a_column(judged: StandIn) -> None:
    """Texts as they are, other values as JSON, none where the row has none."""
    reward = reward_of(judged, reference_column="solution")

    reward(["p"] * 3, ["1", "1", "1"], solution=["a", 72, None])

    items = judged.requests[0].body["items"]
    assert [item.get("reference") for item in items] == ["a", "72", None]
    with pytest.raises(InvalidRequest, match="solution"):
        reward(["p"], ["1"])


def test_a_group_is_ranked(judged: StandIn) -> None:
    """Runs of one prompt are groups; neighbours with the same prompt are groups of their own."""
    reward = reward_of(judged, mode="group", group_size=2)

    got = reward(["p", "p", "p", "p", "q", "q"], ["0.1", "0.9", "0.3", "0.2", "fail", "0.5"])

    assert got == [0.1, 0.9, 0.3, 0.2, None, None]
    (request,) = judged.requests
    assert [item["kind"] for item in request.body["items"]] == ["rank"] * 3


def test_an_evaluation_has_groups_of_one(judged: StandIn) -> None:
    """Where every prompt stands alone, completions are assessed."""
    reward = reward_of(judged, mode="group", group_size=4)

    assert reward(["p", "q"], ["0.5", "1.0"]) == [0.5, 1.0]


def test_equal_prompts_with_other_references_are_no_group(judged: StandIn) -> None:
    """An evaluation's rows that only ask the same: each is assessed by its own reference."""
    reward = reward_of(judged, mode="group", group_size=2, reference_column="solution")

    assert reward(["p", "p"], ["0.5", "1.0"], solution=["a", "b"]) == [0.5, 1.0]

    items = judged.requests[0].body["items"]
    assert [(item["kind"], item["reference"]) for item in items] == [
        ("assess", "a"),
        ("assess", "b"),
    ]


@pytest.mark.parametrize("prompts", ["pp", "pqqr", "pqqqr"])
def test_an_evaluation_that_repeats_a_prompt_must_say_so(judged: StandIn, prompts: str) -> None:
    """The message names the setting for it, with which the same batch is judged."""
    texts = ["0.5"] * len(prompts)
    with pytest.raises(InvalidRequest, match="split_column"):
        reward_of(judged, mode="group", group_size=8)(list(prompts), texts)

    told = reward_of(judged, mode="group", group_size=8, split_column="split")

    assert told(list(prompts), texts, split=["test"] * len(texts)) == [0.5] * len(texts)


def test_a_split_group_is_a_mistake(judged: StandIn) -> None:
    """Half of a group is not ranked as if it were one."""
    with pytest.raises(InvalidRequest, match="gather"):
        reward_of(judged, mode="group", group_size=4)(["p", "p"], ["0.5", "1.0"])


def test_a_group_is_gathered_from_all_ranks(
    judged: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process gets its own members' rewards from the whole group."""
    others = [Row(prompt="p", text=text, turns=None, reference=None) for text in ("0.1", "0.2")]
    accelerate, utils = types.ModuleType("accelerate"), types.ModuleType("accelerate.utils")
    accelerate.PartialState = lambda: types.SimpleNamespace(process_index=1)  # type: ignore[attr-defined]
    utils.gather_object = lambda own: [*own, (0, others)]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "accelerate", accelerate)
    monkeypatch.setitem(sys.modules, "accelerate.utils", utils)

    reward = reward_of(judged, mode="group", group_size=4, across_ranks="gather")

    assert reward(["p", "p"], ["0.3", "0.4"]) == [0.3, 0.4]
    (item,) = judged.requests[0].body["items"]
    assert [said(member) for member in item["candidates"]] == ["0.1", "0.2", "0.3", "0.4"]


@pytest.mark.parametrize("text", ["1.0", "fail"])
def test_the_same_names_are_logged_whatever_happens(judged: StandIn, text: str) -> None:
    """Trainers gather metrics over processes, which hangs where a name is missing."""
    metrics: dict[str, float] = {}
    extra: dict[str, list[str]] = {}

    reward_of(judged)(
        ["p", "p"], ["0.5", text], log_metric=metrics.__setitem__, log_extra=extra.__setitem__,
        trainer_state=object(),
    )  # fmt: skip

    assert metrics == {"judge_r/judge_failed": 0.5 if text == "fail" else 0.0}
    assert extra == {"judge_r_error": ["", "timeout" if text == "fail" else ""]}


def test_it_survives_pickling(judged: StandIn) -> None:
    """Asynchronous trainers and workers carry it to other processes."""
    reward = reward_of(judged, mode="group", group_size=2, api_key="k")
    reward(["p", "p"], ["0.5", "1.0"])

    again = pickle.loads(pickle.dumps(reward))  # noqa: S301 - our own

    assert again.__name__ == "judge_r"
    assert again(["p", "p"], ["0.5", "1.0"]) == [0.5, 1.0]


@pytest.mark.parametrize("told", [Told(status=500, body=problem("internal")), Told(body=b"<html>")])
def test_an_outage_is_none_unless_told_otherwise(stand_in: StandIn, told: Told) -> None:
    """By default training goes on without these samples."""
    stand_in.says(told)

    assert reward_of(stand_in)(["p"] * 2, ["a", "b"]) == [None, None]


def test_an_outage_can_stop_training(stand_in: StandIn) -> None:
    """``on_unavailable`` raises when there was no answer at all, ``on_failed`` for any failure."""
    stand_in.says(Told(body=b"<html>"))
    with pytest.raises(JudgingFailed):
        reward_of(stand_in, on_unavailable="raise")(["p"], ["a"])

    stand_in.script = script
    assert reward_of(stand_in, on_unavailable="raise")(["p"] * 2, ["fail", "1"]) == [None, 1.0]
    with pytest.raises(JudgingFailed):
        reward_of(stand_in, on_failed="raise", timeout_s=0.5)(["p"] * 2, ["fail", "1"])


@pytest.mark.parametrize("version", ["0.16.0", "0.29.1", "1.0.0", "1.5.2"])
def test_an_old_trl_gets_no_none(version: str) -> None:
    """It would count as 0, so a failure raises there."""
    with pytest.warns(UserWarning, match="counts a sample without reward as 0"):
        assert on_failed_of(version) == "raise"


@pytest.mark.parametrize("version", ["1.6.0", "1.16.0", "2.0.0.dev0", None])
def test_a_new_trl_gets_none(version: str | None) -> None:
    """From 1.6 on, and where TRL is not installed."""
    assert on_failed_of(version) == "none"


def asked_by(module: str) -> Any:
    """A function of that module, which asks for rewards."""
    made = types.ModuleType(module)
    exec("def ask(reward, prompts, texts): return reward(prompts, texts)", vars(made))  # noqa: S102
    return made.__dict__["ask"]


@pytest.mark.parametrize("trainer", COUNTS_AS_ZERO)
@pytest.mark.parametrize("mode", ["each", "group"])
def test_no_none_for_a_trainer_that_counts_it_as_zero(
    judged: StandIn, trainer: str, mode: str
) -> None:
    """It gets an exception; a sample that was judged after all has its reward."""
    reward = reward_of(judged, mode=mode, group_size=2, timeout_s=1.5)
    with pytest.raises(JudgingFailed):
        asked_by(trainer)(reward, ["p"] * 2, ["fail", "1"])
    assert reward(["p"] * 2, ["fail", "1"]) == [None, None if mode == "group" else 1.0]

    told = Told(body={"results": [failed()] * 2})
    reward = reward_of(judged, timeout_s=20)
    judged.requests.clear()
    judged.script = lambda got: told if got.n == 1 else script(got)
    assert asked_by(trainer)(reward, ["p"] * 2, ["0.5", "1"]) == [0.5, 1.0]


def test_none_where_it_is_asked_for(judged: StandIn) -> None:
    """Beside another reward function a trainer may be told nothing."""
    reward = reward_of(judged, on_failed="none")

    assert asked_by(next(iter(COUNTS_AS_ZERO)))(reward, ["p"] * 2, ["fail", "1"]) == [None, 1.0]


@pytest.mark.parametrize("told", [["test"] * 2, ["train", "test"]], ids=str)
def test_a_column_tells_an_evaluation(judged: StandIn, told: list[str]) -> None:
    """Its completions are assessed one by one, on their own rubric; a training's are ranked."""
    reward = reward_of(
        judged, mode="group", group_size=2, split_column="split", eval_rubric="alone"
    )

    assert reward(["p"] * 2, ["0.5", "1"], split=told) == [0.5, 1.0]
    reward(["p"] * 2, ["0.5", "1"], split=["train"] * 2)

    asked = [[(i["kind"], i["rubric"]) for i in got.body["items"]] for got in judged.requests]
    assert asked == [[("assess", "alone")] * 2, [("rank", "r")]]
    with pytest.raises(InvalidRequest, match="split_column"):
        reward(["p"] * 2, ["0.5", "1"])


def test_settings_come_from_the_environment(
    judged: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time and purpose among them; an argument is worth more."""
    monkeypatch.setenv("JUDGE_SERVICE_TIMEOUT_S", "7")
    monkeypatch.setenv("JUDGE_SERVICE_PURPOSE", "validate")

    JudgeReward(judged.url, rubric="r")(["p"], ["1"])
    JudgeReward(judged.url, rubric="r", purpose="train", timeout_s=50)(["p"], ["1"])

    first, second = (got.body for got in judged.requests)
    assert (first["items"][0]["purpose"], second["items"][0]["purpose"]) == ("validate", "train")
    assert first["timeout_s"] < 7 < 40 < second["timeout_s"]


def test_half_a_character_stops_no_training(judged: StandIn) -> None:
    """A completion that is no text is judged with a replacement."""
    judged.says(Told(body={"results": [SUCCESS, SUCCESS]}))

    assert reward_of(judged)(["p", "p\ud800"], ["a", "b\udfff"]) == [0.75, 0.75]


def test_a_mistake_raises(stand_in: StandIn) -> None:
    """An unknown rubric is not an outage."""
    stand_in.says(Told(status=404, body=problem("unknown_rubric")))

    with pytest.raises(NotFound):
        reward_of(stand_in)(["p"], ["a"])


@pytest.mark.parametrize(
    "given",
    [
        {"rubric": None},
        {"name": ""},
        {"name": "a b"},
        {"name": 7},
        {"mode": "pairs"},
        {"mode": "group"},
        {"mode": "group", "group_size": 1},
        {"across_ranks": "all"},
        {"deadline_s": 0},
        {"deadline_s": 5, "timeout_s": 5},
        {"on_failed": "zero"},
        {"on_unavailable": 0},
        {"timeout_s": 0},
        {"purpose": "validation"},
        {"eval_rubric": "No Rubric"},
        {"url": "judge"},
    ],
    ids=str,
)
def test_wrong_settings_are_found_at_once(given: dict[str, Any]) -> None:
    """Before a training begins."""
    with pytest.raises(ConfigError):
        JudgeReward(**{"url": "http://judge", "rubric": "r", **given})


def test_an_empty_batch_is_empty(judged: StandIn) -> None:
    """Nothing is asked."""
    assert reward_of(judged)([], []) == []
    assert reward_of(judged, mode="group", group_size=2)([], []) == []


def test_the_real_service_judges_a_batch(service: RunningService, judge: FakeProvider) -> None:
    """Assessments and rankings of a real service, with a failure among them."""
    judge.oracle({text_hash(t): s for t, s in {"a": 1, "b": 5}.items()}, default=3)
    judge.behave("main", behaviours.chokes_on("unspeakable"))
    each = JudgeReward(service.url, rubric="quality", family="xi")
    group = JudgeReward(service.url, rubric="pair", mode="group", group_size=2, family="xi")

    assert each(["p"] * 3, ["a", "b", "unspeakable"]) == [0.0, 1.0, None]
    assert group(["p"] * 4, ["a", "b", "b", "a"]) == [0.0, 1.0, 1.0, 0.0]
