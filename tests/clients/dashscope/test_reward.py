"""The reward function through the SDK's server: what is judged, and what comes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.dashscope.sdk_server import ROOT, SdkServer, turns
from tests.provider import FakeProvider, behaviours, faults, text_hash

RESOURCES = ROOT / "examples" / "dashscope" / "resources"


def score(answer: dict[str, Any]) -> float:
    """The score of a success, checked whole."""
    assert answer["status"] == "success", answer
    assert answer["error"] is None
    found: float = answer["reward"]["reward_score"]
    assert 0.0 <= found <= 1.0
    return found


def check_failed(answer: dict[str, Any], code: str | None = None) -> None:
    """A failure with its reason; the score is only the SDK's placeholder."""
    assert answer["status"] == "failed", answer
    assert answer["error"]
    assert isinstance(answer["error_code"], str)
    assert code is None or answer["error_code"] == code
    assert answer["reward"]["reward_score"] == 0.0


def test_health_names_the_processor(reward: SdkServer) -> None:
    """The server serves this class as a reward."""
    health = reward.http.get("/health").json()

    assert health["processor"] == "JudgeRewardProcessor"
    assert health["func_type"] == "reward"


def test_a_verdict_is_a_score(reward: SdkServer, judge: FakeProvider) -> None:
    """4 of 1 to 5 is 0.75; the metrics are finite numbers with stable names."""
    answer = reward.reward(turns("A good answer."))

    assert score(answer) == 0.75
    metrics = answer["reward"]["reward_metrics"]
    assert metrics["criterion.quality"] == 0.75
    assert metrics["short_circuited"] == 0.0
    assert len(metrics) <= 10


def test_no_answer_is_an_honest_zero(reward: SdkServer, judge: FakeProvider) -> None:
    """A trajectory without an assistant turn is a success with 0, and no judge is asked."""
    body = json.loads((RESOURCES / "reward_input.json").read_text(encoding="utf-8"))
    body["agent_output"]["messages"] = body["agent_output"]["messages"][:1]

    assert score(reward.ask(body)) == 0.0
    assert judge.requests == []


def test_the_example_input_is_scored(reward: SdkServer, judge: FakeProvider) -> None:
    """The input file of the examples works as it is."""
    body = json.loads((RESOURCES / "reward_input.json").read_text(encoding="utf-8"))

    assert score(reward.ask(body)) == 0.75


def test_metric_names_do_not_change(reward: SdkServer, judge: FakeProvider) -> None:
    """Whatever the way to a success, the curves are the same."""
    answers = [
        reward.reward(turns("An answer.")),
        reward.reward(turns("Another answer, longer than the first one.")),
        reward.reward(turns("")),
        reward.reward(None),
        reward.reward(turns("x" * 1_100_000)),
    ]

    names = {tuple(sorted(answer["reward"]["reward_metrics"])) for answer in answers}
    assert [score(answer) for answer in answers] == [0.75, 0.75, 0.0, 0.0, 0.0]
    assert len(names) == 1


def test_unknown_fields_do_not_matter(reward: SdkServer, judge: FakeProvider) -> None:
    """The platform may send more than the SDK knows."""
    metadata = {"job_id": "j", "sample_id": "s", "rollout_id": "r", "attempt_id": "a", "x": 1}
    answer = reward.reward(
        turns("Known."), output={"novel": [1]}, request_metadata=metadata, rollout_id="ro", y={}
    )

    assert score(answer) == 0.75


@pytest.mark.parametrize(
    ("truth", "extra", "shown"),
    [
        ("seventy", {"solution": "eighty"}, "seventy"),
        (None, {"solution": "eighty"}, "eighty"),
        ("", {"solution": "eighty"}, "eighty"),
        (72, None, "72"),
        (None, {"solution": ["a", 1]}, '["a", 1]'),
        (None, {"other": "x"}, None),
        (None, None, None),
    ],
    ids=str,
)
def test_the_reference_is_the_truth_or_the_solution(
    reward: SdkServer, judge: FakeProvider, truth: object, extra: object, shown: str | None
) -> None:
    """The judge sees ``ground_truth``, else ``rollout_extra["solution"]``, else no reference."""
    output = {"rollout_extra": extra}
    answer = reward.reward(
        turns(f"Said of {truth} and {extra}."), output=output, ground_truth=truth
    )

    assert score(answer) == 0.75
    (request,) = judge.requests
    assert request.seen is not None
    assert request.seen.slots.get("reference") == shown


