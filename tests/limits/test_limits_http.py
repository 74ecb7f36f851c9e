"""A judge's limits and its breaker as a caller of the service and the judge's provider see them."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from judge_service.gates.breaker import OPEN_S, PROBES, SPREAD, WINDOW
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider, behaviours, faults
from tests.provider.behaviours import Behaviour
from tests.provider.replies import Reply
from tests.provider.seen import Seen
from tests.redis_server import RedisServer

# LiteLLM prepares a call in a thread; one that is cancelled there leaves a coroutine behind.
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)

HEARD_S = 1.0
"""How much later than it happened the provider may hear of a hang-up on a busy machine."""
ATTEMPTS = 3
"""How often to look where a store that a busy machine makes late is done without."""
SHORTEST_OPEN_S = OPEN_S * (1.0 - SPREAD)
"""Before it looks again a breaker is open for no less than this."""
SECRET = "a secret of these tests, 32 bytes"


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges; its honest score is 4 of 1 to 5."""
    with FakeProvider() as provider:
        provider.oracle({}, default=4)
        yield provider


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> None:
    """Honest judges, no requests yet."""
    provider.reset()


Serve = Callable[..., RunningService]


@pytest.fixture
def serving(provider: FakeProvider, tmp_path: Path) -> Iterator[Serve]:
    """Starts a service with one judge; the keyword arguments are its fields."""
    write_rubric(tmp_path)
    with ExitStack() as stack:

        def start(settings: dict[str, Any] | None = None, **judge: Any) -> RunningService:
            judges = Judges(provider).add("ann", **judge)
            service = stack.enter_context(judged_by(judges, tmp_path, **(settings or {})))
            service.assess("The first one takes longer.")
            provider.reset()
            return service

        yield start


def at_once(
    services: list[RunningService], times: int, *, tag: str = "", **more: Any
) -> list[dict[str, Any]]:
    """So many assessments of different texts, in turn by each service; the answers."""
    with ThreadPoolExecutor(times) as pool:
        work = [
            pool.submit(services[n % len(services)].assess, f"Answer {tag} {n}.", **more)
            for n in range(times)
        ]
        return [one.result() for one in work]


def codes(answers: list[dict[str, Any]]) -> Counter[str | None]:
    """How often each error code came, None for a verdict."""
    for answer in answers:
        assert (answer["reward"] is None) == (answer["error"] is not None)
    return Counter(answer["error"] and answer["error"]["code"] for answer in answers)


def when_two_are_there() -> Behaviour:
    """An honest judge that answers nobody before it has been asked twice, and then slowly."""
    two, honest = threading.Event(), behaviours.honest()

    def reply(seen: Seen) -> Reply:
        if seen.n >= 2:
            two.set()
        return dataclasses.replace(honest(seen), gate=two, delay=0.05)

    return reply


def test_a_judge_never_sees_more_calls_at_once_than_configured(
    serving: Serve, provider: FakeProvider
) -> None:
    """Twelve requests of one moment, two at a time; all are judged."""
    service = serving(max_concurrency=2)
    provider.behave("ann", when_two_are_there())
    assert codes(at_once([service], 12)) == {None: 12}
    assert provider.max_in_flight == 2
    assert len(provider.requests) == 12


@pytest.mark.parametrize("kind", ["redis", "file"])
def test_two_services_share_a_judges_places(
    kind: str, serving: Serve, provider: FakeProvider, tmp_path: Path
) -> None:
    """Through Redis, or through the embedded store on one machine."""
    with ExitStack() as stack:
        settings: dict[str, Any] = {"store": tmp_path / "store.sqlite3", "secret": SECRET}
        if kind == "redis":
            server = stack.enter_context(RedisServer(tmp_path))
            settings = {"redis_url": server.url, "secret": SECRET}
        both = [serving(settings, max_concurrency=2) for _ in range(2)]
        seen = 0
        for attempt in range(ATTEMPTS):
            provider.reset()
            provider.behave("ann", when_two_are_there())
            assert codes(at_once(both, 24, tag=str(attempt))) == {None: 24}
            assert len(provider.requests) == 24
            seen = provider.max_in_flight
            if seen == 2:
                break
        assert seen == 2


def test_calls_whose_connection_is_cut_do_not_make_room_for_too_many(
    serving: Serve, provider: FakeProvider
) -> None:
    """A request that hung has ended before the next one begins."""
    service = serving(max_concurrency=2, attempt_timeout_s=2.0)
    provider.behave("ann", [*[faults.hang()] * 4, behaviours.honest()])
    answers = at_once([service], 8)
    assert codes(answers) == {None: 8}
    # The fake hears of a hang-up a moment later.
    hung = [r.hung_up_at for r in provider.requests[:4]]
    assert all(at is not None for at in hung)
    for number, request in enumerate(provider.requests):
        before = [r.hung_up_at or r.finished_at or 0.0 for r in provider.requests[:number]]
        assert sum(at > request.at + HEARD_S for at in before) < 2


