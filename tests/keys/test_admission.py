"""In whose name a request is judged, and what is turned away before a judge is asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from judge_service.api.answers import ProblemAnswer
from judge_service.case import Case
from judge_service.engine import Engine
from judge_service.errors import Overloaded
from judge_service.outcome import AssessFailed, AssessOutcome
from judge_service.request import AssessRequest, CompareRequest
from judge_service.usage import Usage
from tests.harness import new_prompt
from tests.keys.keyed import Keyed, entry, keyed

ANN, BEN = "key-of-ann", "key-of-ben"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """A service with two clients, each a tenant of its own."""
    entries = [entry("ann", ANN, tenant="red"), entry("ben", BEN, tenant="blue")]
    with keyed(tmp_path_factory.mktemp("admission"), *entries) as running:
        yield running


def test_a_request_is_judged_in_the_tenant_of_its_key(
    service: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No caller names a tenant; the key does."""
    seen: list[str] = []
    assess, compare = Engine.assess, Engine.compare

    async def assess_seen(self: Engine, request: AssessRequest, *case: Case) -> AssessOutcome:
        seen.append(request.tenant)
        return await assess(self, request, *case)

    async def compare_seen(self: Engine, request: CompareRequest) -> object:
        seen.append(request.tenant)
        return await compare(self, request)

    monkeypatch.setattr(Engine, "assess", assess_seen)
    monkeypatch.setattr(Engine, "compare", compare_seen)
    pair = [{"text": "One.", "family": "own"}, {"text": "Two.", "family": "own"}]
    body = {"rubric": "pair", "prompt": "A question?", "candidates": pair}

    assert service.assess(ANN).status_code == 200
    assert service.assess(BEN).status_code == 200
    assert service.post("/v1/compare", BEN, body).status_code == 200
    assert service.assess(ANN, tenant="blue").status_code == 422
    assert seen == ["red", "blue", "blue"]


@pytest.mark.parametrize(("wait", "told"), [(None, "1"), (0.2, "1"), (2.4, "3")])
def test_a_request_that_is_shed_is_503(
    service: Keyed, monkeypatch: pytest.MonkeyPatch, wait: float | None, told: str
) -> None:
    """Turned away before any judge was asked: the caller may simply ask again later."""
    _end_in(monkeypatch, Overloaded("the queue is full", retry_after_s=wait), Usage())

    answer = service.assess(ANN, prompt=new_prompt())

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == told
    problem = ProblemAnswer.model_validate(answer.json()).error
    assert problem.code == "overloaded"
    assert "the queue is full" in problem.message


def test_what_was_paid_for_is_an_outcome(service: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a judge was asked, the answer is HTTP 200 with what it cost."""
    _end_in(monkeypatch, Overloaded("the queue is full"), Usage(upstream_requests=1))

    answer = service.assess(ANN, prompt=new_prompt())

    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["reward"]) == ("failed", None)
    assert answer.json()["error"]["code"] == "overloaded"


def _end_in(monkeypatch: pytest.MonkeyPatch, error: Overloaded, usage: Usage) -> None:
    """Let assessments end in an error, whatever the judge says."""
    assess = Engine.assess

    async def ended(self: Engine, request: AssessRequest, *case: Case) -> AssessOutcome:
        outcome = await assess(self, request, *case)
        return AssessFailed(
            error=error, usage=usage, rules=outcome.rules, criteria={}, metrics=outcome.metrics,
            rubric_hash=outcome.rubric_hash, fingerprint=outcome.fingerprint,
        )  # fmt: skip

    monkeypatch.setattr(Engine, "assess", ended)
