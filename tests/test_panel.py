"""Several judges: quorum, median, families, and the second family that a rubric may ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from judge_service.judging.combine import lower_median
from tests.harness import CRITERION, Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.provider import Behaviour, FakeProvider, behaviours, faults

GOOD = 4
JUDGES = {"ann": "alpha", "abe": "alpha", "bea": "beta", "cleo": "gamma", "dora": "delta"}
"""With their families, in the order they are chosen in: each weighs far more than the next."""
TWO_CRITERIA = CRITERION.replace("weight = 1.0", "weight = 0.5") + CRITERION.replace(
    'name = "quality"\nweight = 1.0', 'name = "clarity"\nweight = 0.5'
)
GARBAGE = behaviours.says("Hm.")
CHOKING = behaviours.chokes_on("PANGOLIN")
PANGOLIN = "The PANGOLIN is an animal."


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges; its honest score is 4 of 1 to 5."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Judges of four families, one of them for validation, and a rubric for every panel."""
    folder = tmp_path_factory.mktemp("panel")
    write_rubric(folder)
    write_rubric(folder, "three", panel_size=3, quorum=2)
    write_rubric(folder, "all", panel_size=3, quorum=3)
    write_rubric(folder, "pair-of-two", kind="compare", panel_size=2, quorum=2)
    write_rubric(folder, "fallback", fallback="family")
    write_rubric(folder, "fallback-both", fallback="family", panel_size=2, quorum=2)
    write_rubric(folder, "fallback-two", criteria=TWO_CRITERIA, fallback="family")
    write_rubric(folder, "zero", on_unjudgeable="zero")
    write_rubric(folder, "zero-two", criteria=TWO_CRITERIA, on_unjudgeable="zero", ask="together")
    write_rubric(folder, "zero-panel", on_unjudgeable="zero", panel_size=2)
    judges = Judges(provider)
    for place, (judge, family) in enumerate(JUDGES.items()):
        purpose = "validate" if judge == "dora" else "train"
        judges.add(judge, family, purpose=purpose, weight=10.0 ** (40 - 8 * place))
    with judged_by(judges, folder, breaker=False) as service:
        yield service


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> None:
    """Honest judges, no requests yet."""
    provider.reset()
    provider.oracle({}, default=GOOD)


def behave(provider: FakeProvider, **scripts: Behaviour | Sequence[Behaviour]) -> None:
    """Let judges behave so."""
    for judge, script in scripts.items():
        provider.behave(judge, script)


def asked(provider: FakeProvider) -> list[str]:
    """Who was asked, once each."""
    return sorted({request.model for request in provider.requests})


def flags(answer: Any) -> dict[str, str]:
    """An answer's flags with their details."""
    return {flag["flag"]: flag["detail"] for flag in answer["flags"]}


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


# The try at another family.


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


# Candidates that no judge can judge.


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
