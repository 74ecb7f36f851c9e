"""API keys: who may call, with what, and how keys come and go without a restart."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from judge_service.access.key_ring import KeyRing
from judge_service.access.keys_file import key_hash, pepper_of
from judge_service.api.answers import ProblemAnswer
from judge_service.api.auth import authenticate
from judge_service.api.problems import Problem
from judge_service.settings import Settings
from tests.harness import Judges, RunningService, serve, write_rubric
from tests.provider import FakeProvider

BODY: dict[str, Any] = {
    "rubric": "quality",
    "prompt": "A question?",
    "candidate": {"text": "An answer.", "family": "own"},
}
ALICE, ALICE_NEXT, ADMIN, CLERK = (f"{name}-{secrets.token_urlsafe(32)}" for name in "abcd")


def entry(name: str, key: str, scopes: str = '["judge"]', pepper: bytes = b"") -> str:
    """A ``[[keys]]`` table."""
    return (
        f'[[keys]]\nname = "{name}"\nsha256 = "{key_hash(pepper, key)}"\n'
        f'tenant = "{name}"\nscopes = {scopes}\n'
    )


KEYS = entry("alice", ALICE) + entry("root", ADMIN, '["admin"]') + entry("clerk", CLERK, "[]")


def rewrite(file: Path, text: str) -> None:
    """Replace a file as editors and configuration tools do."""
    new = file.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a judge, a rubric and a keys file."""
    made = tmp_path_factory.mktemp("auth")
    write_rubric(made)
    (made / "anchors").mkdir()
    with FakeProvider() as provider:
        provider.oracle(lambda _: 4)
        Judges(provider).add("alpha").write(made)
        yield made


@contextmanager
def running(folder: Path, **settings: Any) -> Iterator[RunningService]:
    """A service over the folder."""
    made = Settings(
        judges=folder / "judges.toml",
        rubrics_dir=folder / "rubrics",
        anchors_dir=folder / "anchors",
        **settings,
    )
    with serve(made) as service:
        yield service


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[tuple[RunningService, Path]]:
    """A service with a keys file, and the file."""
    keys = folder / "keys.toml"
    rewrite(keys, KEYS)
    with running(folder, api_keys_file=keys) as service:
        yield service, keys


@pytest.fixture
def service(guarded: tuple[RunningService, Path]) -> RunningService:
    """The service, with the keys it started with."""
    if guarded[1].read_text(encoding="utf-8") != KEYS:
        rewrite(guarded[1], KEYS)
    return guarded[0]


@pytest.fixture
def keys(guarded: tuple[RunningService, Path]) -> Path:
    """The keys file."""
    return guarded[1]


def bearer(key: str) -> dict[str, str]:
    """The header that carries a key."""
    return {"authorization": f"Bearer {key}"}


def asked(
    service: RunningService,
    headers: Mapping[str, str] | list[tuple[bytes, bytes]] | None = None,
    **fields: object,
) -> httpx.Response:
    """The answer to an assessment."""
    return service.http.post("/v1/assess", json={**BODY, **fields}, headers=headers)


def test_without_keys_the_service_is_open_to_its_machine(folder: Path) -> None:
    """On loopback and without a keys file nobody is asked for one, and audits are allowed."""
    with running(folder) as service:
        assert asked(service).status_code == 200
        assert asked(service, bearer("anything")).status_code == 200
        assert asked(service, audit=True).status_code == 200


def test_a_key_opens(service: RunningService) -> None:
    """A key of the file is accepted, the scheme in any case."""
    assert asked(service, bearer(ALICE)).status_code == 200
    assert asked(service, {"authorization": f"bearer  {ALICE}"}).status_code == 200


UNAUTHENTICATED: dict[str, list[tuple[bytes, bytes]]] = {
    "nothing": [],
    "empty": [(b"authorization", b"")],
    "scheme only": [(b"authorization", b"Bearer")],
    "key only": [(b"authorization", ALICE.encode())],
    "wrong key": [(b"authorization", b"Bearer wrong")],
    "key and more": [(b"authorization", f"Bearer {ALICE}x".encode())],
    "part of a key": [(b"authorization", f"Bearer {ALICE[:-1]}".encode())],
    "key in other case": [(b"authorization", f"Bearer {ALICE.swapcase()}".encode())],
    "two keys in one": [(b"authorization", f"Bearer {ALICE} {ALICE}".encode())],
    "hash of a key": [(b"authorization", f"Bearer {key_hash(b'', ALICE)}".encode())],
    "basic": [(b"authorization", f"Basic {ALICE}".encode())],
    "other header": [(b"x-api-key", ALICE.encode())],
    "two headers": [(b"authorization", f"Bearer {ALICE}".encode())] * 2,
    "two headers, one wrong": [
        (b"authorization", f"Bearer {ALICE}".encode()),
        (b"authorization", b"Bearer wrong"),
    ],
    "latin-1": [(b"authorization", b"Bearer \xe4\xf6\xfc")],
    "UTF-8": [(b"authorization", "Bearer ключ".encode())],
    "no text": [(b"authorization", b"Bearer \xff\xfe\xed\xa0\x80")],
    "eight kilobytes": [(b"authorization", b"Bearer " + b"k" * 8_000)],
}


