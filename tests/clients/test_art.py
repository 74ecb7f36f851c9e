"""The judge of ART's groups: rewards for all, or the group is left out."""

from __future__ import annotations

import asyncio
import pickle
import time
import types
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from judge_client import ConfigError, InvalidRequest, JudgingFailed, NotFound
from judge_client.art import judge_group
from pydantic import BaseModel

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import paste
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, problem
from tests.clients.trainer_service import BAD, GOOD, shipped
from tests.provider import FakeProvider

USER = {"role": "user", "content": "q"}


class Choice(BaseModel):
    """What a policy said, as a completion API gives it."""

    message: dict[str, Any]
    finish_reason: str = "stop"


class Trajectory(BaseModel):
    """ART's, as far as a reward sees it."""

    messages_and_choices: list[Any] = []
    tools: list[Any] | None = None
    additional_histories: list[Any] = []
    reward: float = 0.0
    metrics: dict[str, float] = {}
    logs: list[str] = []

    def messages(self) -> list[dict[str, Any]]:
        """Choices as messages."""
        return [m.message if isinstance(m, Choice) else m for m in self.messages_and_choices]


class Group(BaseModel):
    """Trajectories of one scenario."""

    trajectories: list[Trajectory] = []
    metadata: dict[str, str] = {}


async def gather(
    groups: Iterable[Awaitable[Group]], after_each: Callable[[Group], Awaitable[Group | None]]
) -> list[Group]:
    """All groups after ``after_each``, but for those that became None."""

    async def one(group: Awaitable[Group]) -> Group | None:
        return await after_each(await group)

    return [g for g in await asyncio.gather(*map(one, groups)) if g is not None]


def said(*texts: str, **more: Any) -> Group:
    """A group of one turn each."""
    spoken = [Choice(message={"role": "assistant", "content": text}) for text in texts]
    made = [Trajectory(messages_and_choices=[USER, one], reward=0.125, **more) for one in spoken]
    return Group(trajectories=made, metadata={"scenario": "s"})


def judge(stand_in: StandIn, group: Group, **more: Any) -> Any:
    """The group after the judge."""
    settings = {"rubric": "r", "timeout_s": 5.0, **more}
    return asyncio.run(judge_group(stand_in.url, **settings)(group))


@pytest.fixture
def coded(stand_in: StandIn) -> StandIn:
    """A stand-in whose verdicts are in the texts."""
    stand_in.script = judged
    return stand_in


def test_every_trajectory_has_its_reward(coded: StandIn) -> None:
    """A copy with rewards in order, 0.0 among them, RULER's metrics and a log; the old stays."""
    group = said("0.5", "0.0", "1.0")

    found = judge(coded, group)

    assert [t.reward for t in found.trajectories] == [0.5, 0.0, 1.0]
    assert [t.reward for t in group.trajectories] == [0.125] * 3
    assert found.metadata == {"scenario": "s"}
    for trajectory in found.trajectories:
        assert trajectory.metrics == {
            "independent_reward": 0.125,
            "ruler_score": trajectory.reward,
            "judge/swap_consistency": 0.75,
        }
        assert "of 3" in trajectory.logs[0]
    assert not group.trajectories[0].metrics
    assert len(coded.requests) == 1


@pytest.mark.parametrize("text", ["fail", "never"])
def test_one_failed_member_drops_the_group(coded: StandIn, text: str) -> None:
    """None, which ART leaves out; raised only where that is wanted."""
    assert judge(coded, said("1.0", text)) is None
    with pytest.raises(JudgingFailed):
        judge(coded, said("1.0", text), on_fail="raise")


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_drops_the_group_in_time(stand_in: StandIn, outage: str) -> None:
    """Whatever the answer is, it becomes no reward, and nobody waits beyond the budget."""
    stand_in.says(OUTAGES[outage])
    started = time.monotonic()

    assert judge(stand_in, said("1.0", "0.0"), timeout_s=0.4) is None

    assert time.monotonic() - started < 15.0


def test_seven_rewards_for_eight_are_asked_for_once_more(stand_in: StandIn) -> None:
    """They are never padded: the second answer counts, and a third is not asked for."""
    seven = {**SUCCESS, "rewards": [0.5] * 7}
    eight = {**SUCCESS, "rewards": [n / 8 for n in range(8)]}
    stand_in.says(Told(body=seven), Told(body=eight))

    found = judge(stand_in, said(*["x"] * 8))

    assert [t.reward for t in found.trajectories] == [n / 8 for n in range(8)]
    stand_in.requests.clear()
    stand_in.says(Told(body=seven))
    assert judge(stand_in, said(*["x"] * 8)) is None
    assert len(stand_in.requests) == 2


def test_what_all_share_is_the_prompt(coded: StandIn) -> None:
    """The turns before the policy's first; an example among them is not the policy's."""
    example = [USER, {"role": "assistant", "content": "an example"}, {**USER, "content": "now"}]
    turns = [[Choice(message={"role": "assistant", "content": t})] for t in ("0.25", "0.75")]
    tools = [{"type": "function", "function": {"name": "look"}}]
    made = [Trajectory(messages_and_choices=[*example, *own], tools=tools) for own in turns]

    assert judge(coded, Group(trajectories=made)) is not None

    body = coded.requests[0].body
    assert "look" in body["prompt"][0]["content"]
    assert body["prompt"][1:] == example
    assert [len(member["messages"]) for member in body["candidates"]] == [1, 1]


def test_a_rollout_that_broke_off_has_said_nothing(coded: StandIn) -> None:
    """No turn is an empty answer, which the service gives 0, among the others."""
    group = said("1.0")
    group.trajectories.append(Trajectory(messages_and_choices=[USER]))

    found = judge(coded, group)

    assert [t.reward for t in found.trajectories] == [1.0, 0.0]


