"""NeMo Gym's verification."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours, faults
from tests.trainers.support import REWARDS, Clock, checked, rollout

# LiteLLM prepares a call in a thread; one that is given up meanwhile is never begun.
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)

URL = "/adapters/nemo-gym/quality/verify"


def verify(service: RunningService, body: dict[str, Any], url: str = URL) -> dict[str, Any]:
    """The answer: the request's fields as they were, and a reward that is the sum of its parts."""
    answer: dict[str, Any] = checked(service.http.post(url, json=body))
    for name, value in body.items():
        if name not in ("_ng_failure_class", "_ng_failure_judge_error", "mask_sample", "reward"):
            assert answer[name] == value
    assert isinstance(answer["reward"], float)
    assert sum(answer["reward_components"].values()) == answer["reward"]
    failed = answer["judge_failed"] == 1.0
    assert failed == ("_ng_failure_class" in answer) == ("_ng_failure_judge_error" in answer)
    return answer


@pytest.mark.parametrize("point", REWARDS)
def test_the_request_comes_back_with_its_reward(service: RunningService, point: int) -> None:
    """Everything that was sent is there again, whatever it is; 0.0 is a reward like others."""
    more: dict[str, Any] = {"_ng_task_index": 7, "_ng_rollout_index": 0,
            "extra": {"a": [1, None, 2.5]},
            "agent_ref": {"name": "simple"}, "rank": "a field of the trainer's"}  # fmt: skip
    answer = verify(service, rollout(f"{point} a", **more))

    assert answer["reward"] == REWARDS[point]
    assert answer["mask_sample"] is False


@pytest.mark.parametrize("text", ["5 b", "4 b", "2 b c d e f", "1 b c d e f g h", "3 a b c d e"])
def test_components_add_up_exactly(service: RunningService, text: str) -> None:
    """What rules gave and what the judge gave, to the last bit."""
    answer = verify(service, rollout(text), URL.replace("quality", "weighed"))

    score = answer["judge/rule_score"]
    assert answer["reward_components"]["rule"] == pytest.approx(0.3 * score)


def test_a_conversation_with_tools(service: RunningService, provider: FakeProvider) -> None:
    """Calls and what came of them are shown as such; reasoning is not shown."""
    body = rollout("", new_prompt())
    body["responses_create_params"]["instructions"] = "Be brief."
    body["response"]["output"] = [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hmm"}]},
        {"type": "function_call", "name": "search", "arguments": '{"q": "x"}', "call_id": "c1",
         "id": "fc_1", "status": "completed"},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"type": "message", "role": "assistant",
         "content": [
             {"type": "reasoning_text", "text": "hmm"}, {"type": "text", "text": None},
             {"type": "output_text", "text": "4 done"},
         ]},
    ]  # fmt: skip
    assert verify(service, body)["reward"] == 0.75

    (asked,) = provider.requests
    assert asked.seen is not None
    assert asked.seen.slots["candidate"] == "4 done"
    assert asked.seen.slots["prompt"].startswith("[system]\nBe brief.\n[user]\nQuestion")
    context = asked.seen.slots["context"]
    assert "[tool_call: search]" in context
    assert "[tool]\n[tool_call_id: c1]\nfound" in context
    assert "hmm" not in asked.seen.user


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({"verifier_metadata": {"expected_answer": 42}}, "42"),
        ({"verifier_metadata": {"label": "b", "reference": "a"}}, "a"),
        ({"verifier_metadata": {"other": 1}, "ground_truth": ["x"]}, '["x"]'),
        ({"verifier_metadata": None, "answer": "", "label": "z"}, "z"),
        ({}, None),
    ],
    ids=str,
)
def test_references(
    service: RunningService, provider: FakeProvider, more: dict[str, Any], shown: str | None
) -> None:
    """The known answer stands in the verifier's metadata or beside it, under one of its names."""
    verify(service, rollout("4 a", **more))

    assert provider.requests[0].seen is not None
    assert provider.requests[0].seen.slots.get("reference") == shown


