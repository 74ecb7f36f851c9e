"""Several judges: quorum, median, families."""

from __future__ import annotations

import pytest

from judge_service.judging.combine import lower_median
from tests.harness import RunningService, new_prompt
from tests.panel.support import (
    GARBAGE,
    asked,
    behave,
    flags,
)
from tests.provider import FakeProvider, behaviours, faults


@pytest.mark.parametrize(
    ("points", "median"),
    [([1], 1), ([1, 5], 1), ([5, 1], 1), ([1, 2, 5], 2), ([4, 5, 4, 5], 4), ([2, 4, 4, 5], 4)],
)
def test_a_panels_point_is_one_that_a_judge_gave(points: list[int], median: int) -> None:
    """The middle one, of two the lower."""
    assert lower_median(points) == median


@pytest.mark.parametrize(
    ("points", "flagged"),
    [((1, 5), True), ((3, 4), True), ((4, 4), False), ((1, 3, 5), False)],
    ids=["ends", "neighbours", "agreed", "odd"],
)
def test_a_divided_panel_is_flagged(
    points: tuple[int, ...], flagged: bool, service: RunningService, provider: FakeProvider
) -> None:
    """The lower middle point counts, as documented, and the caller sees that it was close."""
    names = ("ann", "bea", "cleo")[: len(points)]
    behave(provider, **{n: behaviours.fixed(p) for n, p in zip(names, points, strict=True)})
    panel = {"judges": list(names), "panel_size": len(names)}
    answer = service.assess(**panel)
    assert ("split_panel" in flags(answer)) is flagged
    body = {
        "rubric": "quality", "prompt": new_prompt(), "strategy": "assess",
        "candidates": [{"text": text, "family": "x"} for text in ("One.", "Two.")], **panel,
    }  # fmt: skip
    ranked = service.http.post("/v1/rank", json=body).json()
    assert ("split_panel" in flags(ranked)) is flagged


def test_a_panel_is_of_different_families(service: RunningService, provider: FakeProvider) -> None:
    """Three judges, of three families, each asked once; the validation judge is left out."""
    behave(provider, bea=behaviours.fixed(2), cleo=behaviours.fixed(5))
    answer = service.assess(rubric="three")
    assert [v["judge"] for v in answer["verdicts"]] == ["ann", "bea", "cleo"]
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 3
    assert answer["criteria"]["quality"]["point"] == 4
    assert answer["criteria"]["quality"]["agreement"] == pytest.approx(1 / 3)
    assert answer["criteria"]["quality"]["votes"] == 3
    assert answer["reward"] == 0.75


def test_a_quorum_is_enough(service: RunningService, provider: FakeProvider) -> None:
    """One judge of three may fail; the lower of the other two points counts."""
    behave(provider, bea=faults.status_error(500), cleo=behaviours.fixed(5))
    answer = service.assess(rubric="three")
    assert answer["status"] == "success"
    assert answer["criteria"]["quality"]["point"] == 4
    assert answer["criteria"]["quality"]["agreement"] == 0.5
    assert answer["metrics"]["agreement"] == 0.5
    assert answer["usage"]["upstream_requests"] == len(provider.requests) == 5


def test_fewer_than_a_quorum_is_a_failure(service: RunningService, provider: FakeProvider) -> None:
    """The good verdict is shown and worth nothing; the message names who failed and why."""
    behave(provider, bea=faults.status_error(401), cleo=GARBAGE)
    answer = service.assess(rubric="three")
    assert answer["reward"] is None
    assert answer["error"]["code"] == "quorum_not_met"
    assert answer["error"]["retryable"] is True
    assert "bea: upstream_auth" in answer["error"]["message"]
    assert "cleo: unparsable" in answer["error"]["message"]
    assert len(answer["verdicts"]) == 1
    assert answer["criteria"] == {}


def test_fewer_families_than_the_panel_wants(
    service: RunningService, provider: FakeProvider
) -> None:
    """Those there are will do while they make a quorum."""
    answer = service.assess({"text": "x", "family": "beta"}, rubric="three")
    assert answer["status"] == "success"
    assert {v["family"] for v in answer["verdicts"]} == {"alpha", "gamma"}
    assert len(provider.requests) == 2


@pytest.mark.parametrize("judges", [["ann", "abe", "bea"], ["ann"]])
def test_too_few_families_for_a_quorum_cost_nothing(
    judges: list[str], service: RunningService, provider: FakeProvider
) -> None:
    """Nobody is asked for a verdict that can never count."""
    answer = service.assess(rubric="all", judges=judges)
    assert answer["error"]["code"] == "quorum_not_met"
    assert provider.requests == []
    pair = service.compare("One.", "Two.", rubric="pair-of-two", judges=judges[:2])
    assert pair["error"]["code"] == "quorum_not_met"
    assert provider.requests == []


def test_a_request_can_ask_for_another_panel(
    service: RunningService, provider: FakeProvider
) -> None:
    """``panel_size`` of the request wins over the rubric's."""
    answer = service.assess(rubric="quality", panel_size=3)
    assert len(answer["verdicts"]) == 3
    provider.reset()
    assert len(service.assess(rubric="three", panel_size=2)["verdicts"]) == 2


def test_a_request_can_name_its_judges(service: RunningService, provider: FakeProvider) -> None:
    """Only they are asked, also one that is there for validation."""
    answer = service.assess(rubric="three", judges=["dora", "bea"])
    assert {v["judge"] for v in answer["verdicts"]} == {"dora", "bea"}
    assert asked(provider) == ["bea", "dora"]


def test_validation_judges_are_never_in_rotation(
    service: RunningService, provider: FakeProvider
) -> None:
    """Not even where a panel has room for one more family."""
    assert len(service.assess(panel_size=9)["verdicts"]) == 3
    assert asked(provider) == ["ann", "bea", "cleo"]