def test_groups_of_one_and_of_none(coded: StandIn) -> None:
    """One is assessed, or dropped where the rubric compares; of none nothing is asked."""
    assert judge(coded, said("0.25")).trajectories[0].reward == 0.25
    assert judge(coded, Group()) == Group()
    coded.says(Told(status=422, body={"error": {**problem("x")["error"], "field": "rubric"}}))
    assert judge(coded, said("0.25")) is None


def test_mistakes_end_the_run(coded: StandIn) -> None:
    """An unknown rubric would drop every group for ever; several histories are never ranked."""
    with pytest.raises(InvalidRequest, match="additional_histories"):
        judge(coded, said("1", "0", additional_histories=[1]))
    coded.says(Told(status=404, body=problem("unknown_rubric")))
    with pytest.raises(NotFound):
        judge(coded, said("1", "0"))


@pytest.mark.parametrize(
    "given", [{"rubric": None}, {"on_fail": "zero"}, {"strategy": "x"}, {"timeout_s": 0}], ids=str
)
def test_wrong_settings_are_found_at_once(given: dict[str, Any]) -> None:
    """Before a training begins."""
    with pytest.raises(ConfigError):
        judge_group(**{"url": "http://judge", "rubric": "r", **given})


def test_settings_come_from_the_environment(
    coded: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them; an argument wins."""
    told = {"URL": coded.url, "RUBRIC": "mine", "TIMEOUT_S": "7", "API_KEY": "k", "FAMILY": "xi"}
    for name, value in told.items():
        monkeypatch.setenv(f"JUDGE_SERVICE_{name}", value)

    asyncio.run(judge_group(timeout_s=6)(said("1", "0")))

    (request,) = coded.requests
    assert request.headers["authorization"] == "Bearer k"
    assert (request.body["rubric"], request.body["timeout_s"]) == ("mine", 6.0)
    assert request.body["candidates"][0]["family"] == ["xi"]


def test_it_is_right_in_every_loop_and_after_pickling(coded: StandIn) -> None:
    """One judge, two event loops, and a copy from another process."""
    own = judge_group(coded.url, rubric="r", timeout_s=5)

    for judge_now in (own, own, pickle.loads(pickle.dumps(own))):  # noqa: S301 - our own
        found = asyncio.run(judge_now(said("0.5", "1.0")))
        assert [t.reward for t in found.trajectories] == [0.5, 1.0]


def test_many_groups_at_once(coded: StandIn) -> None:
    """Each has its own fate."""

    async def run() -> list[Group]:
        async def rolled(*texts: str) -> Group:
            return said(*texts)

        groups = [rolled("0.5", "fail" if n % 4 == 0 else "1.0") for n in range(16)]
        return await gather(groups, judge_group(coded.url, rubric="r", timeout_s=10))

    found = asyncio.run(run())

    assert [[t.reward for t in group.trajectories] for group in found] == [[0.5, 1.0]] * 12


def test_recorded_exchanges_are_read_as_a_history(coded: StandIn) -> None:
    """ART's newer trajectories; one that is no single conversation drops its group."""

    class Recorded(Trajectory):
        """A trajectory of exchanges."""

        said: str

        def history(self) -> Any:
            """Its only conversation."""
            if self.said == "split":
                raise ValueError("requires exactly one history")
            messages = [USER, {"role": "assistant", "content": self.said}]
            chat = types.SimpleNamespace(messages=messages, tools=None)
            return types.SimpleNamespace(as_chat_completions_history=lambda: chat)

    found = judge(coded, Group(trajectories=[Recorded(said="0.5"), Recorded(said="1.0")]))

    assert [t.reward for t in found.trajectories] == [0.5, 1.0]
    assert judge(coded, Group(trajectories=[Recorded(said="0.5"), Recorded(said="split")])) is None


def test_a_candidate_that_is_too_long_has_lost(coded: StandIn) -> None:
    """0.0 by its length, among members that are judged as ever."""
    found = judge(coded, said("1.0", "x" * (1024 * 1024 + 1)))

    assert [t.reward for t in found.trajectories] == [1.0, 0.0]


def test_the_readme_runs_as_pasted(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the service and a shipped rubric."""
    texts = iter([GOOD, BAD, GOOD, BAD])

    async def rollout(model: str, scenario: str) -> Trajectory:
        turn = Choice(message={"role": "assistant", "content": next(texts)})
        return Trajectory(messages_and_choices=[{**USER, "content": scenario}, turn])

    async def group_of(rollouts: Iterable[Awaitable[Trajectory]]) -> Group:
        return Group(trajectories=list(await asyncio.gather(*rollouts)))

    art = types.SimpleNamespace(TrajectoryGroup=group_of, gather_trajectory_groups=gather)
    names: dict[str, Any] = {
        "art": art, "rollout": rollout, "model": "m", "scenarios": ["Say what basil needs."],
    }  # fmt: skip
    with shipped(provider, tmp_path) as service:
        monkeypatch.setenv("JUDGE_SERVICE_URL", service.url)
        (group,) = paste("ART", **names)["groups"]

    first, second, third, fourth = (t.reward for t in group.trajectories)
    assert first == third > second == fourth


def test_got_is_what_was_sent(coded: StandIn) -> None:
    """How the policy's turn ended goes along."""
    group = said("0.5", "1.0")
    group.trajectories[0].messages_and_choices[1].finish_reason = "length"

    judge(coded, group)

    got: Got = coded.requests[0]
    assert [m["finish_reason"] for m in got.body["candidates"]] == ["length", "stop"]
