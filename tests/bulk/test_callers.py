"""Bulks and who sends them: keys, quotas, audits, and repeated sending."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from judge_service.api.auth import key_hash
from tests.bulk.support import assess, refused
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

SMALL, ADMIN = (secrets.token_urlsafe(32) for _ in range(2))
KEYS = f"""
[[keys]]
name = "small"
sha256 = "{key_hash(b"", SMALL)}"
rpm = 5

[[keys]]
name = "admin"
sha256 = "{key_hash(b"", ADMIN)}"
scopes = ["admin"]
"""


@pytest.fixture(scope="module")
def keyed(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningService, FakeProvider]]:
    """A service with two keys."""
    folder = tmp_path_factory.mktemp("keyed")
    write_rubric(folder)
    keys = folder / "keys.toml"
    keys.write_text(KEYS, encoding="utf-8")
    with FakeProvider() as provider:
        provider.oracle({}, default=4)
        judges = Judges(provider).add("ann", "alpha")
        with judged_by(judges, folder, api_keys_file=keys) as service:
            yield service, provider


def bearer(key: str, **more: str) -> dict[str, str]:
    """Headers that carry a key."""
    return {"authorization": f"Bearer {key}", **more}


def test_a_bulk_counts_as_its_items(keyed: tuple[RunningService, FakeProvider]) -> None:
    """Six items are more than five requests a minute; nobody is asked, and five are let in."""
    service, provider = keyed
    asked = len(provider.requests)

    too_many = service.http.post("/v1/bulk", json={"items": [assess()] * 6}, headers=bearer(SMALL))
    streamed = service.http.post("/v1/bulk", json={"items": [assess()] * 70}, headers=bearer(SMALL))
    asked_for_none = len(provider.requests) - asked
    enough = service.http.post("/v1/bulk", json={"items": [assess()] * 5}, headers=bearer(SMALL))

    assert (too_many.status_code, streamed.status_code, asked_for_none) == (429, 429, 0)
    assert int(too_many.headers["retry-after"]) > 0
    assert enough.status_code == 200


def test_without_a_key_nothing_is_read(keyed: tuple[RunningService, FakeProvider]) -> None:
    """401 before the body is looked at."""
    refused(keyed[0], "no list", 401)


def test_an_audit_needs_an_admin(keyed: tuple[RunningService, FakeProvider]) -> None:
    """In any item; the item is named."""
    service, _ = keyed
    body = {"items": [assess(), assess(audit=True)]}

    judge = service.http.post("/v1/bulk", json=body, headers=bearer(SMALL))
    admin = service.http.post("/v1/bulk", json=body, headers=bearer(ADMIN))

    assert (judge.status_code, judge.json()["error"]["field"]) == (403, "items[1].audit")
    assert admin.status_code == 200


def test_an_idempotency_key_belongs_to_one_bulk(
    keyed: tuple[RunningService, FakeProvider],
) -> None:
    """The same again is answered, another bulk under the key is a conflict."""
    service, _ = keyed
    headers = bearer(ADMIN, **{"idempotency-key": "step-7"})
    first, other = {"items": [assess()]}, {"items": [assess()]}

    statuses = [
        service.http.post("/v1/bulk", json=body, headers=headers).status_code
        for body in (first, first, other)
    ]

    assert statuses == [200, 200, 409]
