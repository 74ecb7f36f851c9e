"""The group reward function through the SDK's server, over a stand-in that ranks."""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from dashscope.finetune.reinforcement import AgentOutput, GroupRewardInput
from judge_client.dashscope import JudgeGroupRewardProcessor

from tests.clients.dashscope.sdk_server import ROOT, SdkServer, turns
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, failed, problem
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, text_hash


def said(candidate: dict[str, Any]) -> str:
    """The text of a candidate, or of its last turn."""
    turns = [t for t in candidate.get("messages", []) if t["role"] == "assistant"]
    content = candidate.get("text") or (turns[-1].get("content") if turns else None) or ""
    return content if isinstance(content, str) else json.dumps(content)


def worth(candidate: dict[str, Any]) -> float:
    """What a stand-in's judge makes of a text: the number in it; an empty one is worth 0."""
    found = re.search(r"worth (\d\.\d+)", said(candidate))
    return float(found[1]) if found else 0.25 if said(candidate).strip() else 0.0


def rank(got: Got) -> Told:
    """A ranking of what was sent, or an assessment, or a rubric, as asked."""
    if got.method == "GET":
        return Told(body={"id": "quality", "criteria": []})
    if got.path == "/v1/assess":
        return Told(body={**SUCCESS, "reward": worth(got.body["candidate"])})
    members = got.body["candidates"]
    if not 2 <= len(members) <= 64:
        return Told(status=422, body=problem("invalid_request", "2 to 64 candidates"))
    rewards = [worth(member) for member in members]
    return Told(
        body={
            **SUCCESS,
            "rewards": rewards,
            "ranks": [1 + sum(other > own for other in rewards) for own in rewards],
            "candidates": [
                {"id": member["id"], "status": "success", "reward": own}
                for member, own in zip(members, rewards, strict=True)
            ],
            "pairs": {"asked": 6, "consistent": 5, "tie": 0, "inconsistent": 1, "failed": 0},
            "zero_advantage": len(set(rewards)) == 1,
        }
    )


@pytest.fixture(autouse=True)
def _ranks(ranker: StandIn) -> None:
    """A stand-in that ranks, without requests."""
    ranker.requests.clear()
    ranker.script = rank


def scores(answer: dict[str, Any]) -> list[float]:
    """The scores of a success, in order."""
    assert answer["status"] == "success", answer
    assert answer["error"] is None
    return [reward["reward_score"] for reward in answer["reward"]["rewards"]]


def check_failed(answer: dict[str, Any], size: int, code: str) -> None:
    """A failed group: a reason, and a placeholder for each member."""
    assert answer["status"] == "failed", answer
    assert answer["error"]
    assert answer["error_code"] == code
    assert [r["reward_score"] for r in answer["reward"]["rewards"]] == [0.0] * size


@pytest.mark.parametrize("size", [0, 1, 2, 8, 16, 64])
def test_groups_of_any_size_keep_their_order(group: SdkServer, ranker: StandIn, size: int) -> None:
    """A score for each member, in the order of the members, as the service gave them."""
    expected = [round((n * 7 % 64) / 64, 3) for n in range(size)]

    answer = group.group([f"worth {value:.3f}" for value in expected])

    assert scores(answer) == expected
    assert len(ranker.requests) == min(size, 1)


def test_metrics_say_who_won(group: SdkServer) -> None:
    """Every member has the same metric names: its rank and how sure the pairs were."""
    answer = group.group(["worth 0.1", "worth 0.9", "worth 0.5"])

    metrics = [reward["reward_metrics"] for reward in answer["reward"]["rewards"]]
    assert [m["rank"] for m in metrics] == [3.0, 1.0, 2.0]
    assert {tuple(m) for m in metrics} == {
        ("rank", "zero_advantage", "pairs_asked", "pairs_inconsistent", "rollout_failed")
    }


@pytest.mark.parametrize("content", [None, "", "ROLLOUT_ERROR: no tool", []], ids=str)
def test_members_without_an_answer_get_zero(
    group: SdkServer, ranker: StandIn, content: object
) -> None:
    """The list keeps its length, and the others are scored as ever."""
    answer = group.group(["worth 0.8", content, "worth 0.3"])

    assert scores(answer) == [0.8, 0.0, 0.3]
    sent = ranker.requests[0].body["candidates"]
    assert "ROLLOUT" not in json.dumps(sent)


def test_nobody_wins_against_a_failed_rollout(group: SdkServer, ranker: StandIn) -> None:
    """The others are ranked without it, in their places; its 0 is marked as none."""
    broken = "ROLLOUT_ERROR: no tool"

    answer = group.group([broken, "worth 0.2", broken, "worth 0.8", ""])

    assert scores(answer) == [0.0, 0.2, 0.0, 0.8, 0.0]
    sent = ranker.requests[0].body["candidates"]
    assert [said(member) for member in sent] == ["worth 0.2", "worth 0.8", ""]
    metrics = [reward["reward_metrics"] for reward in answer["reward"]["rewards"]]
    assert [m["rollout_failed"] for m in metrics] == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert [m["rank"] for m in metrics] == [4.0, 2.0, 4.0, 1.0, 3.0]
    assert len({tuple(m) for m in metrics}) == 1


