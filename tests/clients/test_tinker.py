"""The preference model for Tinker's cookbook: a preference, or an exception."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from judge_client import ConfigError, JudgingFailed, NotFound
from judge_client.tinker import JudgePreferenceModel
from pydantic import BaseModel

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import paste
from tests.clients.stand_in import StandIn, Told, problem
from tests.clients.trainer_service import BAD, GOOD, shipped
from tests.provider import FakeProvider

PROMPT = [{"role": "user", "content": "q"}]


@dataclass
class Comparison:
    """The cookbook's."""

    prompt_conversation: list[dict[str, Any]]
    completion_A: list[dict[str, Any]]
    completion_B: list[dict[str, Any]]


def pair(first: str, second: str) -> Comparison:
    """Two answers to one prompt."""
    turns = [[{"role": "assistant", "content": text}] for text in (first, second)]
    return Comparison(PROMPT, *turns)


def model_of(stand_in: StandIn, **more: Any) -> JudgePreferenceModel:
    """A preference model over the stand-in."""
    return JudgePreferenceModel(stand_in.url, **{"rubric": "r", "timeout_s": 5.0, **more})


def prefer(model: JudgePreferenceModel, first: str, second: str) -> float:
    """The preference for the second."""
    return asyncio.run(model(pair(first, second)))


@pytest.fixture
def coded(stand_in: StandIn) -> StandIn:
    """A stand-in whose verdicts are in the texts."""
    stand_in.script = judged
    return stand_in


@pytest.mark.parametrize(
    ("first", "second", "preference"),
    [("1", "0", -1.0), ("0", "1", 1.0), ("1", "1", 0.0), ("flip", "1", 0.0)],
)
def test_the_second_is_preferred_above_zero(
    coded: StandIn, first: str, second: str, preference: float
) -> None:
    """As the cookbook has it; a tie and a pair that flips are nobody's win."""
    assert prefer(model_of(coded), first, second) == preference
    (request,) = coded.requests
    assert request.path == "/v1/compare"
    assert request.body["prompt"] == PROMPT


@pytest.mark.parametrize("text", ["fail", "never"])
def test_a_failure_raises(coded: StandIn, text: str) -> None:
    """Never a number, which would be somebody's win or a tie."""
    with pytest.raises(JudgingFailed):
        prefer(model_of(coded), "1", text)


def test_a_flip_can_be_a_failure(coded: StandIn) -> None:
    """Where one rather skips the group."""
    with pytest.raises(JudgingFailed, match="inconsistent"):
        prefer(model_of(coded, on_inconsistent="raise"), "flip", "1")


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_raises_in_time(stand_in: StandIn, outage: str) -> None:
    """Whatever the answer is, it becomes no preference."""
    stand_in.says(OUTAGES[outage])
    started = time.monotonic()

    with pytest.raises(JudgingFailed):
        prefer(model_of(stand_in, timeout_s=0.4), "1", "0")

    assert time.monotonic() - started < 15.0


def test_it_is_right_in_every_loop_and_after_pickling(coded: StandIn) -> None:
    """Builders carry it to other processes."""
    model = model_of(coded, api_key="k")

    for each in (model, model, pickle.loads(pickle.dumps(model))):  # noqa: S301 - our own
        assert prefer(each, "0", "1") == 1.0
    assert {r.headers["authorization"] for r in coded.requests} == {"Bearer k"}


def test_the_cookbooks_messages_are_read(coded: StandIn) -> None:
    """Parts, of which thinking is not shown, and tool calls that are objects."""

    class ToolCall(BaseModel):
        """The cookbook's."""

        id: str
        function: dict[str, str]

    said = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "look"}]
    call = ToolCall(id="1", function={"name": "search", "arguments": "{}"})
    turn = {"role": "assistant", "content": said, "tool_calls": [call], "trainable": True}
    coded.says(Told(body={**judged_tie(), "metrics": {}}))

    asyncio.run(model_of(coded)(Comparison(PROMPT, [turn], [turn])))

    (sent,) = coded.requests[0].body["candidates"][0]["messages"]
    assert "hm" not in str(sent)
    assert sent["content"] == [{"type": "text", "text": "look"}]
    assert sent["tool_calls"][0]["function"]["name"] == "search"


def judged_tie() -> dict[str, Any]:
    """A tie, whatever was said."""
    return {"status": "success", "outcome": "tie", "preference": 0.5, "error": None}


def test_a_completion_that_is_too_long_loses(coded: StandIn) -> None:
    """By its length, without a request."""
    assert prefer(model_of(coded), "x" * (1024 * 1024 + 1), "0") == 1.0
    assert not coded.requests


@pytest.mark.parametrize(
    "given", [{"rubric": None}, {"on_inconsistent": "tie"}, {"timeout_s": "x"}], ids=str
)
def test_wrong_settings_are_found_at_once(given: dict[str, Any]) -> None:
    """Before a training begins."""
    with pytest.raises(ConfigError):
        JudgePreferenceModel(**{"url": "http://judge", "rubric": "r", **given})


def test_a_mistake_raises(coded: StandIn) -> None:
    """An unknown rubric is not an outage."""
    coded.says(Told(status=404, body=problem("unknown_rubric")))
    with pytest.raises(NotFound):
        prefer(model_of(coded), "1", "0")


@dataclass
class Builder:
    """The cookbook's builder of groups, as far as preferences go."""

    convo_prefix: list[dict[str, Any]]
    policy_renderer: object
    tournament_pattern: object
    preference_model: JudgePreferenceModel
    num_envs: int

    async def rewards(self, texts: Sequence[str]) -> list[float]:
        """Wins minus losses, a pair after the other."""
        totals = [0.0] * len(texts)
        for at in range(len(texts)):
            for other in range(at + 1, len(texts)):
                turns = [[{"role": "assistant", "content": texts[n]}] for n in (at, other)]
                found = await self.preference_model(Comparison(self.convo_prefix, *turns))
                totals[other] += found
                totals[at] -= found
        return totals


def test_the_readme_runs_as_pasted(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the service and a shipped rubric."""
    pattern = type("TournamentPattern", (), {"ALL_PAIRS_ONE_WAY": "one way"})
    with shipped(provider, tmp_path) as service:
        monkeypatch.setenv("JUDGE_SERVICE_URL", service.url)
        names = paste(
            "Tinker cookbook", convo=PROMPT, renderer=None, TournamentPattern=pattern,
            PairwisePreferenceGroupBuilder=Builder,
        )  # fmt: skip
        rewards = asyncio.run(names["group"].rewards([GOOD, BAD, BAD + " Indeed.", GOOD]))

    assert rewards == [2.0, -2.0, -2.0, 2.0]
