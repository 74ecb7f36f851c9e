"""Large bulks are sent as they are judged; whoever hangs up stops the judging."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import httpx
import pytest

from judge_service.api import bulk_run
from tests.bulk.support import assess, calling, half_heard, posted
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, faults

CANCELLED_S = 5.0
"""Far less than the judges would take, and enough for a busy machine."""
HEADERS = {"content-type": "application/json"}

# LiteLLM prepares a call in a thread; one that is cancelled there leaves a coroutine behind.
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def known(count: int, **more: Any) -> list[dict[str, Any]]:
    """Items that are one question, so that they cost little."""
    return [assess("4 points", **more)] * count


def test_results_come_while_others_are_judged(
    service: RunningService, provider: FakeProvider
) -> None:
    """What stands before a slow item is there before its judge has answered."""
    gate = threading.Event()
    provider.behave("slow", behaviours.held(behaviours.honest(), gate))
    items = [*known(70), assess("2 points", judges=["slow"])]

    body = json.dumps({"items": items}).encode()
    with service.http.stream("POST", "/v1/bulk", content=body, headers=HEADERS) as answer:
        chunks = answer.iter_raw()
        heard = next(chunks)
        answered = [r for r in provider.requests_of("slow") if r.finished_at is not None]
        gate.set()
        heard += b"".join(chunks)

    assert b'"status":"success"' in heard
    assert answered == []
    results = json.loads(heard)["results"]
    assert [r["criteria"]["quality"]["point"] for r in results] == [4] * 70 + [2]


def test_order_is_kept_when_the_first_is_the_last_to_come(
    service: RunningService, provider: FakeProvider
) -> None:
    """Results behind it wait for it."""
    provider.behave("slow", behaviours.slow(behaviours.honest(), 0.5))
    items = [assess("2 points", judges=["slow"]), *known(70)]

    results = posted(service, items)

    assert [r["criteria"]["quality"]["point"] for r in results] == [2] + [4] * 70


@pytest.mark.parametrize("count", [3, 80], ids=["small", "streamed"])
def test_hanging_up_cancels_what_is_being_judged(
    count: int, service: RunningService, provider: FakeProvider
) -> None:
    """The judge's connections are closed, and nothing more is asked."""
    provider.behave("slow", faults.hang())
    hanging = [assess(f"{n}", judges=["slow"], timeout_s=50) for n in range(count)]
    with calling(service, hanging):
        assert provider.wait_until(lambda: len(provider.requests) == count)
    gone_at = time.monotonic()

    assert provider.wait_until(lambda: all(r.hung_up_at for r in provider.requests))
    asked = len(provider.requests)
    assert asked == count
    assert all((r.hung_up_at or 0.0) - gone_at <= CANCELLED_S for r in provider.requests)
    assert posted(service, known(1))[0]["status"] == "success"
    assert len(provider.requests_of("slow")) == asked


def test_hanging_up_in_the_middle_cancels_the_rest(
    service: RunningService, provider: FakeProvider
) -> None:
    """Part of the answer was heard; the hanging items behind it are given up."""
    provider.behave("slow", faults.hang())
    items = [*known(70), *(assess(f"{n}", judges=["slow"], timeout_s=50) for n in range(5))]

    heard = half_heard(service, items, b'"status":"success"')
    gone_at = time.monotonic()

    assert not heard.rstrip().endswith(b"]}")
    assert provider.wait_until(lambda: provider.in_flight == 0)
    hung_up = [r.hung_up_at for r in provider.requests_of("slow")]
    assert all(at is not None and at <= gone_at + CANCELLED_S for at in hung_up)


def test_what_breaks_off_is_no_json(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the service in the middle leaves an answer that cannot be taken for a whole."""
    told = 0

    def encoded(wire: dict[str, Any], metadata: bytes) -> bytes:
        nonlocal told
        told += 1
        if told > 5:
            raise Unforeseen
        return json.dumps(wire).encode()

    class Unforeseen(Exception):
        """Something that nobody has thought of."""

    monkeypatch.setattr(bulk_run, "_encoded", encoded)
    heard = b""
    body = json.dumps({"items": [assess(f"{n} points") for n in range(1, 70)]}).encode()
    with service.http.stream("POST", "/v1/bulk", content=body, headers=HEADERS) as answer:
        chunks = answer.iter_raw()
        heard += next(chunks)
        with pytest.raises(httpx.RemoteProtocolError):
            heard += b"".join(chunks)

    with pytest.raises(ValueError, match=r"."):
        json.loads(heard)


def test_a_fault_in_one_item_is_that_items_failure(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody has thought of costs one item its verdict, and no other."""
    whole = bulk_run._encoded
    broken: list[object] = []

    def encoded(wire: dict[str, Any], metadata: bytes) -> bytes:
        if metadata == b'{"n":1}' and not broken:
            broken.append(wire)
            raise ValueError("a bug")
        return whole(wire, metadata)

    monkeypatch.setattr(bulk_run, "_encoded", encoded)
    results = posted(service, [assess("4 points", metadata={"n": n}) for n in range(3)])

    assert [r["status"] for r in results] == ["success", "failed", "success"]
    assert (results[1]["reward"], results[1]["error"]["code"]) == (None, "internal")
    assert results[1]["metadata"] == {"n": 1}


def test_items_that_never_had_their_turn_say_so(
    service: RunningService, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When all places are taken until the time is up, the rest fails by the deadline, in time."""
    monkeypatch.setattr(bulk_run, "AT_ONCE", 4)
    provider.behave("slow", faults.hang())
    items = [assess(f"{n}", judges=["slow"]) for n in range(100)]
    started = time.monotonic()

    results = posted(service, items, timeout_s=3.0)

    assert time.monotonic() - started <= 3.0 + 10.0
    assert {r["error"]["code"] for r in results} == {"deadline_exceeded"}
    assert {r["reward"] for r in results} == {None}
    assert len(provider.requests_of("slow")) == 4


def test_the_one_with_the_least_time_goes_first(
    service: RunningService, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An item with little time is not kept waiting by those before it that have much."""
    monkeypatch.setattr(bulk_run, "AT_ONCE", 2)
    provider.behave("slow", behaviours.slow(behaviours.honest(), 0.6))
    patient = [assess(f"{n % 5 + 1} {n}", judges=["slow"], timeout_s=30) for n in range(4)]

    results = posted(service, [*patient, assess("4 points", timeout_s=20)])

    assert [r["status"] for r in results] == ["success"] * 5
    # It is begun first; of the two at once, either may be at its judge first.
    assert "ann" in {request.model for request in provider.requests[:2]}
