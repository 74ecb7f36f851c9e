"""One deadline for a call, and retries only where they may help."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from email.utils import formatdate

import pytest
from judge_client import Assess, Assessed, AssessFailed, AsyncJudgeClient, JudgeClient

from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, failed, problem


def client_of(stand_in: StandIn, timeout_s: float = 5.0, retry_failed: int = 0) -> JudgeClient:
    """A client of the stand-in."""
    return JudgeClient(
        stand_in.url, rubric="quality", timeout_s=timeout_s, retry_failed=retry_failed
    )


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


BUSY = [
    Told(status=503, body=problem("overloaded"), headers={"Retry-After": "0"}),
    Told(status=503, body=b"busy"),
    Told(status=429, body=problem("quota_exceeded"), headers={"Retry-After": "0.1"}),
    Told(status=429, headers={"Retry-After": formatdate(time.time() - 5, usegmt=True)}),
    Told(status=502, body=b"<html>"),
    Told(status=504, body=b"<html>"),
    Told(status=408, body=problem("body_too_slow")),
    Told(drop=True),
]


@pytest.mark.parametrize("busy", BUSY, ids=lambda told: f"{told.status}-{told.drop}")
def test_what_was_not_answered_is_sent_again(stand_in: StandIn, busy: Told) -> None:
    """After a busy service or a broken connection the same body is sent once more."""
    stand_in.says(busy, Told(body=SUCCESS))

    result = client_of(stand_in).assess("p", "c")

    assert isinstance(result, Assessed)
    first, second = stand_in.requests
    assert first.body == second.body


def test_a_retry_has_less_time(stand_in: StandIn) -> None:
    """The service is told how much time is left, a little less than the caller has."""
    stand_in.says(Told(status=503, headers={"Retry-After": "0.2"}), Told(body=SUCCESS))

    client_of(stand_in, 100).assess("p", "c")

    first, second = (int(got.headers["x-request-timeout-ms"]) for got in stand_in.requests)
    assert 80_000 <= first <= 99_250
    assert second <= first - 200
    assert stand_in.requests[0].body["timeout_s"] == 100


def test_a_wait_beyond_the_deadline_ends_the_call(stand_in: StandIn) -> None:
    """A quota that opens tomorrow is a failure now, with the time it named."""
    stand_in.says(Told(status=429, body=problem("quota_exceeded"), headers={"Retry-After": "9999"}))
    started = time.monotonic()

    result = client_of(stand_in, 60).assess("p", "c")

    assert time.monotonic() - started < 20
    assert isinstance(result, AssessFailed)
    assert (result.error.code, result.error.retry_after_s) == ("rate_limited", 9999.0)
    assert result.error.at == "client"


def test_nobody_there_is_a_failure_within_the_deadline(nobody: str) -> None:
    """A service that is not there is tried until the time is up; that is no exception."""
    client = JudgeClient(nobody, rubric="quality", timeout_s=0.7)
    started = time.monotonic()

    result = client.assess("p", "c")

    assert time.monotonic() - started < 15.0
    assert isinstance(result, AssessFailed)
    assert (result.error.code, result.error.retryable) == ("unreachable", True)


@pytest.mark.parametrize("told", [Told(hold_s=30), Told(body=SUCCESS, drip_s=0.2)], ids=str)
def test_a_slow_answer_ends_with_the_deadline(stand_in: StandIn, told: Told) -> None:
    """Neither silence nor a byte now and then keeps a call beyond its time."""
    stand_in.says(told)
    started = time.monotonic()

    result = client_of(stand_in, 0.6).assess("p", "c")

    assert 0.5 < time.monotonic() - started < 15.0
    assert isinstance(result, AssessFailed)
    assert result.error.code == "deadline_exceeded"


def test_a_busy_service_until_the_end_says_so(stand_in: StandIn) -> None:
    """What kept the call waiting is its failure, not just the time."""
    stand_in.says(Told(status=503, body=problem("overloaded", "too much to do")))

    result = client_of(stand_in, 4.0).assess("p", "c")

    assert isinstance(result, AssessFailed)
    assert result.error.code == "overloaded"
    assert "too much to do" in result.error.message
    assert len(stand_in.requests) >= 2


def test_failed_outcomes_are_not_asked_for_again_by_themselves(stand_in: StandIn) -> None:
    """The service has retried already."""
    stand_in.says(Told(body=failed()), Told(body=SUCCESS))

    assert client_of(stand_in).assess("p", "c").status == "failed"
    assert len(stand_in.requests) == 1


def test_failed_outcomes_are_asked_for_again_on_demand(stand_in: StandIn) -> None:
    """``retry_failed`` asks again, only where the service says that it may help."""
    stand_in.says(Told(body=failed()), Told(body=SUCCESS))
    assert client_of(stand_in, retry_failed=2).assess("p", "c").status == "success"

    stand_in.requests.clear()
    stand_in.says(Told(body=failed("refused", retryable=False)), Told(body=SUCCESS))
    assert client_of(stand_in, retry_failed=2).assess("p", "c").status == "failed"
    assert len(stand_in.requests) == 1


def test_only_the_failed_items_of_a_batch_are_asked_for_again(stand_in: StandIn) -> None:
    """The second POST holds what failed, and the order stays."""

    def script(got: Got) -> Told:
        texts = [item["candidate"]["text"] for item in got.body["items"]]
        bad = {"a", "c"} if got.n == 1 else {"c"}
        return Told(
            body={
                "results": [
                    failed() if text in bad else {**SUCCESS, "reward": ord(text) / 200}
                    for text in texts
                ]
            }
        )

    stand_in.script = script
    asked = [Assess(prompt="p", candidate=text) for text in "abc"]

    got = client_of(stand_in, retry_failed=1).assess_many(asked)

    rewards = [result.reward if isinstance(result, Assessed) else None for result in got]
    assert rewards == [ord("a") / 200, ord("b") / 200, None]
    assert [len(r.body["items"]) for r in stand_in.requests] == [3, 2]


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_a_last_try_without_answer_does_not_hide_why(stand_in: StandIn, many: bool) -> None:
    """The failure is the one that the service told, not that time ran out while asking again."""
    told = {"results": [failed("refused")]} if many else failed("refused")
    stand_in.says(Told(body=told), Told(hold_s=30))
    client = client_of(stand_in, timeout_s=4.0, retry_failed=9)

    (result,) = (
        client.assess_many([Assess(prompt="p", candidate="c")])
        if many
        else [client.assess("p", "c")]
    )

    assert isinstance(result, AssessFailed)
    assert (result.error.code, result.error.at) == ("refused", "service")
    assert len(stand_in.requests) == 2


def test_a_cancelled_call_hangs_up(stand_in: StandIn) -> None:
    """A task that is cancelled ends at once."""
    stand_in.says(Told(hold_s=30))
    client = AsyncJudgeClient(stand_in.url, rubric="quality", timeout_s=20)

    async def run() -> float:
        task = asyncio.create_task(client.assess("p", "c"))
        assert await asyncio.to_thread(stand_in.asked, 1)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    assert asyncio.run(run()) < 15.0


def test_connections_are_used_again(stand_in: StandIn) -> None:
    """One call after the other uses one connection."""
    client = client_of(stand_in)

    for _ in range(5):
        client.assess("p", "c")
    client.close()

    assert len(stand_in.requests) == 5
    assert stand_in.connections == 1