def test_requests_above_the_rate_fail_at_once_and_say_when(
    serving: Serve, provider: FakeProvider
) -> None:
    """Three a minute, of which one is spent on the warm-up."""
    service = serving(rpm=3)
    started = time.monotonic()
    answers = at_once([service], 6, timeout_s=15)  # the next one is free after twenty seconds
    assert time.monotonic() - started < 10.0
    assert codes(answers) == {None: 2, "rate_limited": 4}
    assert len(provider.requests) == 2
    errors = [answer["error"] for answer in answers if answer["error"]]
    assert all(e["retryable"] and 0 < e["retry_after_s"] <= 120 for e in errors)


def test_retry_after_is_waited_for_when_there_is_time(
    serving: Serve, provider: FakeProvider
) -> None:
    """Not a moment less, and not much more."""
    service = serving()
    provider.behave("ann", [faults.rate_limited("1"), behaviours.honest()])
    started = time.monotonic()
    answer = service.assess(timeout_s=40)
    assert answer["status"] == "success"
    assert 1.0 <= time.monotonic() - started < 20.0
    first, second = provider.requests
    assert second.at - first.at >= 1.0


def test_retry_after_that_is_too_long_fails_at_once(serving: Serve, provider: FakeProvider) -> None:
    """The caller is told what the provider said."""
    service = serving()
    provider.behave("ann", faults.rate_limited("60"))
    started = time.monotonic()
    answer = service.assess(timeout_s=40)
    assert time.monotonic() - started < 20.0
    assert answer["error"]["code"] == "rate_limited"
    assert answer["error"]["retry_after_s"] == 60.0
    assert len(provider.requests) == 1


def test_a_full_queue_is_503_before_any_judge_is_asked(
    serving: Serve, provider: FakeProvider
) -> None:
    """One with the judge, two waiting; the others hear it at once, with a time to come back."""
    service = serving({"max_queue": 2}, max_concurrency=1)
    gate = threading.Event()
    provider.behave("ann", behaviours.held(behaviours.honest(), gate))

    def post(number: int) -> Any:
        candidate = {"text": f"Answer {number}.", "family": "candidate-family"}
        body = {"rubric": "quality", "prompt": "A question?", "candidate": candidate}
        return service.http.post("/v1/assess", json=body)

    with ThreadPoolExecutor(8) as pool:
        asked: list[Future[Any]] = [pool.submit(post, number) for number in range(8)]
        assert provider.wait_until(lambda: sum(one.done() for one in asked) == 5)
        gate.set()
        answers = [one.result() for one in asked]
    shed = [answer for answer in answers if answer.status_code == 503]
    assert len(shed) == 5
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in shed)
    judged = [answer.json() for answer in answers if answer.status_code == 200]
    assert codes(judged) == {None: 3}
    assert len(provider.requests) == 3


def test_a_storm_of_500_costs_little_is_explicit_and_passes(
    serving: Serve, provider: FakeProvider
) -> None:
    """The breaker opens, calls without time are told at once, one with time meets the recovery."""
    service = serving()
    provider.behave("ann", faults.status_error(500))
    assert service.assess("The first error takes longer, too.")["error"]["code"] == "upstream_error"
    answers = []
    started = time.monotonic()
    for wave in range(20):
        answers += at_once([service], 10, tag=str(wave), timeout_s=3.9)
    looks = 1 + (time.monotonic() - started) // SHORTEST_OPEN_S
    found = codes(answers)
    # A busy machine may need longer than that for a request.
    assert set(found) <= {"upstream_error", "breaker_open", "deadline_exceeded"}
    assert found["breaker_open"] >= 100
    # Until it opens: those that are counted, and those under way by then. Then two at each look,
    # and one more for each that was cut off, from which nothing is learnt.
    assert len(provider.requests) <= WINDOW + 10 + PROBES * looks + found["deadline_exceeded"]
    assert found["upstream_error"] <= 10 + PROBES * looks
    closed = [answer["error"] for answer in answers if answer["error"]["code"] == "breaker_open"]
    assert all(0 < e["retry_after_s"] <= 6 and e["retryable"] for e in closed)
    wait_s = 0.0
    for _ in range(ATTEMPTS):  # the breaker may let one call through to look
        error = service.assess("Is it open?", timeout_s=3.9)["error"]
        wait_s = error["retry_after_s"] if error["code"] == "breaker_open" else 0.0
        if wait_s > SHORTEST_OPEN_S / 2:
            break
    hurried = service.assess("In a hurry.", timeout_s=wait_s / 2)
    assert hurried["error"]["code"] == "breaker_open"  # at once: not the deadline's own error
    assert hurried["usage"]["upstream_requests"] == 0
    started = time.monotonic()
    provider.behave("ann", behaviours.honest())
    asked = len(provider.requests)
    assert codes(at_once([service], 10, tag="after", timeout_s=20)) == {None: 10}
    assert time.monotonic() - started < 15.0
    assert len(provider.requests) == asked + 10


def test_429_and_unusable_replies_never_close_a_judge(
    serving: Serve, provider: FakeProvider
) -> None:
    """It lives, and is asked again every time."""
    service = serving()
    for number, script in enumerate(
        (faults.rate_limited("60"), behaviours.says("Hm."), behaviours.wrong_model())
    ):
        provider.behave("ann", script)
        answers = at_once([service], 25, tag=str(number), timeout_s=5)
        assert "breaker_open" not in codes(answers)
    provider.behave("ann", behaviours.honest())
    assert service.assess()["status"] == "success"
