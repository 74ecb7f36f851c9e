"""The processors themselves: construction, and their settings."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from inspect import iscoroutinefunction
from typing import Any

import pytest
from dashscope.finetune.reinforcement import (
    AbstractGroupRewardProcessor,
    AbstractRewardProcessor,
)
from judge_client import ConfigError, RequestRefused
from judge_client.dashscope import (
    Dimension,
    JudgeGroupRewardProcessor,
    JudgeMultiRewardProcessor,
    JudgeRewardProcessor,
)

from tests.clients.dashscope.processing import given, run
from tests.clients.stand_in import StandIn, Told, problem


@pytest.mark.parametrize(
    ("processor", "base"),
    [
        (JudgeRewardProcessor, AbstractRewardProcessor),
        (JudgeMultiRewardProcessor, AbstractRewardProcessor),
        (JudgeGroupRewardProcessor, AbstractGroupRewardProcessor),
    ],
)
def test_construction_is_cheap(
    processor: type, base: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No argument, no setting, no socket and no thread is needed; ``process`` is really async."""

    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("a socket at construction")

    monkeypatch.setattr(socket, "socket", no_socket)
    threads = threading.active_count()
    started = time.monotonic()

    made = [processor() for _ in range(10)]

    assert time.monotonic() - started < 10.0
    assert threading.active_count() == threads
    assert all(isinstance(one, base) for one in made)
    assert iscoroutinefunction(made[0].process)
    assert iscoroutinefunction(made[0].setup)


