"""Bulks with a mistake in them: refused whole, with the place of every fault, and nobody asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge_service.api.body import decode_json
from judge_service.api.problems import Problem
from tests.bulk.support import assess, compare, posted, rank, refused
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

GOOD = assess("4 points")
MISTAKES: dict[str, tuple[Any, int, str]] = {
    "not an object": ("x", 422, "items[1]"),
    "null": (None, 422, "items[1]"),
    "no kind": ({**GOOD, "kind": None}, 422, "items[1].kind"),
    "unknown kind": ({**GOOD, "kind": "judge"}, 422, "items[1].kind"),
    "kind no word": ({**GOOD, "kind": ["assess"]}, 422, "items[1].kind"),
    "group of one": (rank("4 points"), 422, "items[1].candidates"),
    "no rubric": ({k: v for k, v in GOOD.items() if k != "rubric"}, 422, "items[1].rubric"),
    "unknown rubric": (assess(rubric="nothing"), 404, "items[1].rubric"),
    "two candidates": ({**compare("a", "b"), "kind": "assess"}, 422, "items[1].candidate"),
    "unknown field": (assess(api_base="http://127.0.0.1"), 422, "items[1].api_base"),
    "deep inside": (
        {**GOOD, "candidate": {"messages": [{"role": "user", "content": 5}]}},
        422,
        "items[1].candidate.messages[0].content",
    ),
    "both forms": ({**GOOD, "candidate": {"text": "a", "messages": []}}, 422, "items[1].candidate"),
    "time": (assess(timeout_s=601), 422, "items[1].timeout_s"),
    "unknown judge": (assess(judges=["nobody"]), 422, "items[1].judges"),
    "rubric of the other kind": (assess(rubric="pair"), 422, "items[1].rubric"),
    "reference missing": (assess(rubric="needs"), 422, "items[1].reference"),
    "reference missing for a rule": (assess(rubric="letters"), 422, "items[1].reference"),
    "reference no letter": (
        assess(rubric="letters", reference="42"), 422, "items[1].reference",
    ),
    "panel below quorum": (assess(panel_size=0), 422, "items[1].panel_size"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISTAKES)
def test_one_mistake_refuses_the_whole(
    kind: str, service: RunningService, provider: FakeProvider
) -> None:
    """The item and the field are named, nothing is judged."""
    item, status, field = MISTAKES[kind]

    error, fields = refused(service, [assess("4 points"), item, assess("3 points")], status)

    assert field in fields
    assert error["message"].startswith("items[1]")
    assert provider.requests == []


def test_every_faulty_item_is_named(service: RunningService, provider: FakeProvider) -> None:
    """Mistakes of all kinds at once; different answers make it a 422."""
    items = [assess(), assess(rubric="nothing"), assess(zork=1), assess(), assess(judges=["x"])]

    error, fields = refused(service, items)

    assert fields == ["items[1].rubric", "items[2].zork", "items[4].judges"]
    assert error["code"] == "invalid_request"
    assert "3 of 5" in error["message"]
    assert provider.requests == []


def test_the_list_of_faults_is_bounded(service: RunningService) -> None:
    """A thousand wrong items are counted, and little of them is repeated."""
    items = [assess(rubric=f"wrong-{n}-{'x' * 40}") for n in range(1000)]

    answer = service.http.post("/v1/bulk", json={"items": items})

    error = answer.json()["error"]
    assert answer.status_code == 404
    assert "1,000 of 1,000" in error["message"]
    assert 20 <= len(error["faults"]) <= 100
    assert answer.text.count("x" * 40) <= 4


@pytest.mark.parametrize(
    "body",
    [
        {"items": []},
        {"items": [GOOD] * 1025},
        {"items": GOOD},
        {"items": [GOOD], "rubric": "quality"},
        {"items": [GOOD], "timeout_s": 0},
        {"items": [GOOD], "timeout_s": 601},
        {"items": [GOOD], "metadata": []},
        {},
        [],
        [GOOD],
    ],
    ids=["none", "1025", "no list", "more", "no time", "too long", "metadata", "{}", "[]", "list"],
)
def test_the_frame_is_checked(body: Any, service: RunningService) -> None:
    """From 1 to 1,024 items, a time, metadata, and nothing else."""
    answer = service.http.post("/v1/bulk", json=body)

    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "invalid_request"


def test_a_body_may_have_64_mib(service: RunningService) -> None:
    """More than one item alone may have, and no more than that."""
    text = "4" + "x" * 1_000_000
    results = posted(service, [assess(text)] * 6, timeout_s=60)
    too_large = service.http.post(
        "/v1/bulk",
        content=b" " * (64 * 1024 * 1024 + 1),
        headers={"content-type": "application/json"},
    )

    assert {r["status"] for r in results} <= {"success", "failed"}
    assert too_large.status_code == 413


def test_a_body_of_many_small_values_is_refused_early(service: RunningService) -> None:
    """A million values are the most."""
    body = '{"items": [' + ",".join(["{}"] * 1_000_000) + "]}"

    answer = service.http.post(
        "/v1/bulk", content=body, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 422
    assert "1,000,000" in answer.json()["error"]["message"]


@pytest.mark.parametrize("value", ["[]", "{}", "null", '""', "1"])
def test_values_of_every_kind_are_counted(value: str) -> None:
    """However small, and the list they stand in with them; up to the bound they are read."""

    def decoded(items: int) -> Any:
        body = '{"items": [' + ",".join([value] * items) + "]}"
        return decode_json(body.encode(), values=1_000)

    assert len(decoded(998)["items"]) == 998
    with pytest.raises(Problem, match="more than 1,000 values"):
        decoded(1_001)


def test_json_is_as_strict_as_elsewhere(service: RunningService) -> None:
    """No NaN, no key twice, no half of a surrogate pair, in a long body either."""
    filler = "x" * 100_000
    for wrong in ("NaN", '{"a": 1, "a": 2}', '"\\ud800"', "1e999"):
        body = '{"items": [%s], "metadata": {"a": %s, "b": "%s"}}'
        answer = service.http.post(
            "/v1/bulk",
            content=body % (json.dumps(GOOD), wrong, filler),
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 422, wrong


def test_a_required_family_is_required_of_every_item(tmp_path: Path) -> None:
    """Where the operator wants families, an item without one refuses the whole."""
    write_rubric(tmp_path)
    with FakeProvider() as provider:
        provider.oracle({}, default=4)
        judges = Judges(provider).add("ann", "alpha")
        with judged_by(judges, tmp_path, require_family=True) as service:
            _, fields = refused(service, [assess(), {**assess(), "candidate": {"text": "x"}}])
            assert provider.requests == []

    assert fields == ["items[1].candidate.family"]
