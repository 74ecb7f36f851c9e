"""What can be looked at: health, rubrics, judges."""

from __future__ import annotations

import pytest

from judge_service import __version__
from judge_service.api.answers import ProblemAnswer
from judge_service.rubric.library import load_library
from tests.harness import RunningService
from tests.http_api import KEY, PAIR, strict_json
from tests.provider import FakeProvider, behaviours


def test_health(service: RunningService) -> None:
    """The service says that it lives, which version it is, and that nothing is degraded."""
    assert service.http.get("/healthz").json() == {"status": "ok", "version": __version__}
    ready = service.http.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "degraded": []})


def test_the_list_of_rubrics(service: RunningService) -> None:
    """Every rubric is listed with what a caller needs to choose it."""
    listed = {r["id"]: r for r in service.http.get("/v1/rubrics").json()["rubrics"]}
    library = load_library()

    assert list(listed) == list(library)
    helpfulness = listed["helpfulness"]
    assert helpfulness["kind"] == "assess"
    assert helpfulness["rubric_hash"] == library["helpfulness"].rubric_hash
    assert helpfulness["anchors"] == len(library["helpfulness"].anchors)
    assert helpfulness["criteria"][0]["points"] == [1, 2, 3, 4, 5]
    assert listed["pairwise-helpfulness"]["criteria"][0]["points"] == []


def test_one_rubric(service: RunningService) -> None:
    """One rubric is shown whole, with its anchors, its rules and its hash."""
    answer = strict_json(service.http.get("/v1/rubrics/helpfulness"))
    rubric = load_library()["helpfulness"]

    assert answer["rubric_hash"] == rubric.rubric_hash
    assert len(answer["anchors"]) == len(rubric.anchors)
    assert {"rule": "non_empty", "hard": True, "weight": 0.0} in answer["rules"]
    assert answer["criteria"][0]["scale"][0]["means"]


@pytest.mark.parametrize(
    "rubric",
    ["nothing", "..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "%ff%fe", "a" * 5_000,
     "Helpfulness", "helpfulness.toml", "%0d%0aX-Injected:%201", "{rubric_id}"],
)  # fmt: skip
def test_an_unknown_rubric(service: RunningService, rubric: str) -> None:
    """An unknown rubric is 404, whatever its name is, and the name is not repeated whole."""
    answer = service.http.get(f"/v1/rubrics/{rubric}")

    assert answer.status_code == 404
    ProblemAnswer.model_validate(answer.json())
    assert "x-injected" not in answer.headers
    assert "a" * 201 not in answer.text


def test_the_judges(service: RunningService, provider: FakeProvider) -> None:
    """Judges are shown with family and limits; addresses and keys stay inside."""
    answer = service.http.get("/v1/judges")

    alpha, beta = answer.json()["judges"]
    assert (alpha["id"], alpha["family"], alpha["purpose"]) == ("alpha", "alpha", "train")
    assert (beta["limits"]["rpm"], beta["trial"]) == (600, False)
    for secret in (KEY, "ALPHA_KEY", provider.base_url, "api_base", "127.0.0.1"):
        assert secret not in answer.text


def test_live_bias_figures(service: RunningService, provider: FakeProvider) -> None:
    """What pairs show of a judge's position bias can be read at once."""
    provider.behave("beta", behaviours.first_position())
    before = service.http.get("/v1/judges").json()["judges"][1]["bias"]
    for number in range(4):
        outcome = service.post(
            "/v1/compare", {**PAIR, "prompt": f"Question {number}?", "judges": ["beta"]}
        )
        assert outcome["outcome"] == "inconsistent"

    bias = service.http.get("/v1/judges").json()["judges"][1]["bias"]

    assert bias["pairs"] - before["pairs"] == 4
    assert bias["primacy"] - before["primacy"] == 4
    assert bias["recency"] == before["recency"]
    assert bias["first_position_share"] > 0.5
