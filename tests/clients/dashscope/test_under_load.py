"""The reward function under load, under time pressure, at its start and without its service."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from dashscope.finetune.reinforcement import AgentOutput, RewardInput
from judge_client.dashscope import JudgeRewardProcessor

from tests.clients.dashscope.sdk_server import REWARD, SdkServer, serving, start, turns
from tests.clients.dashscope.test_reward import check_failed, score
from tests.clients.stand_in import HTML, SUCCESS, StandIn, Told, failed, problem
from tests.harness import RunningService
from tests.provider import FakeProvider, Reply, behaviours, faults, text_hash


def body(text: str) -> dict[str, object]:
    """A request for one answer."""
    return {"agent_output": {"messages": turns(text)}}


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StandIn, SdkServer]]:
    """A reward server over a stand-in that says strange things."""
    with StandIn() as stand_in:
        settings = {"URL": stand_in.url, "RUBRIC": "quality", "TIMEOUT_S": "4"}
        cwd = tmp_path_factory.mktemp("strange")
        with serving(REWARD, "reward", settings, cwd) as server:
            yield stand_in, server


def test_a_hanging_judge_ends_in_time(service: RunningService, judge: FakeProvider) -> None:
    """With two seconds for a judgement, the failure is there then, and it is the service's."""
    judge.behave("main", faults.always(Reply(mode="hang")))
    processor = JudgeRewardProcessor(url=service.url, rubric="quality", timeout_s=2)
    asked = RewardInput(agent_output=AgentOutput(messages=turns("Nobody answers.")))
    started = time.monotonic()

    output = asyncio.run(processor.process(asked))

    assert time.monotonic() - started < 20.0
    check_failed(output.model_dump(mode="json"))


def test_many_at_once_each_get_their_own(reward: SdkServer, judge: FakeProvider) -> None:
    """150 requests at once: every score belongs to its answer."""
    points = {f"answer number {n}": 1 + n % 5 for n in range(150)}
    judge.oracle({text_hash(text): point for text, point in points.items()})
    judge.behave("main", behaviours.slow(behaviours.honest(), 0.1))

    async def run() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=150)
        async with httpx.AsyncClient(
            base_url=reward.url, limits=limits, timeout=60, trust_env=False
        ) as http:
            return await asyncio.gather(*(http.post("/api/v1", json=body(t)) for t in points))

    answers = [answer.json() for answer in asyncio.run(run())]

    assert [score(answer) for answer in answers] == [(p - 1) / 4 for p in points.values()]


def test_health_answers_under_load(strange: tuple[StandIn, SdkServer]) -> None:
    """While 40 judgements wait, the server itself does not."""
    stand_in, server = strange
    stand_in.requests.clear()
    gate = threading.Event()
    stand_in.says(Told(body=SUCCESS, gate=gate))

    async def run() -> tuple[int, list[httpx.Response]]:
        async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
            asked = [
                asyncio.create_task(http.post("/api/v1", json=body(str(n)))) for n in range(40)
            ]
            assert await asyncio.to_thread(stand_in.asked, 20)
            health = await http.get("/health")
            gate.set()
            return health.status_code, await asyncio.gather(*asked)

    health, answers = asyncio.run(run())

    assert health == 200
    assert [answer.status_code for answer in answers] == [200] * 40


def test_who_hangs_up_stops_the_judgement(reward: SdkServer, judge: FakeProvider) -> None:
    """A platform that goes away ends the judge's call as well, and the server lives."""
    judge.behave("main", faults.always(Reply(mode="hang")))

    async def leave() -> None:
        async with httpx.AsyncClient(base_url=reward.url, timeout=60, trust_env=False) as http:
            asking = asyncio.create_task(http.post("/api/v1", json=body("Never mind.")))
            assert await asyncio.to_thread(judge.wait_until, lambda: judge.in_flight == 1)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(leave())

    assert judge.wait_until(lambda: judge.in_flight == 0, 20.0)
    judge.reset()
    assert score(reward.reward(turns("Still there."))) == 0.75


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (Told(body=HTML), "protocol"),
        (Told(status=200, body=b'{"status":"success","reward":NaN,"error":null}'), "protocol"),
        (Told(body={**SUCCESS, "reward": 4}), "protocol"),
        (Told(body={**SUCCESS, "reward": None}), "protocol"),
        (Told(status=503, body=problem("overloaded"), headers={"Retry-After": "60"}), "overloaded"),
        (Told(status=429, body=problem("quota_exceeded")), "rate_limited"),
        (Told(status=401, body=problem("unauthorized")), "unauthorized"),
        (Told(status=404, body=problem("unknown_rubric")), "unknown_rubric"),
        (Told(status=422, body=problem("invalid_request")), "invalid_request"),
        (Told(status=500, body=problem("internal")), "internal"),
        (Told(body=failed("timeout")), "timeout"),
        (Told(body=failed("no_eligible_judge", retryable=False)), "no_eligible_judge"),
        (Told(drop=True), "unreachable"),
        (Told(hold_s=30), "deadline_exceeded"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_whatever_the_service_says_a_failure_is_one(
    strange: tuple[StandIn, SdkServer], told: Told, code: str
) -> None:
    """Every way not to get a verdict is a failure with its code."""
    stand_in, server = strange
    stand_in.says(told)

    check_failed(server.reward(turns("An answer.")), code)


def test_a_wrong_setting_keeps_the_server_down(tmp_path: Path) -> None:
    """What cannot be right ends the server before it serves."""
    process, _ = start(REWARD, "reward", {"URL": "not-a-url", "RUBRIC": "q"}, {}, tmp_path)

    assert process.wait(100) != 0


@pytest.mark.timeout(240)
def test_two_workers_and_traces_change_nothing(
    service: RunningService, judge: FakeProvider, tmp_path: Path
) -> None:
    """The platform's own set-up gives the same answer."""
    settings = {"URL": service.url, "RUBRIC": "quality"}
    extra = {"WORKERS_COUNT": "2", "ENABLE_TRAJECTORY": "true"}
    with serving(REWARD, "reward", settings, tmp_path, extra, start_s=180) as server:
        headers = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
        with ThreadPoolExecutor(4) as threads:
            answers = list(
                threads.map(
                    lambda n: httpx.post(
                        f"{server.url}/api/v1", json=body(f"traced {n}"), headers=headers,
                        timeout=60, trust_env=False,
                    ).json(),
                    range(8),
                )
            )  # fmt: skip

    assert [score(answer) for answer in answers] == [0.75] * 8


def test_a_service_that_comes_late_is_waited_for(
    strange: tuple[StandIn, SdkServer],
) -> None:
    """One that is busy at first is asked again within the deadline."""
    told, server = strange
    told.requests.clear()
    told.says(Told(status=503, body=problem("overloaded")), Told(body=SUCCESS))

    assert score(server.reward(turns("Late."))) == 0.75


def test_bodies_that_are_no_input_are_the_platforms_mistake(reward: SdkServer) -> None:
    """The SDK refuses them before they get here."""
    for text in ("{}", json.dumps({"agent_output": 7}), "[]"):
        assert reward.http.post("/api/v1", content=text).status_code == 422
