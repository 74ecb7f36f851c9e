"""References: present, empty, absent, required, forbidden."""

from __future__ import annotations

from typing import Any

import pytest

from tests.assess.support import (
    FOREIGN,
    assess,
    slots,
)
from tests.harness import RunningService
from tests.provider import FakeProvider


@pytest.mark.parametrize(
    ("more", "shown"), [({}, None), ({"reference": None}, None), ({"reference": ""}, "")]
)
def test_an_empty_reference_is_not_an_absent_one(
    more: dict[str, Any], shown: str | None, service: RunningService, provider: FakeProvider
) -> None:
    """They are different questions: an empty block, or none."""
    assess(service, **more)
    assert slots(provider).get("reference") == shown


@pytest.mark.parametrize(
    ("rubric", "more", "status"),
    [
        ("needs-reference", {}, 422),
        ("needs-reference", {"reference": "95"}, 200),
        ("no-reference", {"reference": "95"}, 422),
        ("no-reference", {"reference": ""}, 422),
        ("no-reference", {}, 200),
    ],
)
def test_a_rubric_says_whether_it_takes_a_reference(
    rubric: str, more: dict[str, Any], status: int, service: RunningService
) -> None:
    """The wrong one is the caller's mistake."""
    candidate = {"text": "An answer.", "family": FOREIGN}
    body = {"rubric": rubric, "prompt": "Why?", "candidate": candidate, **more}
    answer = service.http.post("/v1/assess", json=body)
    assert answer.status_code == status
    if status == 422:
        assert answer.json()["error"]["field"] == "reference"


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"rubric": "no-such"}, 404, "rubric"),
        ({"rubric": "pair"}, 422, "rubric"),
        ({"judges": ["nobody"]}, 422, "judges"),
        ({"rubric": "quorum", "panel_size": 1}, 422, "panel_size"),
        ({"rubric": "quorum", "panel_size": 1, "candidate": {"text": ""}}, 422, "panel_size"),
        ({"timeout_s": 601}, 422, "timeout_s"),
        ({"timeout_s": 0}, 422, "timeout_s"),
        ({"candidate": {"text": "x", "messages": []}}, 422, "candidate"),
        ({"candidate": {}}, 422, "candidate"),
        ({"temperature": 1}, 422, "temperature"),
    ],
)
def test_a_callers_mistake_is_no_outcome(
    change: dict[str, Any],
    status: int,
    field: str,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """An HTTP error that names the field, without a status and without asking anybody."""
    body = {"rubric": "quality", "prompt": "Why?", "candidate": {"text": "x"}, **change}
    answer = service.http.post("/v1/assess", json=body)
    assert answer.status_code == status
    assert answer.json()["error"]["field"] == field
    assert "status" not in answer.json()
    assert provider.requests == []
