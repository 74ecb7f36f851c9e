"""One deadline per request: the answer is there in time, and nobody works on for nothing."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge_service.deadline import MIN_ATTEMPT_S, Deadline
from judge_service.rules.refusal import Refusal
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import Behaviour, FakeProvider, behaviours, faults
from tests.provider.replies import error

# LiteLLM prepares a call in a thread; one that is cancelled there leaves a coroutine behind.
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)

GRACE_S = 1.5
"""How much later than its deadline an answer may come on a busy machine. It is far less than the
judges would take, and than a second deadline after the first.
"""
CANCELLED_S = 5.0
"""How soon after a caller hung up the judge's connection is closed on a busy machine: far less than
the judges would take.
"""
ATTEMPTS = 3
"""How often a measurement is repeated that another process on this machine disturbed."""


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges."""
    with FakeProvider(hold_s=60.0) as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Three judges; the first one is asked unless a panel or a fallback wants more."""
    folder = tmp_path_factory.mktemp("deadline")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "three", panel_size=3, quorum=3)
    write_rubric(folder, "fallback", fallback="family")
    write_rubric(folder, "zero", on_unjudgeable="zero")
    judges = Judges(provider).add("ann", "alpha", weight=1e30)
    judges.add("bea", "beta", weight=1e10).add("cleo", "gamma")
    judges.add("brisk", "delta", weight=1e-9, attempt_timeout_s=0.2)
    with judged_by(judges, folder, breaker=False) as service:
        service.assess()
        yield service


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> None:
    """Honest judges, no requests yet."""
    provider.reset()
    provider.oracle({}, default=4)


def timed(work: Callable[[], Any], within_s: float) -> tuple[Any, float]:
    """The result of ``work`` and the seconds it took: of several tries, the first in time."""
    result, took = None, 0.0
    for _ in range(ATTEMPTS):
        started = time.monotonic()
        result = work()
        took = time.monotonic() - started
        if took <= within_s:
            break
    return result, took


SLOW: dict[str, Behaviour] = {
    "says nothing": faults.hang(),
    "drips its headers": faults.network("drip_header", interval=0.05),
    "drips its body": faults.network("drip_body", interval=0.05),
    "is slow": behaviours.slow(behaviours.honest(), 50.0),
}


@pytest.mark.parametrize("kind", SLOW)
def test_a_slow_judge_does_not_make_the_answer_late(
    kind: str, service: RunningService, provider: FakeProvider
) -> None:
    """The deadline's own error, in time, and the connection to the judge closed with it."""
    provider.behave("ann", SLOW[kind])
    answer, took = timed(lambda: service.assess(timeout_s=0.4), 0.4 + GRACE_S)
    answered_at = time.monotonic()
    assert answer["error"]["code"] == "deadline_exceeded"
    assert 0.4 <= took <= 0.4 + GRACE_S
    assert provider.wait_until(lambda: all(r.hung_up_at for r in provider.requests))
    assert all((r.hung_up_at or 0.0) <= answered_at + CANCELLED_S for r in provider.requests)


@pytest.mark.parametrize(
    ("more", "requests"),
    [({"rubric": "three"}, 3), ({"rubric": "fallback"}, 1), ({"rubric": "zero"}, 1)],
)
def test_panels_and_second_families_share_the_deadline(
    more: dict[str, Any], requests: int, service: RunningService, provider: FakeProvider
) -> None:
    """More judges never mean more time; nobody is asked once the time is up."""
    provider.behave_by_default(faults.hang())
    answer, took = timed(lambda: service.assess(timeout_s=3.0, **more), 3.0 + GRACE_S)
    assert answer["reward"] is None
    assert took <= 3.0 + GRACE_S
    assert answer["usage"]["upstream_requests"] == requests


def test_a_pair_shares_the_deadline(service: RunningService, provider: FakeProvider) -> None:
    """Both orders run side by side; the one that was in time is kept."""
    provider.behave(
        "ann",
        behaviours.when(
            lambda seen: seen.slots["candidate_1"] == "One.", behaviours.honest(), faults.hang()
        ),
    )
    answer, took = timed(lambda: service.compare("One.", "Two.", timeout_s=3.0), 3.0 + GRACE_S)
    assert answer["error"]["code"] == "deadline_exceeded"
    assert [order["choice"] for order in answer["orders"]] == ["tie", None]
    assert took <= 3.0 + GRACE_S


