"""Rollouts by Gym's HTTP contract: what judges are shown, and the row that comes back."""

from __future__ import annotations

from typing import Any

import pytest
from judge_client import InvalidRequest

from tests.clients.digits import REWARDS, Digits
from tests.clients.nemo_gym.support import ADDED, post, server, verified
from tests.clients.stand_in import SUCCESS, StandIn, Told
from tests.harness import new_prompt
from tests.trainers.support import rollout


@pytest.mark.parametrize("point", REWARDS)
def test_the_rollout_comes_back_with_its_reward(judged: Digits, point: int) -> None:
    """Whatever else the row has is there again; 0.0 is a reward like others."""
    more: dict[str, Any] = {"_ng_task_index": 7, "_ng_rollout_index": 0,
                            "extra": {"a": [1, None, 2.5]}, "rank": "the trainer's"}  # fmt: skip

    (row,) = verified(server(judged), rollout(f"{point} a", **more))

    assert (row["reward"], row["mask_sample"]) == (REWARDS[point], False)
    assert set(row) >= ADDED


def test_verified_again(judged: Digits) -> None:
    """A rollout that failed before and is judged now has none of the old marks; a mask of the
    trainer's own stays.
    """
    old: dict[str, Any] = {"_ng_failure_class": "judge_failed", "mask_sample": True,
                           "_ng_failure_judge_error": "timeout: late", "reward": 0.0}  # fmt: skip

    again, own = verified(server(judged), rollout("4 a", **old), rollout("4 a", mask_sample=True))

    assert (again["reward"], again["mask_sample"]) == (0.75, False)
    assert own["mask_sample"] is True


def test_a_conversation_with_tools(judged: Digits) -> None:
    """Calls and what came of them are shown as such; reasoning is not shown."""
    body = rollout("", new_prompt())
    body["responses_create_params"]["instructions"] = "Be brief."
    body["response"]["output"] = [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hmm"}]},
        {"type": "function_call", "name": "search", "arguments": '{"q": "x"}', "call_id": "c1",
         "id": "fc_1", "status": "completed"},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"type": "web_search_call", "id": "w1", "status": "completed", "action": {"query": "y"}},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "4 done"},
                     {"type": "refusal", "refusal": "no more"}]},
    ]  # fmt: skip

    (row,) = verified(server(judged), body)

    assert row["reward"] == 0.75
    (asked,) = judged.provider.requests
    assert asked.seen is not None
    assert asked.seen.slots["candidate"] == "4 done\nno more"
    assert asked.seen.slots["prompt"].startswith("[system]\nBe brief.\n[user]\nQuestion")
    assert "[tool_call: search]" in asked.seen.slots["context"]
    assert "[tool_call: web_search_call]" in asked.seen.slots["context"]
    assert "found" in asked.seen.slots["context"]
    assert "hmm" not in asked.seen.user


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([{"type": "reasoning_text", "text": "hm"}, {"type": "output_text", "text": "72"}], "72"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "output_text", "text": "72"}], "72"),
        ([{"type": "output_text", "text": None}, {"type": "output_text", "text": "72"}], "72"),
        ([{"type": "refusal", "refusal": "No."}], "No."),
        ([{"type": "output_image"}, {"type": "output_text", "text": "72"}],
         "(output_image part, not shown)\n72"),
        (None, ""),
    ],
    ids=["reasoning", "thinking", "null", "refusal", "image", "nothing"],
)  # fmt: skip
def test_parts_are_what_was_said(stand_in: StandIn, parts: Any, said: str) -> None:
    """Reasoning is left out by its type, a null says nothing, and what is no text is named."""
    stand_in.says(Told(body={"results": [SUCCESS]}))
    body = rollout("")
    body["response"]["output"] = [{"type": "message", "role": "assistant", "content": parts}]

    post(server(stand_in), body)

    (turn,) = stand_in.requests[0].body["items"][0]["candidate"]["messages"]
    assert turn["content"] == said


@pytest.mark.parametrize("content", [42, True, {"a": 1}, [None], [3]], ids=str)
def test_what_is_no_content_is_refused(content: Any) -> None:
    """It is neither judged as a text nor counted as an empty answer; the message says where."""
    from judge_client.nemo_gym.items import turns_of

    items = [{"type": "message", "role": "assistant", "content": content}]
    with pytest.raises(InvalidRequest, match=r"response\.output\[0\]\.content"):
        turns_of(items, "response.output")


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
def test_references(stand_in: StandIn, more: dict[str, Any], shown: str | None) -> None:
    """The known answer stands in the verifier's metadata or beside it, under one of its names."""
    stand_in.says(Told(body={"results": [SUCCESS]}))

    for use_reference in (True, False):
        post(server(stand_in, use_reference=use_reference), rollout("4 a", **more))

    asked = [request.body["items"][0].get("reference") for request in stand_in.requests]
    assert asked == [shown, None]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [({"family": None}, {"policy_model": "policy"}), ({}, {"family": ["xi"]}),
     ({"family": None, "policy_model": "m"}, {"policy_model": "m"})],
    ids=str,
)  # fmt: skip
def test_who_is_judged(stand_in: StandIn, settings: dict[str, Any], shown: Any) -> None:
    """The response's model, unless the settings know better; a cut response says so."""
    stand_in.says(Told(body={"results": [SUCCESS]}))
    body = rollout("4 a")
    body["response"]["incomplete_details"] = {"reason": "max_output_tokens"}

    post(server(stand_in, **settings), body)

    candidate = stand_in.requests[0].body["items"][0]["candidate"]
    assert {name: candidate[name] for name in shown} == shown
    assert candidate["finish_reason"] == "length"


@pytest.mark.parametrize("text", [None, "5" * (1024 * 1024 + 1)], ids=["empty", "too long"])
def test_an_honest_zero(judged: Digits, text: str | None) -> None:
    """No output, or more than anybody judges: worth nothing, and no failure."""
    body = rollout(text or "")
    if text is None:
        body["response"]["output"] = []

    (row,) = verified(server(judged), body)

    assert (row["reward"], row["mask_sample"]) == (0.0, False)
    assert judged.provider.requests == []
