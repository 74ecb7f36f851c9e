"""Quotas over HTTP: who has used them up is told when to come back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_service.api.answers import ProblemAnswer
from tests.keys.keyed import COST, Keyed, entry, keyed
from tests.provider import faults

FAST, FAST_NEXT, SLOW, RICH, POOR, FAILING = (f"key-of-{n}" for n in range(6))
RPM = 5


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """A service whose clients have different quotas."""
    entries = [
        entry("fast", FAST, rpm=100), entry("fast", FAST_NEXT, rpm=100),
        entry("slow", SLOW, rpm=RPM), entry("rich", RICH),
        entry("poor", POOR, daily_cost_usd=COST * 2.5),
        entry("failing", FAILING, daily_cost_usd=COST * 2.5),
    ]  # fmt: skip
    with keyed(tmp_path_factory.mktemp("quotas"), *entries) as running:
        yield running


def test_requests_a_minute(service: Keyed) -> None:
    """The next request after the quota is 429, with the seconds to wait; looking stays free."""
    looked = {"authorization": f"Bearer {SLOW}"}
    assert service.assess(SLOW, nonsense=1).status_code == 422
    assert service.service.http.get("/v1/rubrics", headers=looked).status_code == 200

    answers = [service.assess(SLOW, f"Answer {n}.") for n in range(RPM + 2)]

    assert [a.status_code for a in answers] == [200] * RPM + [429] * 2
    problem = ProblemAnswer.model_validate(answers[-1].json()).error
    assert problem.code == "quota_exceeded"
    assert f"{RPM} requests a minute" in problem.message
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 64
    assert service.service.http.get("/v1/rubrics", headers=looked).status_code == 200
    assert service.assess(RICH).status_code == 200


def test_two_keys_of_a_name_share_its_quota(service: Keyed, tmp_path: Path) -> None:
    """A second key is for rotation, not for twice as much."""
    keys = [entry("one", "first key", rpm=4), entry("one", "second key", rpm=4)]
    with keyed(tmp_path, *keys) as own:
        codes = [own.assess(f"{('first', 'second')[n % 2]} key").status_code for n in range(6)]

    assert codes == [200] * 4 + [429] * 2


def test_dollars_a_day(service: Keyed) -> None:
    """While money is left a request is let in; what it costs is known afterwards."""
    answers = [service.assess(POOR, f"Poor answer {n}.") for n in range(5)]

    assert [a.status_code for a in answers] == [200, 200, 200, 429, 429]
    assert answers[0].json()["usage"]["cost_usd"] == pytest.approx(COST)
    assert "dollars a day" in answers[-1].json()["error"]["message"]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 86_400
    assert service.assess(RICH).status_code == 200


def test_a_failed_outcome_costs_as_well(service: Keyed) -> None:
    """What judges were paid for counts, whether a verdict came of it or not."""
    service.provider.behave("alpha", faults.empty())
    try:
        answers = [service.assess(FAILING, f"Failing answer {n}.") for n in range(4)]
    finally:
        service.provider.reset()

    assert answers[0].json()["status"] == "failed"
    assert answers[0].json()["usage"]["cost_usd"] > 0
    assert answers[-1].status_code == 429


def test_a_higher_quota_counts_at_once(tmp_path: Path) -> None:
    """Quotas are read again with the keys."""
    with keyed(tmp_path, entry("ann", "key of ann", rpm=2)) as own:
        before = [own.assess("key of ann").status_code for _ in range(3)]
        own.keys.write_text(entry("ann", "key of ann", rpm=4), encoding="utf-8")
        after = [own.assess("key of ann").status_code for _ in range(3)]

    assert before == [200, 200, 429]
    assert after == [200, 200, 429]
