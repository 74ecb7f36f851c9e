"""``Idempotency-Key``: a retry is the same request, or it is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request

from judge_service.access.key_ring import OPERATOR
from judge_service.api.answers import ProblemAnswer
from judge_service.api.idempotency import check_idempotency
from judge_service.api.problems import Problem
from judge_service.service import Service
from judge_service.storage.secret import ServiceSecret
from tests.keys.keyed import Keyed, entry, keyed
from tests.keys.stores import SharedStore
from tests.provider import faults

ANN, ANN_NEXT, BEN = "key-of-ann", "next-key-of-ann", "key-of-ben"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """A service with two tenants."""
    entries = [entry("ann", ANN), entry("ann", ANN_NEXT), entry("ben", BEN)]
    with keyed(tmp_path_factory.mktemp("idempotency"), *entries) as running:
        yield running


def once(key: str) -> dict[str, str]:
    """The header."""
    return {"idempotency-key": key}


def test_a_repeated_request_is_answered_again(service: Keyed) -> None:
    """With the same verdict, also under the client's other key and in another order of fields."""
    first = service.assess(ANN, "Once.", once("repeat"), timeout_s=20, reference="r")
    again = service.assess(ANN_NEXT, "Once.", once("repeat"), reference="r", timeout_s=20)

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["reward"] == again.json()["reward"] == 0.75


def test_another_body_is_refused(service: Keyed) -> None:
    """The key belongs to what it was sent with first."""
    assert service.assess(ANN, "One.", once("mine")).status_code == 200

    answer = service.assess(ANN, "Two.", once("mine"))

    assert answer.status_code == 409
    problem = ProblemAnswer.model_validate(answer.json()).error
    assert (problem.code, problem.field) == ("idempotency_mismatch", "Idempotency-Key")
    assert service.assess(ANN, "One.", once("mine")).status_code == 200
    assert service.assess(ANN, "Two.", once("another")).status_code == 200
    assert service.assess(ANN, "Two.").status_code == 200


def test_another_path_is_refused(service: Keyed) -> None:
    """A pair is not an assessment."""
    pair = [{"text": "One.", "family": "own"}, {"text": "Two.", "family": "own"}]
    body = {"rubric": "pair", "prompt": "A question?", "candidates": pair}
    assert service.assess(ANN, headers=once("path")).status_code == 200

    assert service.post("/v1/compare", ANN, body, once("path")).status_code == 409


def test_tenants_have_keys_of_their_own(service: Keyed) -> None:
    """Nobody can take another tenant's key away, or learn that it is in use."""
    assert service.assess(ANN, "One.", once("ours")).status_code == 200
    assert service.assess(BEN, "Two.", once("ours")).status_code == 200


def test_a_failed_request_is_tried_anew(service: Keyed) -> None:
    """A failure is not kept: the retry has the verdict."""
    service.provider.behave("alpha", faults.refuses_to_judge())
    try:
        failed = service.assess(ANN, "Tried twice.", once("anew"))
    finally:
        service.provider.reset()
    again = service.assess(ANN, "Tried twice.", once("anew"))

    assert failed.json()["status"] == "failed"
    assert again.json()["reward"] == 0.75