@pytest.mark.parametrize("headers", UNAUTHENTICATED.values(), ids=UNAUTHENTICATED)
def test_anything_else_is_401(service: RunningService, headers: list[tuple[bytes, bytes]]) -> None:
    """Without exactly one right key the answer is 401, at once, and repeats nothing."""
    started = time.monotonic()

    answer = asked(service, headers)

    assert time.monotonic() - started < 5.0
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["x-request-id"]
    assert ProblemAnswer.model_validate(answer.json()).error.code == "unauthenticated"
    assert ALICE[:20] not in answer.text
    assert "kkkk" not in answer.text


def test_a_key_of_a_megabyte_opens_nothing(service: RunningService) -> None:
    """It is refused at once: as no key, or before that as too large for a header."""
    answer = asked(service, [(b"authorization", b"Bearer " + b"k" * 1_000_000)])

    assert answer.status_code in (401, 431)
    assert "kkkk" not in answer.text


def test_a_key_in_the_query_is_none(service: RunningService) -> None:
    """A key is a header, so that it does not end up in logs of proxies."""
    assert service.http.get("/v1/rubrics", params={"token": ALICE}).status_code == 401


def opened(
    keys: Path, path: str, query: str, headers: list[tuple[bytes, bytes]] | None = None, **how: bool
) -> str | int:
    """Whose request it is, or the status of its refusal."""
    scope = {
        "type": "http", "path": path, "query_string": query.encode(), "headers": headers or [],
    }  # fmt: skip
    try:
        return authenticate(Request(scope), KeyRing(keys, b""), **how).name
    except Problem as problem:
        return problem.status


def test_a_token_opens_for_trainers_only(service: RunningService, keys: Path) -> None:
    """Trainers know an address and nothing else; everywhere else a token counts for nothing."""
    there, token = "/adapters/slime/quality", f"token={ALICE}"
    header = [(b"authorization", f"Bearer {ALICE}".encode())]
    wrong = [(b"authorization", b"Bearer wrong")]

    assert opened(keys, there, token, query_token=True) == "alice"
    assert opened(keys, there, f"a=1&{token}", wrong, query_token=True) == "alice"
    assert opened(keys, there, "", header, query_token=True) == "alice"
    assert opened(keys, there, "token=wrong", header, query_token=True) == 401
    assert opened(keys, there, f"{token}&{token}", query_token=True) == 401
    assert opened(keys, there, "token=", query_token=True) == 401
    assert opened(keys, there, token) == 401
    for path in ("/v1/assess", "/v1/adapters/", "/adapters", "//adapters/x", "/Adapters/x"):
        assert opened(keys, path, token, query_token=True) == 401
        assert opened(keys, path, token, header, query_token=True) == "alice"


@pytest.mark.parametrize("path", ["/v1/rubrics", "/v1/rubrics/quality", "/v1/judges"])
def test_looking_needs_a_key(service: RunningService, path: str) -> None:
    """What can be looked at is guarded as well."""
    assert service.http.get(path).status_code == 401
    assert service.http.get(path, headers=bearer(ALICE)).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/docs"])
def test_health_and_description_need_none(service: RunningService, path: str) -> None:
    """Orchestrators and readers need no key."""
    assert service.http.get(path).status_code == 200


def test_the_key_is_looked_at_before_the_body(service: RunningService) -> None:
    """A caller without a key learns nothing about bodies."""
    answer = service.http.post("/v1/assess", content=b"\xff", headers={"content-type": "x"})

    assert answer.status_code == 401


def test_scopes(service: RunningService) -> None:
    """A key without the scope to judge may not; an admin may."""
    clerk = asked(service, bearer(CLERK))

    assert clerk.status_code == 403
    assert ProblemAnswer.model_validate(clerk.json()).error.code == "forbidden"
    assert asked(service, bearer(ADMIN)).status_code == 200


def test_an_audit_needs_an_admin(service: RunningService) -> None:
    """Only an admin's key may ask for an audit."""
    refused = asked(service, bearer(ALICE), audit=True)

    assert refused.status_code == 403
    assert ProblemAnswer.model_validate(refused.json()).error.field == "audit"
    assert asked(service, bearer(ALICE), audit=False).status_code == 200
    assert asked(service, bearer(ADMIN), audit=True).status_code == 200