@pytest.mark.parametrize(
    "script",
    [faults.status_error(500), faults.rate_limited(), faults.rate_limited("1"), faults.hang()],
    ids=["500", "429", "429 for a second", "late every time"],
)
def test_retries_stay_inside_the_deadline(
    script: Behaviour, service: RunningService, provider: FakeProvider
) -> None:
    """Whatever is retried, and however long it would wait."""
    provider.behave("brisk", script)
    answer, took = timed(lambda: service.assess(timeout_s=0.5, judges=["brisk"]), 0.5 + GRACE_S)
    assert answer["status"] == "failed"
    assert took <= 0.5 + GRACE_S


def test_a_long_candidate_does_not_make_the_answer_late(service: RunningService) -> None:
    """Checking and writing a megabyte takes longer than this; the answer does not."""
    text = "&lt;" * 250_000
    answer, took = timed(lambda: service.assess(text, timeout_s=0.05), 0.05 + GRACE_S)
    assert answer["error"]["code"] == "deadline_exceeded"
    assert answer["metrics"]["length_chars"] == float(len(text))
    assert took <= 0.05 + GRACE_S


def test_the_callers_header_can_shorten_the_deadline(
    service: RunningService, provider: FakeProvider
) -> None:
    """X-Request-Timeout-Ms wins where it is less."""
    provider.behave("ann", faults.hang())
    candidate = {"text": "x", "family": "candidate-family"}
    body = {"rubric": "quality", "prompt": "?", "candidate": candidate, "timeout_s": 20}

    def post() -> Any:
        headers = {"X-Request-Timeout-Ms": "300"}
        return service.http.post("/v1/assess", json=body, headers=headers).json()

    answer, took = timed(post, 0.3 + GRACE_S)
    assert answer["error"]["code"] == "deadline_exceeded"
    assert took <= 0.3 + GRACE_S


# What providers ask to wait.


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "60"}, 60.0),
        ({"retry-after": "60.5"}, 60.5),
        ({"retry-after-ms": "61000"}, 61.0),
        ({"retry-after-ms": "61000", "retry-after": "5"}, 61.0),
        ({"retry-after": "999999999"}, 999999999.0),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_that_is_longer_than_the_time_left_ends_it_at_once(
    status: int,
    headers: dict[str, str],
    wait_s: float,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """No second request, no waiting, and the caller is told how long."""
    provider.behave("ann", faults.always(error(status, "slow down", headers=headers)))
    answer, took = timed(lambda: service.assess(timeout_s=40), 20.0)
    assert answer["error"]["code"] == ("rate_limited" if status == 429 else "upstream_error")
    assert answer["error"]["retry_after_s"] == wait_s
    assert answer["usage"]["upstream_requests"] == 1
    assert took <= 20.0


def test_a_date_to_wait_for_is_understood(service: RunningService, provider: FakeProvider) -> None:
    """Retry-After in its other form."""
    provider.behave("ann", faults.rate_limited_until(60))
    answer = service.assess(timeout_s=10)
    assert 30 <= answer["error"]["retry_after_s"] <= 62
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    "value", ["soon", "-5", "", "1e9", "nan", "Fri, 31 Dec 99999 23:59:59 GMT", "0x10"]
)
def test_a_wait_that_makes_no_sense_is_ignored(
    value: str, service: RunningService, provider: FakeProvider
) -> None:
    """The ordinary backoff applies."""
    busy = faults.always(error(429, "slow down", headers={"retry-after": value}))
    provider.behave("ann", [busy, behaviours.honest()])
    assert service.assess(timeout_s=40)["reward"] == 0.75
    assert len(provider.requests) == 2


def test_a_short_wait_is_waited(service: RunningService, provider: FakeProvider) -> None:
    """At least as long as the provider asked."""
    provider.behave("ann", [faults.rate_limited("1"), behaviours.honest()])
    answer = service.assess(timeout_s=40)
    assert answer["reward"] == 0.75
    first, second = provider.requests
    assert 1.0 <= second.at - first.at < 20.0
    assert answer["verdicts"][0]["latency_ms"] >= 1000


def test_a_second_family_does_not_wait_for_the_first(
    service: RunningService, provider: FakeProvider
) -> None:
    """Where the rubric has a fallback, a long wait sends the question on."""
    provider.behave("ann", faults.rate_limited("60"))
    answer, took = timed(lambda: service.assess(timeout_s=40, rubric="fallback"), 20.0)
    assert answer["verdicts"][0]["judge"] == "bea"
    assert took <= 20.0


# Callers that leave.


