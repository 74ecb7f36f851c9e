"""What a trainer's address may say."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.harness import RunningService, new_prompt
from tests.keys.keyed import entry, keyed
from tests.provider import FakeProvider
from tests.trainers.support import DROP, openrlhf_url, queries, rollout

PATHS = {
    "openrlhf": ("/adapters/openrlhf/quality/get_reward", queries(["4 a"])),
    "slime": (
        "/adapters/slime/quality", {"prompt": new_prompt(), "response": "4 a", "label": None},
    ),
    "nemo-gym": ("/adapters/nemo-gym/quality/verify", rollout("4 a")),
}  # fmt: skip


def post(service: RunningService, trainer: str, query: str) -> httpx.Response:
    """The answer of a trainer's address with this query."""
    path, body = PATHS[trainer]
    return service.http.post(f"{path}?{query}", json=body)


@pytest.mark.parametrize("trainer", PATHS)
@pytest.mark.parametrize(
    "query",
    ["", "on_fail=error", DROP, "filtering=on", "budget_s=60", "budget_s=0.5&group=1",
     "family=qwen", "family=qwen,deepseek", "family=qwen+deepseek", "policy_model=qwen3-4b",
     "token=unused", "purpose=train"],
)  # fmt: skip
def test_what_may_be_said(service: RunningService, trainer: str, query: str) -> None:
    """Every trainer's address takes these."""
    assert post(service, trainer, query).status_code == 200


@pytest.mark.parametrize("trainer", PATHS)
@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("on_fail=drop", "filtering"), ("on_fail=drop&filtering=off", "filtering"),
        ("on_fail=zero", "on_fail"), ("on_fail=", "on_fail"), ("filtering=yes", "filtering"),
        ("budget_s=0", "budget_s"), ("budget_s=601", "budget_s"), ("budget_s=nan", "budget_s"),
        ("budget_s=1e2", "budget_s"), ("budget_s=-1", "budget_s"), ("group=0", "group"),
        ("group=65", "group"), ("group=8.0", "group"), ("family=", "family"),
        ("family=a,b,c,d,e,f,g,h,i", "family"), ("policy_model=", "policy_model"),
        ("purpose=training", "purpose"), ("purpose=", "purpose"),
        ("purpose=train&purpose=train", "purpose"), ("onfail=drop", "onfail"),
        ("rubric=x", "rubric"), ("group=2&group=3", "group"),
        ("token=a&token=b", "token"), ("%00=1", "x00"),
    ],
)  # fmt: skip
def test_what_may_not_be_said(
    service: RunningService, provider: FakeProvider, trainer: str, query: str, named: str
) -> None:
    """A mistake in the address is 422 and named, not guessed at."""
    refused = post(service, trainer, query)

    assert refused.status_code == 422
    assert named in refused.json()["error"]["message"]
    assert provider.requests == []


@pytest.mark.parametrize(
    ("trainer", "most"), [("openrlhf", 170), ("slime", 110), ("nemo-gym", 600)]
)
def test_budgets_end_before_the_client_does(
    service: RunningService, trainer: str, most: int
) -> None:
    """No longer than the trainer's own client waits."""
    assert post(service, trainer, f"budget_s={most}").status_code == 200
    assert post(service, trainer, f"budget_s={most + 1}").status_code == 422


@pytest.mark.parametrize("trainer", PATHS)
def test_rubrics(service: RunningService, trainer: str) -> None:
    """A rubric that is not there is 404; one that compares needs to know the group's size."""
    path, body = PATHS[trainer]
    unknown = service.http.post(path.replace("quality", "nothing"), json=body)
    alone = service.http.post(path.replace("quality", "pair"), json=body)

    assert unknown.status_code == 404
    assert unknown.json()["error"]["code"] == "unknown_rubric"
    assert alone.status_code == 422
    assert "group" in alone.json()["error"]["message"]


def test_answer_is_slimes(service: RunningService) -> None:
    """Only slime takes a bare number."""
    assert post(service, "slime", "answer=number").status_code == 200
    assert post(service, "openrlhf", "answer=number").status_code == 422


def test_keys_in_the_address(tmp_path: Path) -> None:
    """With a keys file the token in the query counts, and only a valid one."""
    with keyed(tmp_path, entry("trainer", "a-key")) as made:
        good = made.service.http.post(openrlhf_url(query="token=a-key"), json=queries(["4 a"]))
        header = made.post(openrlhf_url(), "a-key", queries(["4 a"]))
        for query in ("", "token=wrong", "token=", "token=a-key&token=a-key"):
            refused = made.service.http.post(openrlhf_url(query=query), json=queries(["4 a"]))
            assert refused.status_code == 401

    assert good.status_code == header.status_code == 200


def test_a_family_excludes_its_judges(service: RunningService, provider: FakeProvider) -> None:
    """The policy's family in the address keeps its kin from judging, and that is no number."""
    answer = post(service, "openrlhf", "family=alpha")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "no_eligible_judge"
    assert provider.requests == []


def test_quotas_are_waited_for(tmp_path: Path) -> None:
    """A key's quota that is full is told as 429 when it will not have room within the budget."""
    with keyed(tmp_path, entry("trainer", "a-key", rpm=2)) as made:
        url = openrlhf_url(query="token=a-key&budget_s=1")
        for _ in range(2):
            assert made.service.http.post(url, json=queries(["4 a"])).status_code == 200
        full = made.service.http.post(url, json=queries(["4 a"]))

    assert full.status_code == 429
    assert full.headers["Retry-After"]