def test_settings_stand_in_the_class(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class attribute wins over the environment, and a subclass needs nothing else."""
    monkeypatch.setenv("JUDGE_SERVICE_RUBRIC", "from-environment")
    monkeypatch.setenv("JUDGE_SERVICE_FAMILY", "llama")

    class Mine(JudgeRewardProcessor):
        url = stand_in.url
        rubric = "from-class"
        reference_key = "answer"

    assert run(Mine(), given(rollout_extra={"answer": 72})).reward.reward_score == 0.75
    body = stand_in.requests[-1].body
    assert (body["rubric"], body["reference"]) == ("from-class", "72")
    assert body["candidate"]["family"] == ["llama"]


def test_arguments_are_settings_too(stand_in: StandIn) -> None:
    """A constructor argument wins over the class; what is no setting is refused."""
    assert run(JudgeRewardProcessor(url=stand_in.url, rubric="r")).error is None
    assert stand_in.requests[-1].body["rubric"] == "r"
    assert stand_in.requests[-1].body["timeout_s"] == 90
    for wrong in ({"rubrik": "r"}, {"process": 1}, {"executor": 1}, {"_judge": 1}):
        with pytest.raises(TypeError, match="no setting"):
            JudgeRewardProcessor(**wrong)


def test_without_setup_it_works_as_well(stand_in: StandIn) -> None:
    """A loop after the other, and no setup: the client is made when it is needed."""
    processor = JudgeRewardProcessor(url=stand_in.url, rubric="r")

    outputs = [asyncio.run(processor.process(given(f"{n}"))) for n in range(3)]

    assert [output.reward.reward_score for output in outputs] == [0.75] * 3


def test_a_missing_rubric_is_found_at_setup() -> None:
    """There is no rubric by default; without setup it is a failure, never a number."""
    with pytest.raises(ConfigError, match="rubric"):
        asyncio.run(JudgeRewardProcessor().setup())
    output = asyncio.run(JudgeRewardProcessor().process(given()))
    assert (output.status.value, output.error_code) == ("failed", "invalid_request")


def test_an_unreachable_service_is_no_mistake() -> None:
    """Set-up goes on without it; a judgement then fails, with the reason."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        output = run(JudgeRewardProcessor(url=url, rubric="r", timeout_s=0.5))

    assert (output.status.value, output.error_code) == ("failed", "unreachable")


@pytest.mark.parametrize("processor", [JudgeRewardProcessor, JudgeGroupRewardProcessor])
@pytest.mark.parametrize(
    "given_",
    [
        {"url": "not-a-url", "rubric": "r"},
        {"rubric": "Not An Id"},
        {"timeout_s": "soon", "rubric": "r"},
        {"family": "a b", "rubric": "r"},
        {},
    ],
    ids=str,
)
def test_wrong_settings_are_found_at_setup(processor: Any, given_: dict[str, Any]) -> None:
    """A server must not start with what cannot be right."""
    with pytest.raises(ConfigError):
        asyncio.run(processor(**given_).setup())


@pytest.mark.parametrize("processor", [JudgeRewardProcessor, JudgeGroupRewardProcessor])
@pytest.mark.parametrize(
    ("status", "code"), [(404, "unknown_rubric"), (401, "unauthorized"), (403, "forbidden")]
)
def test_an_unknown_rubric_is_found_at_setup(
    stand_in: StandIn, processor: Any, status: int, code: str
) -> None:
    """A service that has no such rubric, or takes no such key, is asked at the start."""
    stand_in.says(Told(status=status, body=problem(code)))
    settings = {"url": stand_in.url, "rubric": "quality"}

    with pytest.raises(RequestRefused):
        asyncio.run(processor(**settings).setup())
    asyncio.run(processor(**settings, check_rubric=False).setup())

    assert [got.path for got in stand_in.requests] == ["/v1/rubrics/quality"]


@pytest.mark.parametrize(
    "told",
    [Told(status=404, body=b"<html>"), Told(status=503), Told(body=[1]), Told(drop=True)],
    ids=["page", "busy", "list", "dropped"],
)
def test_an_unclear_answer_at_setup_is_no_mistake(stand_in: StandIn, told: Told) -> None:
    """Only the service's own word keeps a server down."""
    stand_in.says(told)

    asyncio.run(JudgeRewardProcessor(url=stand_in.url, rubric="quality").setup())

    assert len(stand_in.requests) == 1


def test_a_validation_asks_the_judges_for_it(stand_in: StandIn) -> None:
    """``purpose`` is a setting like the others."""
    run(JudgeRewardProcessor(url=stand_in.url, rubric="r", purpose="validate"))

    assert stand_in.requests[-1].body["purpose"] == "validate"


@pytest.mark.parametrize(
    ("processor", "wrong"),
    [
        (JudgeRewardProcessor, {"rollout_error_marker": ""}),
        (JudgeRewardProcessor, {"rollout_error_marker": 7}),
        (JudgeRewardProcessor, {"reference_key": ""}),
        (JudgeRewardProcessor, {"purpose": "test"}),
        (JudgeGroupRewardProcessor, {"strategy": "best"}),
        (JudgeGroupRewardProcessor, {"max_calls": 0}),
        (JudgeGroupRewardProcessor, {"max_calls": True}),
        (JudgeGroupRewardProcessor, {"max_calls": "8"}),
        (JudgeMultiRewardProcessor, {"preset_weight": 0.2}),
        (JudgeMultiRewardProcessor, {"preset_gate": True}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value),
)
def test_what_no_judgement_could_be_right_with_is_found_at_setup(
    processor: Any, wrong: dict[str, Any]
) -> None:
    """Not by every sample, one by one."""
    dimensions = {"a": Dimension(rubric="r", weight=1.0)}
    more = {"dimensions": dimensions} if processor is JudgeMultiRewardProcessor else {"rubric": "r"}
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        asyncio.run(processor(**more, **wrong).setup())


@pytest.mark.parametrize(
    ("processor", "more"),
    [
        (JudgeRewardProcessor, {"rubric": "pair"}),
        (JudgeMultiRewardProcessor, {"dimensions": {"a": Dimension(rubric="pair", weight=1.0)}}),
    ],
    ids=["one rubric", "dimensions"],
)
def test_a_rubric_that_compares_is_for_groups(
    stand_in: StandIn, processor: Any, more: dict[str, Any]
) -> None:
    """A server of single answers does not start with it; one of groups does."""
    stand_in.says(Told(body={"id": "pair", "kind": "compare", "criteria": [{"name": "a"}]}))

    with pytest.raises(ConfigError, match="compares"):
        asyncio.run(processor(url=stand_in.url, **more).setup())
    asyncio.run(JudgeGroupRewardProcessor(url=stand_in.url, rubric="pair").setup())
