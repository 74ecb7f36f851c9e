"""The suite itself: its checker finds wrong verdicts, and its provider does what its plan says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from benchmarks.faults import load
from benchmarks.faults.load import Answered, fault_of
from benchmarks.faults.raw import statuses
from benchmarks.faults.report import Report
from benchmarks.faults.truth import MIX, POINTS, Plan, choice, point, reward, wrong_point

SEED = 3
ASK = load.assess(7)
BODY: dict[str, Any] = ASK.body or {}
RIGHT = point(SEED, "alpha", BODY["prompt"], BODY["candidate"]["text"])


def success(**changed: object) -> dict[str, Any]:
    """A right answer, with some of it changed."""
    verdict = {"judge": "alpha", "model_served": "alpha", "point": RIGHT, "cached": False}
    return {"status": "success", "reward": reward(RIGHT), "error": None, "short_circuited": False,
            "verdicts": [verdict], **changed}  # fmt: skip


def failed(code: str, **changed: object) -> dict[str, Any]:
    """An explicit failure."""
    return {"status": "failed", "reward": None, "error": {"code": code}, "verdicts": [],
            "usage": {"upstream_requests": 3}, **changed}  # fmt: skip


def seen(body: dict[str, Any] | None, status: int | None = 200) -> str | None:
    """What the checker says of an answer."""
    return fault_of(Answered(ask=ASK, status=status, body=body, seconds=0.1), SEED)


@pytest.mark.parametrize(
    "body", [success(), failed("timeout"), failed("wrong_model")], ids=["verdict", "late", "model"]
)
def test_what_is_right(body: dict[str, Any]) -> None:
    """A right verdict and an explicit failure are both fine."""
    assert seen(body) is None


WRONG: dict[str, dict[str, Any]] = {
    "reward of another point": success(reward=reward(wrong_point(RIGHT))),
    "verdict of another point": success(
        verdicts=[{"judge": "alpha", "model_served": "alpha", "point": wrong_point(RIGHT)}]
    ),
    "verdict of another model": success(
        verdicts=[{"judge": "alpha", "model_served": "claude", "point": RIGHT}]
    ),
    "no verdict": success(verdicts=[]),
    "a failure with a reward": failed("timeout", reward=0.0),
    "a failure with an outcome": failed("timeout", outcome="tie"),
    "an unknown code": failed("whatever"),
    "a bug": failed("internal"),
    "no code": {**failed("timeout"), "error": None},
    "a success with an error": success(error={"code": "timeout"}),
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_what_is_wrong(body: dict[str, Any]) -> None:
    """Everything else is found."""
    assert seen(body) is not None


@pytest.mark.parametrize("status", [None, 422, 500, 503])
def test_no_outcome(status: int | None) -> None:
    """A request that got no outcome counts as wrong."""
    assert seen(None, status) is not None


def test_a_broken_promise_is_told() -> None:
    """A bound that is not kept makes the report a failed one."""
    report = Report("x", SEED)
    report.at_most("calls", 2, 2)
    report.at_least("answers", 2, 2)
    assert not report.broken
    report.at_most("calls", 3, 2)
    report.at_least("answers", 1, 2)
    report.exactly("alive", False, True)

    assert len(report.broken) == 3
    assert report.summary()["ok"] is False


def test_the_plan_is_the_mix() -> None:
    """Faults come in their shares, the same for the same seed."""
    plan = Plan(seed=SEED, faults=0.2)
    drawn = Counter(plan.fault(f"question {n}", 1) for n in range(20_000))
    again = Counter(plan.fault(f"question {n}", 1) for n in range(20_000))

    assert drawn == again
    for name, share in MIX.items():
        expected = 20_000 * 0.2 * share / sum(MIX.values())
        assert abs(drawn[name] - expected) < 5 * expected**0.5
    assert Plan(seed=SEED, faults=1.0, only="error").fault("x", 1) == "error"
    assert Plan(seed=SEED).fault("x", 1) is None


def test_the_truth_uses_all_points() -> None:
    """Every point is right for some candidate, and a wrong one is never the right one."""
    found = Counter(point(SEED, "alpha", "p", str(n)) for n in range(2_000))

    assert set(found) == set(POINTS)
    assert min(found.values()) > 300
    assert all(wrong_point(p) != p for p in POINTS)
    assert {choice(SEED, "alpha", "p", str(n), str(n + 1)) for n in range(100)} == {
        "first", "second", "tie",
    }  # fmt: skip
    mirrored = {"first": "second", "second": "first", "tie": "tie"}
    for n in range(100):
        there = choice(SEED, "alpha", "p", str(n), "x")
        assert choice(SEED, "alpha", "p", "x", str(n)) == mirrored[there]


def test_every_response_on_a_connection_is_seen() -> None:
    """Two answers in one stream are two."""
    data = b"HTTP/1.1 400 Bad\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n\r\n"

    assert statuses(data) == (400, 200)
