"""Bulks: every item gets in its place what it would have got alone."""

from __future__ import annotations

import json
import threading
from typing import Any

from tests.bulk.support import assess, compare, is_streamed, posted, rank, timed
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, faults

GRACE_S = 10.0
"""What a busy machine may add; far less than the time of items that name none."""
CHANGING = ("latency_ms",)


def without_times(value: Any) -> Any:
    """The same without what differs from one judgement to the next."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in CHANGING}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def test_results_are_in_the_order_of_the_items(
    service: RunningService, provider: FakeProvider
) -> None:
    """Whichever judgement is there first."""
    late = behaviours.slow(behaviours.honest(), 0.3)
    provider.behave(
        "ann",
        behaviours.when(lambda seen: seen.candidate.startswith("5"), late, behaviours.honest()),
    )

    results = posted(service, [assess(f"{point} points") for point in (5, 1, 4, 5, 2, 3)])

    assert [r["criteria"]["quality"]["point"] for r in results] == [5, 1, 4, 5, 2, 3]


def test_an_item_gets_what_it_would_get_alone(service: RunningService) -> None:
    """Field by field, in both kinds, and with its metadata."""
    items = [
        assess("4 points", metadata={"step": 7, "text": "é\u2028"}),
        assess("   "),
        compare("5 points", "1 point"),
        compare("the same", "the same", metadata={}),
    ]
    paths = ["/v1/assess", "/v1/assess", "/v1/compare", "/v1/compare"]
    results = posted(service, items)

    for item, path, result in zip(items, paths, results, strict=True):
        alone = service.post(path, {k: v for k, v in item.items() if k != "kind"})
        for one in (alone, result):
            for verdict in one["verdicts"]:
                # Alone it is asked for again, and the verdict is known already.
                assert verdict.pop("cached") == (one is alone)
                del verdict["attempts"], verdict["usage"]
            del one["usage"], one["metrics"]["cached"]
        assert without_times(result) == without_times(alone)
        assert list(result) == list(alone)


def test_every_item_has_a_status_of_its_own(
    service: RunningService, provider: FakeProvider
) -> None:
    """A failure among successes, a rule's zero among verdicts; no failure has a number."""
    provider.behave("ann", behaviours.chokes_on("choke"))

    good, empty, choked, pair = posted(
        service,
        [assess("4 points"), assess(""), assess("3 choke"), compare("2 choke", "1 point")],
    )

    assert (good["status"], good["reward"]) == ("success", 0.75)
    assert (empty["status"], empty["reward"], empty["short_circuited"]) == ("success", 0.0, True)
    assert (choked["status"], choked["reward"]) == ("failed", None)
    assert choked["error"]["code"] == "unparsable"
    assert (pair["status"], pair["preference"]) == ("failed", None)


def test_groups_stand_beside_single_requests(
    service: RunningService, provider: FakeProvider
) -> None:
    """A ranking is an item like any other, and a group that fails has no rewards."""
    provider.behave("slow", faults.hang())
    good, single, lost = posted(
        service,
        [
            rank("5 points", "1 point", "3 points", strategy="assess", metadata={"n": 1}),
            assess("4 points"),
            rank("5 points", "1 point", judges=["slow"], timeout_s=0.5),
        ],
    )

    assert (good["status"], good["rewards"], good["metadata"]) == ("success", [1, 0, 0.5], {"n": 1})
    assert single["reward"] == 0.75
    assert (lost["status"], lost["rewards"]) == ("failed", None)


def test_a_hanging_item_takes_its_own_time_only(
    service: RunningService, provider: FakeProvider
) -> None:
    """It fails at its deadline; those beside it are judged, and the answer is there then."""
    provider.behave("slow", faults.hang())
    items = [assess("4 points"), assess("4 points", judges=["slow"], timeout_s=1.0), assess("2 p")]

    results, took = timed(service, items)

    assert [r["status"] for r in results] == ["success", "failed", "success"]
    assert results[1]["error"]["code"] == "deadline_exceeded"
    assert 1.0 <= took <= 1.0 + GRACE_S


def test_the_time_of_the_bulk_is_that_of_items_that_name_none(
    service: RunningService, provider: FakeProvider
) -> None:
    """An item's own time wins, and the header shortens both."""
    provider.behave_by_default(faults.hang())

    _, of_bulk = timed(service, [assess(), assess()], timeout_s=0.5)
    _, of_item = timed(service, [assess(timeout_s=1.2), assess()], timeout_s=0.3)
    body = {"items": [assess(timeout_s=60), assess()], "timeout_s": 60}
    answer = service.http.post("/v1/bulk", json=body, headers={"x-request-timeout-ms": "400"})

    assert 0.5 <= of_bulk <= 0.5 + GRACE_S
    assert 1.2 <= of_item <= 1.2 + GRACE_S
    assert [r["error"]["code"] for r in answer.json()["results"]] == ["deadline_exceeded"] * 2
    assert answer.elapsed.total_seconds() <= 0.4 + GRACE_S


def test_equal_items_cost_one_judgement(service: RunningService, provider: FakeProvider) -> None:
    """Twenty times the same question is asked once."""
    item = assess("4 points")

    results = posted(service, [item] * 20)

    assert [r["reward"] for r in results] == [0.75] * 20
    assert len(provider.requests) == 1
    assert sum(r["usage"]["upstream_requests"] for r in results) == 1


def test_small_ones_have_a_length_large_ones_come_bit_by_bit(service: RunningService) -> None:
    """Up to 64 items with Content-Length, above without; metadata of the whole comes back."""
    item = assess("4 points")
    small = service.http.post("/v1/bulk", json={"items": [item] * 64, "metadata": {"a": [1]}})
    large = service.http.post("/v1/bulk", json={"items": [item] * 65, "metadata": {"a": [1]}})

    assert not is_streamed(small)
    assert int(small.headers["content-length"]) == len(small.content)
    assert is_streamed(large)
    for answer, count in ((small, 64), (large, 65)):
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["metadata"] == {"a": [1]}
        assert [r["reward"] for r in answer.json()["results"]] == [0.75] * count


def test_a_thousand_items(service: RunningService, provider: FakeProvider) -> None:
    """The most there may be, each with a result of its own, in order."""
    known = [assess(f"{point} points") for point in range(1, 6)]
    items = [{**known[n % 5], "metadata": {"n": n}} for n in range(1024)]

    results = posted(service, items, timeout_s=60)

    assert [r["metadata"]["n"] for r in results] == list(range(1024))
    assert [r["criteria"]["quality"]["point"] for r in results] == [n % 5 + 1 for n in range(1024)]
    assert len(provider.requests) == 5


def test_other_requests_have_their_turn(service: RunningService, provider: FakeProvider) -> None:
    """While a large bulk is judged, what others ask is answered."""
    gate = threading.Event()
    provider.behave("slow", behaviours.held(behaviours.honest(), gate))
    items = [assess("4 points"), *(assess(f"{n % 5 + 1} {n}", judges=["slow"]) for n in range(80))]
    body = json.dumps({"items": items})
    headers = {"content-type": "application/json"}

    with service.http.stream("POST", "/v1/bulk", content=body, headers=headers) as streaming:
        own = service.http.get("/healthz")
        others = service.assess("3 points")
        judged = [r for r in provider.requests_of("slow") if r.finished_at is not None]
        gate.set()
        results = json.loads(streaming.read())["results"]

    assert (own.status_code, others["reward"], judged) == (200, 0.5, [])
    assert {r["status"] for r in results} == {"success"}
