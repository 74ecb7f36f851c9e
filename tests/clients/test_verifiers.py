"""The judge plugin of verifiers' v1 API: a reward, or an error that a trace ends with."""

from __future__ import annotations

import asyncio
import pickle
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import judge_client_verifiers as plugin
import pytest
from judge_client import NotFound
from judge_client_verifiers import JudgeUnavailableError, ServiceJudge, ServiceJudgeConfig
from pydantic import BaseModel, ValidationError
from verifiers.v1.errors import RolloutError
from verifiers.v1.judge import Judge

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import code
from tests.clients.stand_in import StandIn, Told, failed, problem
from tests.clients.trainer_service import BAD, GOOD, shipped
from tests.harness import RunningService
from tests.provider import FakeProvider

NUMBERS = ("judge_score_raw", "judge_failed", "judge_swap_consistent", "judge_cached")


class Message(BaseModel):
    """A message, as an object."""

    role: str
    content: str | None
    reasoning_content: str | None = None


@dataclass
class Node:
    """A message of a trace, and whether the policy wrote it."""

    message: Message
    sampled: bool


@dataclass
class Named:
    """Anything with a few names."""

    key: str | None = None
    hash: str | None = "hash"
    error: str | None = None
    finish_reason: str | None = "stop"
    model: str | None = "qwen3-4b"


class Data(BaseModel):
    """A row."""

    prompt: str | None = "q"
    system_prompt: str | None = None
    answer: Any = None


@dataclass
class Trace:
    """A trace, as far as a judge sees it."""

    nodes: list[Node]
    id: str = "trace-1"
    task: Named = field(default_factory=lambda: Named(key="task-1"))
    calls: list[Named] = field(default_factory=lambda: [Named()])
    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    root_reply: str | None = None

    @property
    def branches(self) -> list[Trace]:
        """One, where anything was said."""
        return [self] if self.nodes else []

    def record_metrics(self, values: dict[str, float]) -> None:
        """Keep numbers."""
        self.metrics |= values


def trace_of(text: str, **more: Any) -> Trace:
    """A question and an answer."""
    asked = Node(Message(role="user", content="q"), sampled=False)
    said = Node(Message(role="assistant", content=text, reasoning_content="hm"), sampled=True)
    return Trace([asked, said], **more)


def judge_of(stand_in: StandIn, **more: Any) -> ServiceJudge:
    """The plugin over the stand-in."""
    given = {"service_url": stand_in.url, "rubric": "r", "timeout_s": 5.0, "name": "helpful"}
    return ServiceJudge(ServiceJudgeConfig(**{**given, **more}))


def score(judge: ServiceJudge, text: str, task: Data | None = None, **more: Any) -> float:
    """The reward of one trace."""
    return asyncio.run(judge.score(task or Data(), trace_of(text, **more)))


@pytest.fixture
def coded(stand_in: StandIn) -> StandIn:
    """A stand-in whose verdicts are in the texts."""
    stand_in.script = judged
    return stand_in


def test_the_package_exports_one_judge() -> None:
    """As a plugin must; verifiers takes its settings' class from the base."""
    exported = [getattr(plugin, name) for name in plugin.__all__]

    assert [e for e in exported if isinstance(e, type) and issubclass(e, Judge)] == [ServiceJudge]
    assert issubclass(JudgeUnavailableError, RolloutError)
    assert JudgeUnavailableError.__name__ == "JudgeUnavailableError"


@pytest.mark.parametrize("text", ["0.75", "0", "1"])
def test_a_trace_has_its_reward(coded: StandIn, text: str) -> None:
    """With what the task and the trace tell; 0 is a reward like others."""
    trace = trace_of(text, calls=[Named(finish_reason="length"), Named(error="502")])

    got = asyncio.run(judge_of(coded).score(Data(answer=72), trace))

    assert got == float(text)
    body = coded.requests[0].body
    assert body["prompt"] == [{"role": "user", "content": "q"}]
    assert body["reference"] == "72"
    assert body["candidate"] == {
        "messages": [{"role": "assistant", "content": text}],
        "finish_reason": "length",
        "policy_model": "qwen3-4b",
    }
    assert trace.info["judge_service"]["helpful"]["status"] == "success"


@pytest.mark.parametrize("text", ["1", "fail", "never"])
def test_the_metrics_have_the_same_names(coded: StandIn, text: str) -> None:
    """Whatever happened, apart from another judge's."""
    trace = trace_of(text)
    judge = judge_of(coded)
    try:
        asyncio.run(judge.score(Data(), trace))
    except JudgeUnavailableError:
        assert trace.metrics["helpful/judge_failed"] == 1.0
    assert set(trace.metrics) == {f"helpful/{name}" for name in NUMBERS}
    assert trace.metrics["helpful/judge_failed"] == float(text != "1")


@pytest.mark.parametrize(
    ("word", "retryable", "status"),
    [
        ("timeout", True, 504),
        ("rate_limited", True, 429),
        ("breaker_open", True, 503),
        ("refused", False, 422),
        ("no_eligible_judge", False, 422),
    ],
)
def test_a_failure_has_a_type_and_a_status(
    coded: StandIn, word: str, retryable: bool, status: int
) -> None:
    """For retry rules; and it survives the way between processes."""
    coded.says(Told(body=failed(word, retryable=retryable)))

    with pytest.raises(JudgeUnavailableError, match=word) as caught:
        score(judge_of(coded), "x")

    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):  # noqa: S301
        assert (error.status_code, error.code) == (status, word)