@pytest.mark.parametrize("path", ["/v1/assess", "/v1/compare"])
def test_a_caller_that_hangs_up_stops_its_judges(
    path: str, service: RunningService, provider: FakeProvider
) -> None:
    """Every connection made for it is closed at once, and nothing follows."""
    candidate = {"text": "x", "family": "candidate-family"}
    body: dict[str, Any] = {"prompt": "?", "timeout_s": 50}
    if path == "/v1/assess":
        body |= {"rubric": "three", "candidate": candidate}
    else:
        body |= {"rubric": "pair", "candidates": [candidate, {**candidate, "text": "y"}]}
    wanted = 3 if path == "/v1/assess" else 2

    async def leave() -> float:
        """Hang up once every judge has been asked; when that was."""
        async with httpx.AsyncClient(base_url=service.url, timeout=60, trust_env=False) as http:
            asking = asyncio.create_task(http.post(path, json=body))
            asked = await asyncio.to_thread(
                provider.wait_until, lambda: len(provider.requests) >= wanted
            )
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            assert asked
            return time.monotonic()

    late = math.inf
    for _ in range(ATTEMPTS):
        provider.reset()
        provider.behave_by_default(faults.hang())
        left_at = asyncio.run(leave())
        requests = provider.requests
        assert provider.wait_until(lambda: all(r.hung_up_at for r in requests))  # noqa: B023
        assert len(provider.requests) == len(requests) == wanted
        late = max(r.hung_up_at or math.inf for r in requests) - left_at
        if late <= CANCELLED_S:
            break
    assert late <= CANCELLED_S
    assert service.http.get("/healthz").status_code == 200


# The arithmetic.


@pytest.mark.parametrize(
    ("left", "configured", "attempt"),
    [
        (30.0, None, 15.0),
        (20.0, None, MIN_ATTEMPT_S),
        (12.0, None, MIN_ATTEMPT_S),
        (4.0, None, 4.0),
        (600.0, None, 300.0),
        (30.0, 25.0, 25.0),
        (30.0, 0.5, 0.5),
        (3.0, 25.0, 3.0),
        (-1.0, None, 0.0),
    ],
)
def test_an_attempt_takes_half_of_what_is_left(
    left: float, configured: float | None, attempt: float
) -> None:
    """But ten seconds at least, what the judge's spec says instead, and never past the deadline."""
    assert Deadline(left, clock=lambda: 0.0).attempt_s(configured) == attempt


def test_a_text_over_the_limit_cannot_force_a_failure(
    tmp_path: Path, provider: FakeProvider
) -> None:
    """A mebibyte that is slow to check ends at the length rule: reward 0, not out of time."""
    rules = """
    [[rules]]
    rule = "opener_only"
    hard = true
    [[rules]]
    rule = "repetition"
    hard = true
    [[rules]]
    rule = "max_chars"
    limit = 6000
    hard = true
    """
    write_rubric(tmp_path, rules=rules)
    with judged_by(Judges(provider).add("judge-a"), tmp_path) as service:
        answer = service.assess("a\u0301 word of many, " * 50_000, timeout_s=10)
    assert (answer["status"], answer["reward"]) == ("success", 0.0)
    assert [r["rule"] for r in answer["rules"]["results"] if not r["passed"]] == ["max_chars"]
    assert provider.requests == []


def test_a_timeout_of_a_judge_that_costs_nothing_costs_nothing(
    tmp_path: Path, provider: FakeProvider
) -> None:
    """What an unanswered request costs is unknown only where something is to pay."""
    provider.behave("judge-a", faults.hang())
    write_rubric(tmp_path)
    judges = Judges(provider).add("judge-a", price={"input": 0.0, "output": 0.0})
    with judged_by(judges, tmp_path) as service:
        answer = service.assess(timeout_s=0.3)
    assert answer["error"]["code"] == "deadline_exceeded"
    assert answer["usage"]["cost_usd"] == 0.0
    assert answer["usage"]["unknown_cost_calls"] == 0


def test_rules_that_take_long_to_load_do_not_make_the_answer_late(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request fails in its time and no judge is asked; once they are there it is judged."""
    loading = threading.Event()
    monkeypatch.setattr(Refusal, "get_ready", lambda _: loading.wait(60))
    write_rubric(tmp_path, rules='[[rules]]\nrule = "refusal"\nhard = true\n')
    with judged_by(Judges(provider).add("main"), tmp_path) as service:
        before = len(provider.requests)
        late = service.assess("Paris.", timeout_s=0.3)
        asked = len(provider.requests) - before
        loading.set()
        judged = service.assess("Paris.")

    assert (late["status"], late["error"]["code"], asked) == ("failed", "deadline_exceeded", 0)
    assert late["reward"] is None
    assert judged["status"] == "success"
