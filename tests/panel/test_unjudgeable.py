"""Candidates that no judge can judge."""

from __future__ import annotations

import pytest

from tests.harness import RunningService, new_prompt
from tests.panel.support import (
    CHOKING,
    GARBAGE,
    PANGOLIN,
    asked,
    behave,
    flags,
)
from tests.provider import Behaviour, FakeProvider, behaviours, faults


def test_what_two_families_cannot_judge_is_zero(
    service: RunningService, provider: FakeProvider
) -> None:
    """While a control item is judged as usual: success, reward 0, flagged, all of it paid for."""
    behave(provider, ann=CHOKING, bea=CHOKING)
    answer = service.assess(PANGOLIN, rubric="zero")
    assert (answer["status"], answer["reward"]) == ("success", 0.0)
    assert answer["short_circuited"] is False
    assert set(flags(answer)) == {"unjudgeable"}
    assert answer["metrics"]["judge_failed"] == 0.0
    assert asked(provider) == ["ann", "bea"]
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 4
    last = provider.requests[-1].seen
    assert last is not None
    assert "PANGOLIN" not in last.candidate


def test_the_second_family_may_be_able_to_judge_it(
    service: RunningService, provider: FakeProvider
) -> None:
    """Then its verdict counts."""
    behave(provider, ann=CHOKING)
    answer = service.assess(PANGOLIN, rubric="zero")
    assert answer["reward"] == 0.75
    assert set(flags(answer)) == {"fallback_judge"}


@pytest.mark.parametrize("rubric", ["zero-panel", "zero-two"])
def test_a_panel_and_several_criteria_can_be_defeated_too(
    rubric: str, service: RunningService, provider: FakeProvider
) -> None:
    """Nobody gave a verdict, the control was judged."""
    behave(provider, ann=CHOKING, bea=CHOKING, cleo=CHOKING)
    answer = service.assess(PANGOLIN, rubric=rubric)
    assert (answer["status"], answer["reward"]) == ("success", 0.0)
    assert "unjudgeable" in flags(answer)


@pytest.mark.parametrize(
    ("scripts", "code"),
    [
        ({"ann": GARBAGE, "bea": GARBAGE}, "unparsable"),
        ({"ann": CHOKING, "bea": faults.status_error(500)}, "unparsable"),
        ({"ann": faults.status_error(500), "bea": CHOKING}, "upstream_error"),
        ({"ann": behaviours.wrong_model(), "bea": CHOKING}, "wrong_model"),
        ({"ann": CHOKING, "bea": behaviours.wrong_model()}, "unparsable"),
    ],
    ids=["control fails", "second is down", "first is down", "first is another", "second is"],
)
def test_a_judges_own_trouble_is_never_a_zero(
    scripts: dict[str, Behaviour], code: str, service: RunningService, provider: FakeProvider
) -> None:
    """Broken judges say nothing about the candidate."""
    behave(provider, **scripts)
    answer = service.assess(PANGOLIN, rubric="zero")
    assert answer["reward"] is None
    assert answer["error"]["code"] == code
    assert flags(answer) == {}


@pytest.mark.parametrize(
    "before",
    [
        (faults.status_error(500), faults.status_error(500)),
        (faults.rate_limited("0"), faults.rate_limited("0")),
        (GARBAGE, faults.status_error(500)),
        (faults.status_error(500), behaviours.wrong_model()),
    ],
    ids=["down", "limited", "unusable then down", "down then another model"],
)
@pytest.mark.parametrize("rubric", ["quality", "zero"])
def test_no_request_is_kept_for_a_family_that_nobody_would_ask(
    rubric: str,
    before: tuple[Behaviour, Behaviour],
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """A zero's second family is for unusable replies: an outage has all three requests, as in any
    other rubric, alone and in a group.
    """
    behave(provider, ann=[*before, behaviours.fixed(2)])
    answer = service.assess(rubric=rubric)
    assert (answer["status"], answer["reward"]) == ("success", 0.25)
    assert asked(provider) == ["ann"]
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 3
    provider.reset()
    behave(provider, ann=[*before, behaviours.fixed(2)])
    body = {
        "rubric": rubric, "prompt": new_prompt(), "strategy": "assess",
        "candidates": [{"text": text, "family": "x"} for text in ("", "Two.")],
    }  # fmt: skip
    ranked = service.http.post("/v1/rank", json=body).json()
    assert ranked["rewards"] == [0.0, 0.25]
    assert len(provider.requests) == ranked["usage"]["upstream_requests"] == 3


@pytest.mark.parametrize("rubric", ["zero", "zero-two"])
def test_a_second_family_is_within_the_three_requests(
    rubric: str, service: RunningService, provider: FakeProvider
) -> None:
    """Where the outage has taken them all, an unusable third reply is the end of it."""
    down = faults.status_error(500)
    behave(provider, ann=[down, down, GARBAGE], bea=CHOKING)
    answer = service.assess(PANGOLIN, rubric=rubric)
    assert answer["error"]["code"] == "unparsable"
    assert asked(provider) == ["ann"]
    assert len(provider.requests) == 3
    provider.reset()
    behave(provider, ann=[down, down, GARBAGE], bea=CHOKING)
    body = {
        "rubric": rubric, "prompt": new_prompt(), "strategy": "assess",
        "candidates": [{"text": text, "family": "x"} for text in ("", PANGOLIN)],
    }  # fmt: skip
    ranked = service.http.post("/v1/rank", json=body).json()
    assert ranked["error"]["code"] == "unparsable"
    assert len(provider.requests) == 3


def test_one_family_alone_is_not_enough_for_a_zero(
    service: RunningService, provider: FakeProvider
) -> None:
    """Two judges of the same family are one opinion."""
    behave(provider, ann=CHOKING, abe=CHOKING)
    answer = service.assess(PANGOLIN, rubric="zero", judges=["ann", "abe"])
    assert answer["error"]["code"] == "unparsable"
    assert asked(provider) == ["ann"]


def test_by_default_the_unjudgeable_fails(service: RunningService, provider: FakeProvider) -> None:
    """A zero has to be asked for in the rubric."""
    behave(provider, ann=CHOKING)
    assert service.assess(PANGOLIN)["error"]["code"] == "unparsable"
    assert asked(provider) == ["ann"]
