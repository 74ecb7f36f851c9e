"""Any body that the SDK's schema allows has an answer that its output schema allows."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from dashscope.finetune.reinforcement import GroupRewardOutput, RewardOutput

from tests.clients.dashscope.sdk_server import SdkServer, turns
from tests.clients.dashscope.test_group import rank
from tests.clients.stand_in import StandIn
from tests.provider import FakeProvider

TEXTS = [
    "", " ", "An answer.", "ROLLOUT_ERROR: x", "Error: y", "\u0000", "\ud83d\ude00", "\ud800",
    "\u2028", "<think>", "<|im_end|>", "é" * 50, "x" * 5_000, "NaN", "null",
]  # fmt: skip
ROLES = ["user", "assistant", "system", "tool", "developer", "", "Assistant", "x y", 7, None]


class Bodies:
    """Bodies made from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - repeatable on purpose

    def value(self, depth: int = 0) -> Any:
        """Any JSON value, NaN included."""
        pick = self._random.choice
        kinds = ["text", "number", "null", "bool", "odd", "list", "object"]
        kind = pick(kinds[:5] if depth > 3 else kinds)
        if kind == "list":
            return [self.value(depth + 1) for _ in range(self._random.randrange(3))]
        if kind == "object":
            keys = ["content", "text", "type", "solution", "name", "arguments", "function", "id"]
            return {pick(keys): self.value(depth + 1) for _ in range(self._random.randrange(3))}
        values = {
            "text": pick(TEXTS), "number": pick([0, -1, 1.5, 10**30, 1e300]), "null": None,
            "bool": pick([True, False]), "odd": pick([math.nan, math.inf, -math.inf]),
        }  # fmt: skip
        return values[kind]

    def message(self) -> dict[str, Any]:
        """A message: a dict of some of the usual fields, with any values."""
        pick = self._random.choice
        made = {"role": pick(ROLES), "content": pick([self.value(), pick(TEXTS), pick(TEXTS)])}
        for name in ("tool_calls", "name", "tool_call_id", "function_call", "refusal", "extra"):
            if self._random.random() < 0.2:
                made[name] = self.value()
        for name in ("role", "content"):
            if self._random.random() < 0.1:
                del made[name]
        return made

    def output(self) -> dict[str, Any]:
        """An agent output."""
        pick = self._random.choice
        messages = [self.message() for _ in range(self._random.randrange(5))]
        return {
            "messages": pick([messages, messages, messages, None]),
            "rollout_extra": pick([None, {}, {"solution": self.value()}]),
            "rollout_metrics": pick([{}, {"latency": 1.5}]),
            "reward_score": pick([None, 0.5, math.nan]),
        }

    def body(self, *, group: bool) -> dict[str, Any]:
        """A request."""
        made = {"ground_truth": self.value(), "surprise": self.value()}
        if group:
            return {
                **made,
                "agent_outputs": [self.output() for _ in range(self._random.randrange(6))],
            }
        return {**made, "agent_output": self.output()}


def answered(server: SdkServer, body: Any) -> Any:
    """The answer to a body, sent as loosely as the SDK takes it."""
    answer = server.http.post("/api/v1", content=json.dumps(body))
    assert answer.status_code == 200, (answer.text[:300], json.dumps(body)[:500])
    return answer.json()


@pytest.mark.parametrize("seed", range(4))
def test_any_reward_input_has_a_valid_answer(
    reward: SdkServer, judge: FakeProvider, seed: int
) -> None:
    """Always HTTP 200, always the SDK's own output, finite, and a reason for every failure."""
    bodies = Bodies(seed)

    for _ in range(50):
        found = RewardOutput.model_validate(answered(reward, bodies.body(group=False)))
        assert 0.0 <= found.reward.reward_score <= 1.0
        assert (found.status.value == "failed") == bool(found.error)


@pytest.mark.parametrize("seed", range(2))
def test_any_group_input_has_a_valid_answer(group: SdkServer, ranker: StandIn, seed: int) -> None:
    """The same for groups; there is a score for every member."""
    ranker.script = rank
    bodies = Bodies(seed)

    for _ in range(50):
        body = bodies.body(group=True)
        found = GroupRewardOutput.model_validate(answered(group, body))
        assert len(found.reward.rewards) == len(body["agent_outputs"])
        assert (found.status.value == "failed") == bool(found.error)


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    made: Any = "a leaf"
    for _ in range(depth):
        made = [made]
    return made


def said(content: Any, **more: Any) -> list[dict[str, Any]]:
    """A question, and an agent's turn."""
    return [*turns("x")[:1], {"role": "assistant", "content": content, **more}]


HARD: dict[str, tuple[Any, str | None]] = {
    "deep content": (said(nested(400)), None),
    "deep arguments": (
        said(None, tool_calls=[{"function": {"name": "f", "arguments": nested(400)}}]),
        None,
    ),
    "deep calls": (said("deep calls", tool_calls=nested(400)), None),
    "many turns": (turns("one of many") * 400, None),
    "too many turns": (turns("one of too many") * 5_000, "invalid_request"),
    "endless digits": (said(10**4_000), None),
    "a role that is a list": ([{"role": ["assistant"], "content": "x"}], None),
    "an odd end": (said("odd end", finish_reason=["stop"]), None),
    "a long name": (said("long named", name="n" * 1_100_000), None),
    "a long question": (turns("x", "q" * 1_100_000), "context_too_long"),
    "long answers": (turns("x" * 900_000) * 6, None),
}


@pytest.mark.parametrize(("messages", "code"), HARD.values(), ids=HARD)
def test_what_is_hard_to_read_is_read_or_failed(
    reward: SdkServer, judge: FakeProvider, messages: Any, code: str | None
) -> None:
    """Depth and length end in a reward by a verdict or a rule, or in a failure that says why."""
    found = RewardOutput.model_validate(answered(reward, {"agent_output": {"messages": messages}}))

    assert (found.status.value, found.error_code) == (
        "success" if code is None else "failed", code,
    )  # fmt: skip
    by_a_rule = (found.reward.reward_metrics or {}).get("short_circuited") == 1.0
    assert code or by_a_rule == (not judge.requests)
