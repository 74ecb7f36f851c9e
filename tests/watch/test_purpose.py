"""Judges for training and judges for validation are kept apart."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.provider import FakeProvider, behaviours, faults
from tests.trainers.support import queries, rollout

CANDIDATE = {"text": "An answer.", "family": "own"}
PAIR = [CANDIDATE, {"text": "Another answer.", "family": "own"}]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/assess": {"rubric": "quality", "candidate": CANDIDATE},
    "/v1/compare": {"rubric": "pair", "candidates": PAIR},
    "/v1/rank": {"rubric": "pair", "candidates": PAIR},
    "/v1/groups/join": {
        "rubric": "quality", "candidate": CANDIDATE, "group": "g", "size": 1, "member": "0",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Two judges for training, two for validation, and rubrics that ask a second family."""
    folder = tmp_path_factory.mktemp("purpose")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "fallback", fallback="family")
    write_rubric(folder, "escalate", kind="compare", on_inconsistent="escalate")
    write_rubric(folder, "three", panel_size=9)
    judges = Judges(provider)
    for judge in ("tara", "theo"):
        judges.add(judge)
    for judge in ("vera", "vito"):
        judges.add(judge, purpose="validate")
    with judged_by(judges, folder, breaker=False) as running:
        yield running


def asked(provider: FakeProvider) -> set[str]:
    """The first letters of those who were asked: t and v."""
    return {request.model[0] for request in provider.requests}


def post(service: RunningService, path: str, **more: object) -> dict[str, Any]:
    """A request of its own."""
    return service.post(path, {**BODIES[path], "prompt": f"{path} {sorted(more.items())}", **more})


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    ("purpose", "who"), [({}, "t"), ({"purpose": "train"}, "t"), ({"purpose": "validate"}, "v")],
    ids=["unsaid", "train", "validate"],
)  # fmt: skip
def test_only_judges_for_the_purpose(
    service: RunningService,
    provider: FakeProvider,
    path: str,
    purpose: dict[str, str],
    who: str,
) -> None:
    """Whatever is asked; training is meant where nothing is said."""
    assert post(service, path, **purpose)["status"] == "success"
    assert asked(provider) == {who}


@pytest.mark.parametrize(("purpose", "who"), [("train", "t"), ("validate", "v")])
def test_bulk_items_have_purposes_of_their_own(
    service: RunningService, provider: FakeProvider, purpose: str, who: str
) -> None:
    """As any request."""
    item = {**BODIES["/v1/assess"], "kind": "assess", "prompt": f"bulk {purpose}"}
    service.post("/v1/bulk", {"items": [{**item, "purpose": purpose}]})

    assert asked(provider) == {who}


@pytest.mark.parametrize(("purpose", "who"), [("train", "t"), ("validate", "v")])
def test_a_panel_stays_within_its_purpose(
    service: RunningService, provider: FakeProvider, purpose: str, who: str
) -> None:
    """It is smaller rather than mixed."""
    outcome = post(service, "/v1/assess", rubric="three", purpose=purpose)

    assert len(outcome["verdicts"]) == 2
    assert asked(provider) == {who}


@pytest.mark.parametrize(("purpose", "who"), [("train", "t"), ("validate", "v")])
def test_nobody_stands_in_from_the_other_side(
    service: RunningService, provider: FakeProvider, purpose: str, who: str
) -> None:
    """Neither as a fallback nor to settle an inconsistent pair: it fails instead."""
    provider.behave_by_default(faults.status_error(401))
    failed = post(service, "/v1/assess", rubric="fallback", purpose=purpose)
    assert failed["error"]["code"] == "upstream_auth"
    provider.behave_by_default(behaviours.first_position())
    pair = post(service, "/v1/compare", rubric="escalate", purpose=purpose)

    assert pair["outcome"] == "inconsistent"
    assert asked(provider) == {who}


def trainer_body(trainer: str) -> dict[str, Any]:
    """One response to a prompt of its own, as the trainer sends it."""
    if trainer == "openrlhf":
        return queries(["An answer."])
    if trainer == "slime":
        return {"prompt": new_prompt(), "response": "An answer.", "label": None}
    return rollout("An answer.")


ADDRESSES = {
    "openrlhf": "/adapters/openrlhf/{}/get_reward", "slime": "/adapters/slime/{}",
    "nemo-gym": "/adapters/nemo-gym/{}/verify",
}  # fmt: skip


