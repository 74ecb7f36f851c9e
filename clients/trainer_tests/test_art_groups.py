"""ART's own trajectories and gathering: rewards where there is a verdict, no group where not."""

from __future__ import annotations

import asyncio
import copy
import pickle
from typing import Any

import art
import pytest
from judge_client.art import judge_group
from openai.types.chat.chat_completion import Choice
from service_process import real_service

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import paste
from tests.clients.stand_in import SUCCESS, StandIn, Told

USER = {"role": "user", "content": "q"}


def choice(text: str, reason: str = "stop") -> Choice:
    """What a policy said."""
    message = {"role": "assistant", "content": text}
    return Choice.model_validate({"finish_reason": reason, "index": 0, "message": message})


def trajectory(text: str) -> art.Trajectory:
    """A question and an answer."""
    return art.Trajectory(messages_and_choices=[USER, choice(text)], reward=0.125)


async def rollout(text: str) -> art.Trajectory:
    """The same, as a rollout; one of them breaks."""
    if text == "broken":
        raise RuntimeError("the rollout broke")
    return trajectory(text)


def gathered(judge: Any, *groups: list[str]) -> list[art.TrajectoryGroup]:
    """ART's gathering of groups, each after the judge."""

    async def run() -> list[art.TrajectoryGroup]:
        return await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(text) for text in texts) for texts in groups),
            after_each=judge,
            max_exceptions=10,
        )

    return asyncio.run(run())


def rewards(groups: list[art.TrajectoryGroup]) -> list[list[float]]:
    """All rewards, in order of size."""
    return [sorted(t.reward for t in group.trajectories) for group in groups]


def test_groups_have_rewards_or_are_left_out() -> None:
    """One failed of three; a broken rollout is no member, and stays noted; 0.0 is a reward."""
    with StandIn() as service:
        service.script = judged
        judge = judge_group(service.url, rubric="r", timeout_s=10)
        groups = [["0.5", "0"], ["1", "fail"], ["0.25", "broken", "0.75"]]

        for own in (judge, pickle.loads(pickle.dumps(judge))):  # noqa: S301 - our own
            found = gathered(own, *groups)
            assert rewards(found) == [[0.0, 0.5], [0.25, 0.75]]

    assert [len(group.exceptions) for group in found] == [0, 1]
    for group in found:
        for one in group.trajectories:
            assert one.metrics["ruler_score"] == one.reward
            assert one.metrics["independent_reward"] == 0.125
            assert one.metrics["judge/swap_consistency"] == 0.75
            assert len(one.logs) == 1
            assert one.model_dump_json()


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_leaves_the_group_out(outage: str) -> None:
    """No exception ends the gathering, and no number enters it."""
    with StandIn() as service:
        service.says(OUTAGES[outage])

        assert gathered(judge_group(service.url, rubric="r", timeout_s=0.8), ["1", "0"]) == []


def test_seven_rewards_for_eight_are_asked_for_once_more() -> None:
    """And no more often."""
    with StandIn() as service:
        service.says(Told(body={**SUCCESS, "rewards": [0.5] * 7}))

        assert gathered(judge_group(service.url, rubric="r"), [str(n / 8) for n in range(8)]) == []
        assert len(service.requests) == 2


def test_a_group_keeps_what_it_has() -> None:
    """Metadata, tools, several turns; the group that was given is as it was."""
    call = {
        "id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"},
    }  # fmt: skip
    looks = Choice.model_validate(
        {
            "finish_reason": "tool_calls",
            "index": 0,
            "message": {"role": "assistant", "content": None, "tool_calls": [call]},
        }
    )
    seen = {"role": "tool", "tool_call_id": "1", "content": "seen"}
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    group = art.TrajectoryGroup(
        [
            art.Trajectory(
                messages_and_choices=[USER, looks, seen, choice(text)], tools=tools,
                metadata={"n": text},
            )
            for text in ("0.5", "1")
        ],
        metadata={"scenario": "s"},
    )  # fmt: skip
    before = copy.deepcopy(group)
    with StandIn() as service:
        service.script = judged
        found = asyncio.run(judge_group(service.url, rubric="r")(group))
        body = service.requests[0].body

    assert [t.reward for t in found.trajectories] == [0.5, 1.0]
    assert found.metadata == {"scenario": "s"}
    assert [t.metadata for t in found.trajectories] == [{"n": "0.5"}, {"n": "1"}]
    assert group.model_dump_json() == before.model_dump_json()
    assert [turn["role"] for turn in body["prompt"]] == ["system", "user"]
    turns = body["candidates"][0]["messages"]
    assert [turn["role"] for turn in turns] == ["assistant", "tool", "assistant"]
    assert turns[0]["tool_calls"][0]["function"]["name"] == "look"


def test_the_readme_runs_as_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a real service."""
    texts = iter(["A good answer, with what was asked for.", "A bad one."] * 2)

    async def basil(model: str, scenario: str) -> art.Trajectory:
        return art.Trajectory(
            messages_and_choices=[{"role": "user", "content": scenario}, choice(next(texts))]
        )

    with real_service() as url:
        monkeypatch.setenv("JUDGE_SERVICE_URL", url)
        names = {"art": art, "rollout": basil, "model": "m", "scenarios": ["Say what basil needs."]}
        (group,) = paste("ART", **names)["groups"]

    by_answer = {t.messages()[-1]["content"]: t.reward for t in group.trajectories}
    assert len(group.trajectories) == 4
    assert by_answer["A bad one."] < by_answer["A good answer, with what was asked for."]
