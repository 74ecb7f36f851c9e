"""The second family that a rubric may ask."""

from __future__ import annotations

import pytest

from tests.harness import RunningService
from tests.panel.support import (
    GARBAGE,
    asked,
    behave,
    flags,
)
from tests.provider import Behaviour, FakeProvider, behaviours, faults


@pytest.mark.parametrize(
    ("script", "code", "requests"),
    [
        (faults.status_error(500), "upstream_error", 3),
        (faults.rate_limited(), "rate_limited", 3),
        (faults.status_error(401), "upstream_auth", 2),
        (faults.quota_exhausted(), "quota_exhausted", 2),
        (GARBAGE, "unparsable", 3),
        (faults.refuses_to_judge(), "refused", 3),
        (behaviours.wrong_model(), "wrong_model", 3),
    ],
)
def test_another_family_is_tried_once(
    script: Behaviour, code: str, requests: int, service: RunningService, provider: FakeProvider
) -> None:
    """The verdict comes from it, flagged, and all of it within three requests."""
    behave(provider, ann=script)
    answer = service.assess(rubric="fallback")
    assert answer["status"] == "success"
    assert [v["judge"] for v in answer["verdicts"]] == ["bea"]
    assert code in flags(answer)["fallback_judge"]
    assert asked(provider) == ["ann", "bea"]
    assert answer["usage"]["upstream_requests"] == len(provider.requests) == requests


def test_without_fallback_nobody_else_is_tried(
    service: RunningService, provider: FakeProvider
) -> None:
    """The default: the judge that was chosen, or no verdict."""
    behave(provider, ann=faults.status_error(401))
    assert service.assess()["error"]["code"] == "upstream_auth"
    assert asked(provider) == ["ann"]


def test_without_a_second_family_all_requests_are_the_first_judges(
    service: RunningService, provider: FakeProvider
) -> None:
    """Nothing is kept back for a judge that is not there."""
    behave(provider, ann=faults.status_error(500))
    answer = service.assess(rubric="fallback", judges=["ann", "abe"])
    assert answer["error"]["code"] == "upstream_error"
    assert asked(provider) == ["ann"]
    assert len(provider.requests) == 3


def test_the_second_try_has_no_third(service: RunningService, provider: FakeProvider) -> None:
    """Two families, three requests, then it is a failure with the first judge's error."""
    behave(provider, ann=faults.status_error(500), bea=GARBAGE)
    answer = service.assess(rubric="fallback")
    assert answer["error"]["code"] == "upstream_error"
    assert flags(answer) == {}
    assert asked(provider) == ["ann", "bea"]
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 3


@pytest.mark.parametrize(
    ("candidate", "judges", "second"),
    [
        ({"text": "x", "family": "beta"}, ["ann", "abe", "bea", "cleo"], "cleo"),
        ({"text": "x", "family": ["beta", "gamma"]}, ["ann", "bea", "cleo", "dora"], "dora"),
        ({"text": "x", "family": "beta"}, ["ann", "abe", "bea"], None),
        ({"text": "x", "family": "other"}, ["ann", "abe"], None),
    ],
)
def test_the_second_family_is_not_the_candidates_either(
    candidate: object,
    judges: list[str],
    second: str | None,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """It is of another family than the first judge's and the candidate's, among those allowed."""
    behave(provider, ann=faults.status_error(401), abe=faults.status_error(401))
    answer = service.assess(candidate, rubric="fallback", judges=judges)
    assert asked(provider) == ["ann", *([second] if second else [])]
    assert answer["status"] == ("success" if second else "failed")


def test_a_panel_has_one_spare_per_place(service: RunningService, provider: FakeProvider) -> None:
    """A failing member is replaced by a family that is not on the panel yet."""
    behave(provider, ann=faults.status_error(401))
    answer = service.assess(rubric="fallback-both")
    assert answer["status"] == "success"
    assert sorted(v["judge"] for v in answer["verdicts"]) == ["bea", "cleo"]
    assert "cleo in place of ann" in flags(answer)["fallback_judge"]


def test_every_criterion_finds_the_same_spare(
    service: RunningService, provider: FakeProvider
) -> None:
    """Both criteria are judged by the second family, within three requests each."""
    behave(provider, ann=GARBAGE)
    answer = service.assess(rubric="fallback-two")
    assert [v["judge"] for v in answer["verdicts"]] == ["bea", "bea"]
    assert len(provider.requests) == 6