def test_whoever_is_left_alone_is_assessed(group: SdkServer, ranker: StandIn) -> None:
    """A failed rollout makes the other one no winner."""
    answer = group.group(["ROLLOUT_ERROR: no tool", "worth 0.4"])

    assert scores(answer) == [0.0, 0.4]
    assert [got.path for got in ranker.requests] == ["/v1/assess"]


def test_failed_rollouts_only_are_a_failed_group(group: SdkServer, ranker: StandIn) -> None:
    """Where no rollout worked there is nothing to learn from."""
    check_failed(group.group(["ROLLOUT_ERROR: a", "ROLLOUT_ERROR: b"]), 2, "rollout_failed")
    assert ranker.requests == []


def test_one_unjudged_member_fails_the_group(group: SdkServer, ranker: StandIn) -> None:
    """All members have placeholders then, and the reason names the member."""
    entries = [{"status": "success", "reward": None}, {"status": "failed", "reward": None}]
    ranker.says(Told(body={**failed("timeout"), "rewards": None, "candidates": entries}))

    answer = group.group(["ROLLOUT_ERROR: no tool", "worth 0.8", "worth 0.3"])

    check_failed(answer, 3, "timeout")
    assert "members 2" in answer["error"]


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (Told(body={**SUCCESS, "rewards": [0.5]}), "protocol"),
        (Told(body={**SUCCESS, "rewards": [0.5, 0.5, 0.5, 0.5]}), "protocol"),
        (Told(body={**SUCCESS, "rewards": [0.5, None, 0.1]}), "protocol"),
        (Told(body=SUCCESS), "protocol"),
        (Told(body=b"<html>"), "protocol"),
        (Told(status=503, headers={"Retry-After": "60"}), "overloaded"),
        (Told(status=422, body=problem("invalid_request")), "invalid_request"),
        (Told(body=failed("inconclusive", retryable=False)), "inconclusive"),
        (Told(drop=True), "unreachable"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_group_without_rewards_has_failed(
    group: SdkServer, ranker: StandIn, told: Told, code: str
) -> None:
    """Whatever came instead of a reward for each, nobody gets one."""
    ranker.says(told)

    check_failed(group.group(["a", "b", "c"]), 3, code)


def test_a_group_too_large_has_failed(group: SdkServer) -> None:
    """More members than the service takes are refused, not cut."""
    check_failed(group.group(["x"] * 65), 65, "invalid_request")


def test_the_reference_and_prompt_are_the_groups(group: SdkServer, ranker: StandIn) -> None:
    """One prompt and one reference for all; each member brings its own turns."""
    outputs = [
        {"messages": None},
        {
            "messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}],
            "rollout_extra": {"solution": "S"},
        },
    ]

    group.ask({"agent_outputs": outputs})

    sent = ranker.requests[0].body
    assert sent["prompt"] == [{"role": "user", "content": "Q"}]
    assert sent["reference"] == "S"
    assert [member["messages"] for member in sent["candidates"]] == [
        [], [{"role": "assistant", "content": "A"}],
    ]  # fmt: skip


def test_what_only_one_member_was_asked_is_its_own(group: SdkServer, ranker: StandIn) -> None:
    """A prompt is what all were asked: nobody is judged by another member's question."""
    outputs = [
        {"messages": [{"role": "system", "content": "S"}, *turns("A", f"Q{n}")]} for n in (1, 2)
    ]

    group.ask({"agent_outputs": outputs})

    sent = ranker.requests[0].body
    assert sent["prompt"] == [{"role": "system", "content": "S"}]
    assert [[turn["content"] for turn in m["messages"]] for m in sent["candidates"]] == [
        ["Q1", "A"], ["Q2", "A"],
    ]  # fmt: skip


def test_the_example_group_is_scored(group: SdkServer) -> None:
    """The input file of the examples works as it is."""
    file = ROOT / "examples" / "dashscope" / "resources" / "group_reward_input.json"

    assert scores(group.ask(json.loads(file.read_text(encoding="utf-8")))) == [
        0.25,
        0.25,
        0.0,
        0.25,
    ]


def test_groups_at_once_do_not_mix(group: SdkServer) -> None:
    """Twenty groups of four, each with its own scores."""
    groups = [[(n * 4 + m) / 100 for m in range(4)] for n in range(20)]

    with ThreadPoolExecutor(20) as threads:
        answers = list(
            threads.map(lambda g: group.group([f"worth {value:.2f}" for value in g]), groups)
        )

    assert [scores(answer) for answer in answers] == groups


def test_the_real_service_ranks_a_group(service: RunningService, judge: FakeProvider) -> None:
    """Through the service itself: order, an empty member, a group of one, and a failure."""
    judge.oracle({text_hash(t): s for t, s in {"fair": 3, "best": 5}.items()}, default=1)
    judge.behave("main", behaviours.chokes_on("unspeakable"))
    processor = JudgeGroupRewardProcessor(url=service.url, rubric="quality", timeout_s=30)

    def rewards(*answers: str) -> tuple[str, list[float]]:
        outputs = [AgentOutput(messages=turns(answer)) for answer in answers]
        output = asyncio.run(processor.process(GroupRewardInput(agent_outputs=outputs)))
        return output.status.value, [reward.reward_score for reward in output.reward.rewards]

    assert rewards("fair", "", "best") == ("success", [0.5, 0.0, 1.0])
    assert rewards("fair") == ("success", [0.5])
    assert rewards("fair", "unspeakable") == ("failed", [0.0, 0.0])