def test_a_refused_body_does_not_take_the_key(service: Keyed) -> None:
    """A caller may put a mistake right under the same key."""
    assert service.assess(ANN, headers=once("fix"), nonsense=1).status_code == 422
    assert service.assess(ANN, headers=once("fix")).status_code == 200


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("/v1/assess", {"rubric": "qualty"}),
        ("/v1/assess", {"judges": ["nobody"]}),
        ("/v1/compare", {"rubric": "qualty"}),
        ("/v1/rank", {"rubric": "qualty"}),
        ("/v1/groups/join", {"rubric": "qualty"}),
        ("/v1/groups/join", {"rubric": "qualty", "size": 2}),
        ("/v1/bulk", {"rubric": "qualty"}),
    ],
)
def test_a_request_that_is_refused_for_what_it_names_does_not_take_the_key(
    service: Keyed, path: str, wrong: dict[str, Any]
) -> None:
    """An unknown rubric or judge is found out before the key is anybody's."""
    text = {"text": "x", "family": "own"}
    own: dict[str, dict[str, Any]] = {
        "/v1/compare": {"candidates": [text, text]},
        "/v1/rank": {"candidates": [text, text]},
        "/v1/groups/join": {"candidate": text, "group": "g", "size": 1, "member": "m"},
    }
    body = {"rubric": "quality", "prompt": "?", **own.get(path, {"candidate": text})}
    key = once(f"fix {path} {wrong}".replace(" ", "-"))

    def sent(one: dict[str, Any]) -> int:
        whole = {"items": [{"kind": "assess", **one}]} if path == "/v1/bulk" else one
        return service.post(path, ANN, whole, key).status_code

    assert sent({**body, **wrong}) in {404, 422}
    assert sent(body) == 200
    assert sent({**body, "prompt": "Another?"}) == 409


@pytest.mark.parametrize("around", [" {}", "{} ", "\t{}\t"])
def test_white_space_around_a_header_is_not_part_of_it(service: Keyed, around: str) -> None:
    """As in HTTP; the key is the same one."""
    address = service.service.http.base_url
    headers = {
        "authorization": f"Bearer {ANN}",
        "content-type": "application/json",
        "idempotency-key": around.format("padded"),
        "x-request-timeout-ms": around.format("20000"),
    }

    def sent(prompt: str) -> int:
        candidate = {"text": "x", "family": "own"}
        body = {"rubric": "quality", "prompt": prompt, "candidate": candidate}
        with closing(HTTPConnection(address.host, address.port, timeout=30)) as connection:
            connection.request("POST", "/v1/assess", json.dumps(body), headers)
            return connection.getresponse().status

    assert sent("?") == 200
    assert sent("!") == 409


@pytest.mark.parametrize("key", ["", "two words", "k" * 256, "tab\tkey", b"caf\xc3\xa9"])
def test_a_key_is_one_visible_word(service: Keyed, key: str | bytes) -> None:
    """1 to 255 visible ASCII characters; anything else is a mistake."""
    raw = key if isinstance(key, bytes) else key.encode()
    sent = [(b"authorization", f"Bearer {ANN}".encode()), (b"idempotency-key", raw)]
    body = {"rubric": "quality", "prompt": "?", "candidate": {"text": "x", "family": "own"}}

    answer = service.service.http.post("/v1/assess", json=body, headers=sent)

    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "Idempotency-Key"


def check(store: SharedStore, body: Any, keys: tuple[str, ...] = ("word",)) -> None:
    """What a request with these keys meets. Raises Problem."""
    headers = [(b"idempotency-key", key.encode()) for key in keys]
    request = Request({"type": "http", "path": "/v1/assess", "headers": headers})
    service = SimpleNamespace(store=store, secret=ServiceSecret(current=b"s" * 32))
    asyncio.run(check_idempotency(request, cast(Service, service), OPERATOR, body))


def test_without_the_store_everybody_passes() -> None:
    """A store that cannot say is no reason to refuse."""
    store = SharedStore()
    check(store, {"a": 1})
    with pytest.raises(Problem, match="another request"):
        check(store, {"a": 2})

    store.gone = True
    check(store, {"a": 2})


def test_what_somebody_else_wrote_into_the_store_counts_for_nothing() -> None:
    """A value of another form is not a request's."""
    store = SharedStore()
    check(store, {"a": 1})
    (name,) = store._values
    asyncio.run(store.put(name, b"garbage", 60))

    check(store, {"a": 2})


def test_two_keys_are_a_mistake() -> None:
    """One request has one key."""
    with pytest.raises(Problem, match="1 to 255"):
        check(SharedStore(), {}, ("one", "two"))


def test_the_store_learns_nothing_of_the_request() -> None:
    """Neither the key nor the body, nor a plain hash of them."""
    store = SharedStore()
    check(store, {"text": "private words"}, ("private-key",))

    kept = repr(store._values)
    assert "private" not in kept