def test_keys_rotate_without_a_restart(service: RunningService, keys: Path) -> None:
    """Two keys of one client are valid together; one that is taken out is refused at once."""
    assert asked(service, bearer(ALICE_NEXT)).status_code == 401

    rewrite(keys, KEYS + entry("alice", ALICE_NEXT))
    both = [asked(service, bearer(key)).status_code for key in (ALICE, ALICE_NEXT)]
    rewrite(keys, entry("alice", ALICE_NEXT))
    after = [asked(service, bearer(key)).status_code for key in (ALICE, ALICE_NEXT, ADMIN)]

    assert both == [200, 200]
    assert after == [401, 200, 401]


def test_a_key_of_the_same_length_is_noticed(service: RunningService, keys: Path) -> None:
    """A new file of the same size and time is read, too."""
    stamp = keys.stat()
    new = keys.with_suffix(".new")
    new.write_text(KEYS.replace(key_hash(b"", ALICE), key_hash(b"", ALICE_NEXT)), "utf-8")
    os.utime(new, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    os.replace(new, keys)

    assert asked(service, bearer(ALICE)).status_code == 401
    assert asked(service, bearer(ALICE_NEXT)).status_code == 200


def test_an_emptied_file_lets_nobody_in(service: RunningService, keys: Path) -> None:
    """A keys file without keys is not an open door."""
    rewrite(keys, "")

    assert asked(service, bearer(ALICE)).status_code == 401
    assert asked(service).status_code == 401


@pytest.mark.parametrize(
    "broken",
    ["[[keys", KEYS + "[[keys]]\nname = 5\n", KEYS + "keys_too = 1\n", "keys = 5\n"],
    ids=["no TOML", "bad entry", "unknown field", "no tables"],
)
def test_a_broken_file_keeps_the_keys(
    service: RunningService, keys: Path, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A mistake in the file is logged, with its place, and the keys before it stay valid."""
    assert asked(service, bearer(ALICE)).status_code == 200

    rewrite(keys, broken)

    assert asked(service, bearer(ALICE)).status_code == 200
    assert asked(service, bearer(ALICE_NEXT)).status_code == 401
    errors = [r.getMessage() for r in caplog.records if r.levelno == logging.ERROR]
    assert len(errors) == 1
    assert "keys.toml" in errors[0]
    assert key_hash(b"", ALICE) not in errors[0]


def test_a_deleted_file_keeps_the_keys(service: RunningService, keys: Path) -> None:
    """While the file is missing the keys of before are valid; when it is back it counts."""
    assert asked(service, bearer(ALICE)).status_code == 200

    keys.unlink()
    meanwhile = asked(service, bearer(ALICE)).status_code
    rewrite(keys, entry("alice", ALICE_NEXT))

    assert meanwhile == 200
    assert asked(service, bearer(ALICE)).status_code == 401


def test_keys_stand_in_no_log_and_no_answer(
    service: RunningService, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither a key nor its hash is logged or answered, right or wrong."""
    caplog.set_level(logging.DEBUG)
    wrong = "wrong-" + secrets.token_urlsafe(16)

    texts = [
        asked(service, bearer(key), **fields).text
        for key in (ALICE, CLERK, wrong)
        for fields in ({}, {"audit": True}, {"nonsense": 1})
    ]
    texts.append(service.http.get("/v1/judges", headers=bearer(ALICE)).text)
    texts.append(service.http.get(f"/nowhere?token={ALICE}").text)
    # As some clients write an address that was pasted into a field for a path.
    texts.append(service.http.get(f"/adapters/slime/quality%3Ftoken={ALICE}").text)

    assert any(r.name == "judge_service.access" for r in caplog.records)
    logged = "".join(
        r.getMessage() for r in caplog.records if r.name.startswith(("judge_service", "uvicorn"))
    )
    for secret in (ALICE, CLERK, wrong, key_hash(b"", ALICE), key_hash(b"", wrong)):
        assert secret not in logged
        assert not any(secret in text for text in texts)


def test_a_new_secret_does_not_lock_everybody_out(folder: Path, tmp_path: Path) -> None:
    """Entries of the previous secret stay valid while that secret is still named."""
    file = tmp_path / "keys.toml"
    file.write_text(
        entry("alice", ALICE, pepper=pepper_of("old"))
        + entry("bob", ALICE_NEXT, pepper=pepper_of("new")),
        "utf-8",
    )
    with running(folder, api_keys_file=file, secret="new", secret_previous="old") as service:
        assert asked(service, bearer(ALICE)).status_code == 200
        assert asked(service, bearer(ALICE_NEXT)).status_code == 200
        assert asked(service, bearer(CLERK)).status_code == 401