@pytest.mark.parametrize("truth", [None, 1, 1.5, True, False, {}, [], "", {"a": [1]}], ids=str)
def test_any_truth_is_taken(reward: SdkServer, judge: FakeProvider, truth: object) -> None:
    """``ground_truth`` may be any JSON value."""
    assert score(reward.reward(turns("Taken."), ground_truth=truth)) == 0.75


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"x": 1}}}
ODD: dict[str, tuple[object, float]] = {
    "none": (None, 0.0),
    "empty": ([], 0.0),
    "empty turn": ([{}], 0.0),
    "no assistant": ([{"role": "user", "content": "hi"}], 0.0),
    "null content": ([{"role": "assistant", "content": None}], 0.0),
    "no role": ([{"content": "x"}], 0.0),
    "parts": ([{"role": "assistant", "content": [{"type": "text", "text": "Parts."}]}], 0.75),
    "plain parts": ([{"role": "assistant", "content": ["Plain", "parts."]}], 0.75),
    "odd parts": ([{"role": "assistant", "content": [{"type": "text"}, 7, None, "Odd."]}], 0.75),
    "image": ([{"role": "assistant", "content": [{"type": "image_url", "image_url": {}}]}], 0.75),
    "number": ([{"role": "assistant", "content": 72}], 0.75),
    "object": ([{"role": "assistant", "content": {"answer": 72}}], 0.75),
    "tool call": ([{"role": "assistant", "content": None, "tool_calls": [CALL]}], 0.75),
    "odd tool calls": ([{"role": "assistant", "content": "x", "tool_calls": [7, {}, None]}], 0.75),
    "tool calls no list": ([{"role": "assistant", "content": "y", "tool_calls": "no"}], 0.75),
    "old function call": (
        [{"role": "assistant", "content": None, "function_call": {"name": "f"}}],
        0.75,
    ),
    "upper case role": ([{"role": "Assistant", "content": "Upper."}], 0.75),
    "odd role": (
        [{"role": 7, "content": "x"}, {"role": "assistant", "content": "Odd role."}],
        0.75,
    ),
    "tool turns": (
        [
            *turns("First."),
            {"role": "tool", "content": "3", "tool_call_id": "c1", "name": "f\n"},
            {"role": "assistant", "content": "Then.", "extra": {"a": 1}},
        ],
        0.75,
    ),
}


@pytest.mark.parametrize(("messages", "expected"), ODD.values(), ids=ODD)
def test_odd_messages_are_read(
    reward: SdkServer, judge: FakeProvider, messages: object, expected: float
) -> None:
    """Whatever shape an agent's messages have, there is an answer, and the right one."""
    assert score(reward.reward(messages)) == expected


def test_the_prompt_is_what_came_before_the_agent(reward: SdkServer, judge: FakeProvider) -> None:
    """The judge sees the question as prompt, the last turn as candidate, the rest as context."""
    reward.reward(
        [
            {"role": "system", "content": "Be brief."},
            *turns("First try.", "How much?"),
            {"role": "user", "content": "Really?"},
            {"role": "assistant", "content": "Second try."},
        ]
    )

    (request,) = judge.requests
    assert request.seen is not None
    slots = request.seen.slots
    assert slots["candidate"] == "Second try."
    assert "Be brief." in slots["prompt"]
    assert "How much?" in slots["prompt"]
    assert "First try." in slots["context"]
    assert "Really?" in slots["context"]


@pytest.mark.parametrize(
    "messages",
    [
        turns("ROLLOUT_ERROR: the tool server is down"),
        [*turns("Fine."), {"role": "assistant", "content": "ROLLOUT_ERROR: then it broke"}],
        [{"role": "system", "content": "Error: no route to the model"}],
        turns([{"type": "text", "text": "ROLLOUT_ERROR: in parts"}]),
    ],
    ids=["only turn", "last turn", "system", "parts"],
)
def test_a_failed_rollout_has_failed(
    reward: SdkServer, judge: FakeProvider, messages: object
) -> None:
    """A rollout that says it went wrong is not judged."""
    check_failed(reward.reward(messages), "rollout_failed")
    assert judge.requests == []


def test_talk_of_an_error_is_no_failed_rollout(reward: SdkServer, judge: FakeProvider) -> None:
    """Only a last turn that begins with the marker counts."""
    assert score(reward.reward(turns("The log said ROLLOUT_ERROR: twice."))) == 0.75
    earlier = [*turns("ROLLOUT_ERROR: at first"), {"role": "assistant", "content": "Then it went."}]
    assert score(reward.reward(earlier)) == 0.75


FAULTS: dict[str, Any] = {
    "500": faults.status_error(500),
    "429": faults.rate_limited("0"),
    "401": faults.status_error(401),
    "garbage": behaviours.says("Rather good, I would say."),
    "empty": faults.empty(),
    "refused": faults.refuses_to_judge(),
    "cut off": faults.cut_after_verdict(),
    "off the scale": behaviours.fixed(9),
    "wrong model": behaviours.wrong_model(),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_judge_that_fails_is_a_failure(reward: SdkServer, judge: FakeProvider, name: str) -> None:
    """Never a success, and never a 0 that would train."""
    judge.behave("main", FAULTS[name])

    check_failed(reward.reward(turns(f"Nobody judges this: {name}.")))


@pytest.mark.parametrize("text", ["\ud800", "half \udfff pair"])
def test_half_a_character_is_a_failure(reward: SdkServer, judge: FakeProvider, text: str) -> None:
    """What cannot be sent to a judge is a failure that can be sent to the platform."""
    body = {"agent_output": {"messages": turns(text)}}

    answer = reward.http.post("/api/v1", content=json.dumps(body))

    assert answer.status_code == 200
    check_failed(answer.json(), "invalid_request")


def test_points_become_scores(reward: SdkServer, judge: FakeProvider) -> None:
    """Each point has its place between 0 and 1; the worst one is a success, too."""
    texts = [f"worth {point}" for point in range(1, 6)]
    judge.oracle({text_hash(text): point for point, text in enumerate(texts, 1)})

    assert [score(reward.reward(turns(text))) for text in texts] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_a_long_answer_is_an_answer(reward: SdkServer, judge: FakeProvider) -> None:
    """Five million characters are an honest 0."""
    answer = reward.reward(turns("word " * 1_000_000))

    assert score(answer) == 0.0
    assert judge.requests == []


def test_example_files_are_json() -> None:
    """All input files of the examples can be read."""
    files: list[Path] = sorted(RESOURCES.glob("*.json"))

    assert [file.name for file in files] == [
        "group_reward_input.json", "reward_input.json", "rollout_input.json",
    ]  # fmt: skip
    for file in files:
        assert json.loads(file.read_text(encoding="utf-8"))["func_type"]