def test_a_judge_failure_is_typed(service: RunningService, provider: FakeProvider) -> None:
    """At the end of the budget: HTTP 200, a class, a reason and a mask; the names stay the same."""
    good = verify(service, rollout("4 a"))
    provider.behave("main", faults.status_error(500))
    with Clock() as clock:
        failed = verify(service, rollout("4 a"), f"{URL}?budget_s=2")

    assert failed["_ng_failure_class"] == "judge_failed"
    assert failed["_ng_failure_judge_error"].startswith("upstream_error: ")
    assert failed["mask_sample"] is True
    assert failed["reward"] == 0.0
    assert set(failed) - set(good) == {"_ng_failure_class", "_ng_failure_judge_error"}
    assert clock.seconds < 15.0


def test_verified_again(service: RunningService) -> None:
    """A rollout that failed before and is judged now has none of the old marks; a mask of the
    trainer's own stays.
    """
    old: dict[str, Any] = {"_ng_failure_class": "judge_failed",
           "_ng_failure_judge_error": "timeout: late",
           "mask_sample": True, "reward": 0.0}  # fmt: skip
    answer = verify(service, rollout("4 a", **old))
    assert (answer["reward"], answer["mask_sample"]) == (0.75, False)

    assert verify(service, rollout("4 a", mask_sample=True))["mask_sample"] is True


def test_an_empty_rollout(service: RunningService, provider: FakeProvider) -> None:
    """No output at all is an answer that is worth nothing."""
    body = rollout("4 a")
    body["response"]["output"] = []
    answer = verify(service, body)

    assert answer["reward"] == 0.0
    assert provider.requests == []


def test_too_long(service: RunningService, provider: FakeProvider) -> None:
    """A text over the limit is worth nothing, and asks nobody."""
    answer = verify(service, rollout("5" * (1024 * 1024 + 1)))

    assert (answer["reward"], answer["judge/too_long"]) == (0.0, 1.0)
    assert provider.requests == []


def test_the_policys_own_name_excludes_its_kin(
    service: RunningService, provider: FakeProvider
) -> None:
    """The response names its model; a judge of that family does not judge it."""
    answer = verify(service, rollout("4 a"), f"{URL}?family=alpha")

    assert answer["_ng_failure_judge_error"].startswith("no_eligible_judge: ")
    assert provider.requests == []


@pytest.mark.parametrize(
    "more",
    [{"response": None}, {"response": {}}, {"response": {"output": "x"}},
     {"responses_create_params": {}}, {"responses_create_params": {"input": []}},
     {"response": {"output": ["x"]}}, {"response": {"output": [{"type": 1}]}}],
    ids=str,
)  # fmt: skip
def test_a_body_that_cannot_be_right(
    service: RunningService, provider: FakeProvider, more: dict[str, Any]
) -> None:
    """The trainer's mistake is 422, never a failure class."""
    answer = service.http.post(URL, json={**rollout("4 a"), **more})

    assert answer.status_code == 422
    assert "_ng_failure_class" not in answer.text
    assert provider.requests == []


def test_an_input_that_is_one_text(service: RunningService, provider: FakeProvider) -> None:
    """The prompt may be a text."""
    body = rollout("4 a")
    body["responses_create_params"] = {"input": "A question in one text?"}
    provider.behave("main", behaviours.honest())
    assert verify(service, body)["reward"] == 0.75


@pytest.mark.parametrize(
    "more",
    [
        {"status": "failed", "output": []},
        {"status": "cancelled"},
        {"error": {"code": "server_error", "message": "out of memory"}},
        {"status": "failed", "error": {"message": None}},
        {"error": "\U0001f600" * 1000},
    ],
    ids=["failed", "cancelled", "error", "no words", "long"],
)
@pytest.mark.parametrize("query", ["", "?group=2"], ids=["alone", "group"])
def test_a_rollout_that_was_never_finished(
    service: RunningService, provider: FakeProvider, more: dict[str, Any], query: str
) -> None:
    """It is no answer: masked with a class of its own, at once, and no judge is asked."""
    body = rollout("5 a")
    body["response"] |= more
    answer = verify(service, body, URL + query)

    assert answer["_ng_failure_class"] == "rollout_failed"
    assert (answer["mask_sample"], answer["judge_failed"]) == (True, 1.0)
    assert provider.requests == []
