"""Whole rollouts of verifiers' classic API, scored by the rubric."""

from __future__ import annotations

import asyncio
import itertools
import pickle
from typing import Any

import pytest
import verifiers as vf
from datasets import Dataset
from judge_client import NotFound
from judge_client.verifiers_v0 import JudgeRubric
from service_process import real_service
from verifiers.clients.client import Client
from verifiers.types import Response, ResponseMessage

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import paste
from tests.clients.stand_in import StandIn, Told, problem


class Says(Client[Any, Any, Any, Any]):
    """A model that says one text after the other."""

    def __init__(self, *texts: str) -> None:
        super().__init__(object())
        self._texts = itertools.cycle(texts)
        self.asked = 0

    def setup_client(self, config: Any) -> Any:
        """Nothing is connected to."""

    async def to_native_tool(self, tool: Any) -> Any:
        """There are none."""

    async def to_native_prompt(self, messages: Any) -> tuple[Any, dict[str, Any]]:
        """As it is."""
        return messages, {}

    async def get_native_response(self, *_: Any, **__: Any) -> str:
        """The next text."""
        self.asked += 1
        return next(self._texts)

    async def raise_from_native_response(self, response: str) -> None:
        """Every text is fine."""

    async def from_native_response(self, response: str) -> Response:
        """The text as a message."""
        said = ResponseMessage(
            role="assistant", content=response, finish_reason="stop", is_truncated=False
        )
        return Response(id="1", created=1, model="m", message=said)

    async def close(self) -> None:
        """Nothing to close."""


def data() -> Dataset:
    """One row."""
    return Dataset.from_dict({"question": ["What is it?"], "answer": ["72"]})


def outputs(rubric: Any, model: Says, count: int, retries: int = 0) -> list[Any]:
    """The outputs of a group of rollouts."""
    env = vf.SingleTurnEnv(dataset=data(), rubric=rubric)

    async def run() -> list[Any]:
        rows = list(env.get_dataset()) * count
        return list(await env.run_group(rows, model, "qwen3-4b", {}, max_retries=retries))

    return asyncio.run(run())


@pytest.fixture
def service() -> Any:
    """A stand-in whose verdicts are in the texts."""
    with StandIn() as stand_in:
        stand_in.script = judged
        yield stand_in


def test_rollouts_have_rewards(service: StandIn) -> None:
    """In order, 0.0 among them; and a copy of the rubric gives the same."""
    rubric = JudgeRubric(service.url, rubric="r", timeout_s=10)

    for own in (rubric, pickle.loads(pickle.dumps(rubric))):  # noqa: S301 - our own
        found = outputs(own, Says("0.5", "0", "1"), 3)
        assert sorted(one["reward"] for one in found) == [0.0, 0.5, 1.0]
        assert [one["error"] for one in found] == [None] * 3
    item = service.requests[0].body["items"][0]
    assert item["prompt"] == [{"role": "user", "content": "What is it?"}]
    assert item["reference"] == "72"
    assert item["candidate"]["policy_model"] == "qwen3-4b"
    assert item["candidate"]["messages"][0]["role"] == "assistant"


@pytest.mark.parametrize("mode", ["each", "group"])
def test_a_failure_is_an_error_of_the_rollout(service: StandIn, mode: str) -> None:
    """With the same metrics as a success; in a group it is every member's."""
    rubric = JudgeRubric(service.url, rubric="r", timeout_s=10, mode=mode)

    found = outputs(rubric, Says("1", "never"), 2)

    failed = [one for one in found if one["error"] is not None]
    assert len(failed) == (1 if mode == "each" else 2)
    assert all("InfraError" in str(one["error"]) for one in failed)
    assert len({tuple(sorted(one["metrics"])) for one in found}) == 1


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_is_an_error_of_every_rollout(service: StandIn, outage: str) -> None:
    """Whatever the answer is."""
    service.says(OUTAGES[outage])

    found = outputs(JudgeRubric(service.url, rubric="r", timeout_s=0.8), Says("1", "0"), 2)

    assert all(one["error"] is not None for one in found)


def test_retries_generate_anew(service: StandIn) -> None:
    """The environment's own retries see the error."""
    model = Says("fail", "1")

    (found,) = outputs(JudgeRubric(service.url, rubric="r", timeout_s=5), model, 1, retries=2)

    assert (found["reward"], found["error"], model.asked) == (1.0, None, 2)


def test_beside_other_functions_and_rubrics(service: StandIn) -> None:
    """Advantages are among those that were judged; a group of rubrics keeps the error."""
    rubric = JudgeRubric(service.url, rubric="r", timeout_s=5)
    rubric.add_reward_func(always)
    states = [
        vf.State(
            input={"prompt": "q", "answer": "", "example_id": 0, "task": {}},
            completion=[{"role": "assistant", "content": text}], error=None, trajectory=[],
        )
        for text in ("1", "never", "0.5")
    ]  # fmt: skip

    asyncio.run(rubric.score_group(states))

    assert [state["advantage"] for state in states] == [0.25, 0.0, -0.25]
    other = vf.Rubric(funcs=[always])
    found = outputs(vf.RubricGroup([rubric, other]), Says("1", "never"), 2)
    assert sum(one["error"] is not None for one in found) == 1


def always(completion: Any) -> float:
    """A function of one's own."""
    return 1.0


def test_a_mistake_ends_the_run(service: StandIn) -> None:
    """It is not swallowed as a reward of 0."""
    service.says(Told(status=404, body=problem("unknown_rubric")))
    with pytest.raises(NotFound):
        outputs(JudgeRubric(service.url, rubric="r"), Says("1"), 1)


def test_the_readme_runs_as_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a real service."""
    model = Says("A good answer, with what was asked for.", "A bad one that misses it.")
    with real_service() as url:
        monkeypatch.setenv("JUDGE_SERVICE_URL", url)
        env = paste("verifiers before 0.4", vf=vf, data=data())["env"]

        found = asyncio.run(env.run_group(list(env.get_dataset()) * 2, model, "m", {}))

    assert sorted(one["reward"] for one in found) == [0.0, 1.0]