@pytest.mark.parametrize("trainer", ADDRESSES)
@pytest.mark.parametrize(
    ("query", "who"), [("", "t"), ("purpose=train", "t"), ("purpose=validate", "v")],
    ids=["unsaid", "train", "validate"],
)  # fmt: skip
def test_a_trainers_address_says_the_purpose(
    service: RunningService, provider: FakeProvider, trainer: str, query: str, who: str
) -> None:
    """Where nothing but an address can be told."""
    url = f"{ADDRESSES[trainer].format('quality')}?{query}"

    assert service.http.post(url, json=trainer_body(trainer)).status_code == 200
    assert asked(provider) == {who}


@pytest.mark.parametrize(("query", "who"), [("purpose=train", "t"), ("purpose=validate", "v")])
@pytest.mark.parametrize("rubric", ["quality", "pair"])
def test_groups_of_a_trainer_are_of_one_purpose(
    service: RunningService, provider: FakeProvider, rubric: str, query: str, who: str
) -> None:
    """Assessed or compared."""
    url = f"{ADDRESSES['openrlhf'].format(rubric)}?group=2&{query}"
    answer = service.http.post(url, json=queries(["An answer.", "Another answer."]))

    assert answer.status_code == 200
    assert asked(provider) == {who}


def test_validation_does_not_join_a_group_of_training(
    service: RunningService, provider: FakeProvider
) -> None:
    """The same prompt and reference at the same time: two groups, and neither is complete."""
    url = ADDRESSES["openrlhf"].format("quality") + "?group=2&budget_s=0.3&purpose="
    body = queries(["An answer."], prompt=new_prompt())
    with ThreadPoolExecutor(2) as pool:
        answers = list(
            pool.map(lambda one: service.http.post(url + one, json=body), ["train", "validate"])
        )

    assert {answer.status_code for answer in answers} == {503}
    assert {answer.json()["error"]["code"] for answer in answers} == {"cohort_incomplete"}
    assert provider.requests == []


@pytest.mark.parametrize("path", BODIES)
def test_a_judge_of_the_other_purpose_cannot_be_named(service: RunningService, path: str) -> None:
    """The request contradicts itself."""
    body = {**BODIES[path], "prompt": "x", "purpose": "train", "judges": ["tara", "vera"]}
    answer = service.http.post(path, json=body)

    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["field"] == "judges"
    assert "'vera' is for 'validate', the request for 'train'" in error["message"]


def test_named_without_a_purpose_they_are_asked(
    service: RunningService, provider: FakeProvider
) -> None:
    """Whoever names a judge means it."""
    post(service, "/v1/assess", judges=["vera"])

    assert asked(provider) == {"v"}


def test_another_word_is_refused(service: RunningService) -> None:
    """There are two purposes."""
    answer = service.http.post(
        "/v1/assess", json={**BODIES["/v1/assess"], "prompt": "x", "purpose": "test"}
    )

    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "purpose"


@pytest.mark.parametrize(("configured", "wanted"), [("train", "validate"), ("validate", "train")])
def test_without_a_judge_for_it_there_is_no_verdict(
    provider: FakeProvider, tmp_path: Path, configured: str, wanted: str
) -> None:
    """Nobody for the other purpose is asked instead, also where nobody else is there."""
    write_rubric(tmp_path)
    with judged_by(Judges(provider).add("only", purpose=configured), tmp_path) as service:
        failed = service.assess(purpose=wanted)
        assert service.assess()["status"] == "success"

    assert failed["status"] == "failed"
    assert failed["reward"] is None
    assert failed["error"]["code"] == "no_eligible_judge"
    assert failed["error"]["retryable"] is False
    assert f'purpose = "{wanted}"' in failed["error"]["message"]
    assert len(provider.requests) == 1


def test_members_of_one_group_have_one_purpose(
    service: RunningService, provider: FakeProvider
) -> None:
    """A group id with another purpose is another group."""
    one = {**BODIES["/v1/groups/join"], "prompt": "p", "size": 2, "deadline_s": 0.2}
    answers = [
        service.post("/v1/groups/join", {**one, "member": member, "purpose": purpose})
        for member, purpose in (("0", "train"), ("1", "validate"))
    ]

    assert {answer["error"]["code"] for answer in answers} == {"cohort_incomplete"}
    assert provider.requests == []