@pytest.mark.parametrize("outage", [name for name in OUTAGES if name != "too many"])
def test_an_outage_raises_in_time(stand_in: StandIn, outage: str) -> None:
    """Whatever the answer is, it becomes no reward, and rules see that it may pass."""
    stand_in.says(OUTAGES[outage])
    started = time.monotonic()

    with pytest.raises(JudgeUnavailableError) as caught:
        score(judge_of(stand_in, timeout_s=0.4), "x")

    assert time.monotonic() - started < 15.0
    assert caught.value.status_code in (429, 502, 503, 504)


def test_a_mistake_is_another_error(coded: StandIn) -> None:
    """No rollout is generated anew for an unknown rubric."""
    coded.says(Told(status=404, body=problem("unknown_rubric")))
    trace = trace_of("x")

    with pytest.raises(NotFound):
        asyncio.run(judge_of(coded).score(Data(), trace))

    assert trace.metrics["helpful/judge_failed"] == 1.0


def test_what_the_policy_did_not_say_is_prompt(coded: StandIn) -> None:
    """An assistant turn of the task's, and other agents' words, are not its answer."""
    trace = trace_of("0.5")
    trace.nodes.insert(0, Node(Message(role="assistant", content="example"), sampled=False))

    assert asyncio.run(judge_of(coded).score(Data(), trace)) == 0.5
    assert len(coded.requests[0].body["prompt"]) == 2
    assert score(judge_of(coded), "0.5", root_reply="1") == 1.0
    assert coded.requests[1].body["candidate"]["text"] == "1"


def test_a_trace_without_a_word_is_an_empty_answer(coded: StandIn) -> None:
    """The service gives it 0; the prompt is the task's."""
    trace = Trace([])

    assert asyncio.run(judge_of(coded).score(Data(system_prompt="s"), trace)) == 0.0
    assert [t["role"] for t in coded.requests[0].body["prompt"]] == ["system", "user"]
    assert coded.requests[0].body["candidate"]["messages"] == []


def test_a_trace_that_is_too_long_has_lost(coded: StandIn) -> None:
    """A success with 0, without a request."""
    assert score(judge_of(coded), "x" * (1024 * 1024 + 1)) == 0.0
    assert not coded.requests


def test_every_judge_of_the_same_settings_shares_connections(coded: StandIn) -> None:
    """Verifiers makes a new judge for every trace."""

    async def run() -> list[float]:
        return [await judge_of(coded).score(Data(), trace_of("0.5")) for _ in range(5)]

    assert asyncio.run(run()) == [0.5] * 5
    assert coded.connections == 1
    assert asyncio.run(run()) == [0.5] * 5


def test_as_a_function_it_takes_the_environment(
    coded: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``judge_client_verifiers:judge``, the key by its variable."""
    told = {"URL": coded.url, "RUBRIC": "mine", "TIMEOUT_S": "7", "API_KEY": "k", "FAMILY": "xi"}
    for name, value in told.items():
        monkeypatch.setenv(f"JUDGE_SERVICE_{name}", value)

    assert asyncio.run(plugin.judge(Data(), trace_of("0.25"))) == 0.25

    (request,) = coded.requests
    assert request.headers["authorization"] == "Bearer k"
    assert (request.body["rubric"], request.body["timeout_s"]) == ("mine", 7.0)
    assert request.body["candidate"]["family"] == ["xi"]
    assert "policy_model" not in request.body["candidate"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rubric": None}, "rubric"),
        ({"service_url": "judge"}, "service_url"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"family": ["a b"]}, "family"),
        ({"model": "gpt"}, "model: set it in the service"),
        ({"base_url": "http://judge"}, "base_url: set it in the service"),
        ({"group_size": 1}, "group_size"),
        ({"rubrik": "r"}, "rubrik"),
    ],
    ids=str,
)
def test_wrong_settings_are_found_at_once(given: dict[str, Any], message: str) -> None:
    """When the configuration is read."""
    with pytest.raises(ValidationError, match=message):
        ServiceJudgeConfig(**{"service_url": "http://judge", "rubric": "r", **given})


def test_a_configuration_survives_the_way_to_a_worker(coded: StandIn) -> None:
    """As a dict of all its fields, and without the key."""
    config = judge_of(coded, family=["a", "b"]).config

    again = ServiceJudgeConfig.model_validate(config.model_dump())

    assert again == config
    assert again.settings() == config.settings()


def test_a_tasks_rollouts_are_ranked_together(service: RunningService, judge: FakeProvider) -> None:
    """Each gets its own share; one whose siblings never come has an error, no score."""
    own = ServiceJudge(
        ServiceJudgeConfig(
            service_url=service.url, rubric="quality", group_size=2, family="xi", timeout_s=30
        )
    )

    async def run() -> list[float]:
        traces = [trace_of(text, id=f"t-{text}") for text in ("one", "another")]
        return list(await asyncio.gather(*(own.score(Data(), trace) for trace in traces)))

    assert asyncio.run(run()) == [0.75, 0.75]
    hurried = own.config.model_copy(update={"timeout_s": 2.0, "run": "another"})
    with pytest.raises(JudgeUnavailableError, match="cohort_incomplete"):
        asyncio.run(ServiceJudge(hurried).score(Data(), trace_of("alone", id="t-3")))


def test_the_readme_works_as_pasted(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry, over the service and a shipped rubric; the rule is of the error's type."""
    told = tomllib.loads(code("verifiers", "toml"))["env"]
    (entry,) = told["taskset"]["task"]["judges"]
    (rule,) = told["agent"]["retries"]["rules"]
    assert entry["id"] == plugin.__name__
    assert rule["type"] == JudgeUnavailableError.__name__
    with shipped(provider, tmp_path) as service:
        monkeypatch.setenv("JUDGE_SERVICE_URL", service.url)
        judge = ServiceJudge(ServiceJudgeConfig.model_validate(entry))

        assert [score(judge, GOOD), score(judge, BAD)] == [1.0, 0.0]
