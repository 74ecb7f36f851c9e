"""Secrets are planted everywhere, and everything that comes out is searched for them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from judge_service.cli.logs import JsonLines, Lines
from judge_service.engine import Engine
from judge_service.outcome import AssessOutcome
from judge_service.request import AssessRequest
from tests.harness import Judges
from tests.keys.canary_service import (
    JUDGE_KEY,
    Canaries,
    CanaryService,
    canary,
    canary_service,
    found_in,
)
from tests.keys.keyed import entry, keyed
from tests.provider import FakeProvider
from tests.provider.behaviours import Behaviour, honest
from tests.provider.faults import always
from tests.provider.replies import Reply, error, html_page, verdict
from tests.redis_server import RedisServer


def echoes(key: str) -> dict[str, Behaviour]:
    """A provider that repeats the key it was sent, in every way a reply has."""
    told = f"Incorrect API key provided: {key}. Sent: Authorization: Bearer {key}"
    return {
        "good": honest(),
        "401": always(error(401, told, code="invalid_api_key")),
        "400": always(error(400, told)),
        "429": always(error(429, told, code=key, headers={"x-key": key})),
        "500": always(error(500, told, kind=key)),
        "parameter": always(error(400, told, param=key)),
        "page": always(html_page(502)),
        "page-with-key": always(Reply(status=502, body=told.encode(), content_type="text/html")),
        "no-protocol": always(Reply(body=told.encode())),
        "list": always(Reply(body=f'["{key}"]'.encode())),
        "redirect": always(Reply(status=307, body=b"", headers={"location": f"http://{key}/"})),
        "content": always(Reply(content=told)),
        "refusal": always(Reply(refusal=told)),
        "finish-reason": always(Reply(content=told, finish_reason=key)),
        "reason": lambda seen: Reply(content=verdict(seen, seen.honest(), reason=told)),
        "model": lambda seen: Reply(content=verdict(seen, seen.honest()), model=key),
        "message": lambda seen: Reply(
            content=verdict(seen, seen.honest()), message={"reasoning_content": told, "key": key}
        ),
    }


@pytest.fixture(scope="module", params=["file", "redis"])
def after_all(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[CanaryService, bytes]]:
    """The service after all that can happen to it, and all that its store has kept."""
    folder, canaries = tmp_path_factory.mktemp("canaries"), Canaries()
    with ExitStack() as stack:
        provider = stack.enter_context(FakeProvider(tolerant=True))
        provider.oracle(lambda _: 4)
        redis, url = None, None
        if request.param == "redis":
            redis = stack.enter_context(RedisServer(folder, rdbcompression="no"))
            redis.configure("requirepass", canaries.redis)
            url = redis.url.replace("://", f"://:{canaries.redis}@")
        judges = Judges(provider)
        for name, behaviour in echoes(canaries.judge).items():
            judges.add(name, api_key_env=JUDGE_KEY)
            provider.behave(name, behaviour)
        service = stack.enter_context(canary_service(folder, judges, canaries, url))
        drive(service, list(echoes("")))
        if redis is not None:
            redis.command("SAVE")
            redis.configure("requirepass", "another password")
            service.send("POST", "/v1/assess", json=canaries.body("good", 1_000))
            redis.kill()
            service.send("POST", "/v1/assess", json=canaries.body("good", 1_001))
            service.send("GET", "/readyz")
        assert service.stop() == 0
        kept = [folder / f"dump-{redis.port}.rdb"] if redis else (folder / "state").iterdir()
        yield service, b"".join(file.read_bytes() for file in kept)


def drive(service: CanaryService, judges: list[str]) -> None:
    """Successes, failures of every kind, mistakes, a rule with a bug, and all pages."""
    canaries = service.canaries
    post = "POST", "/v1/assess"
    once = {"idempotency-key": "once"}
    assert service.send(*post, json=canaries.body("good"), headers=once).json()["reward"] == 0.75
    assert service.send(*post, json=canaries.body("good", 1), headers=once).status_code == 409
    for judge in judges:
        answer = service.send(*post, json=canaries.body(judge, timeout_s=3))
        assert answer.status_code == 200, answer.text
    service.send(*post, json=canaries.body("good", rubric="broken"))
    mistakes = (
        {"api_key": canaries.judge}, {"rubric": canaries.service}, {"judges": [canaries.judge]},
        {canaries.redis: 1}, {"timeout_s": canaries.caller}, {"candidate": canaries.candidate},
        {"panel_size": canaries.prompt},
    )  # fmt: skip
    for fields in mistakes:
        assert service.send(*post, json=canaries.body("good") | fields).status_code in (404, 422)
    texts = " ".join(canaries.texts.values())
    for content in (texts.encode(), f'{{"{texts}'.encode(), f'"{texts}"'.encode() + b"\xff"):
        service.send(*post, content=content, headers={"content-type": "application/json"})
    service.send(*post, content=texts.encode(), headers={"content-type": texts})
    service.send(*post, canaries.wrong, json=canaries.body("good"))
    service.send("GET", f"/adapters/slime/quality?token={canaries.caller}")
    service.send("GET", f"/adapters/slime/quality%3Ftoken={canaries.caller}")
    service.send("GET", f"/v1/rubrics?token={canaries.wrong}", headers={"authorization": "Basic"})
    for path in ("rubrics", "rubrics/quality", "judges", "bias", "drift-runs"):
        service.send("GET", f"/v1/{path}")
    for path in ("healthz", "readyz", "metrics", "openapi.json", "docs"):
        service.send("GET", f"/{path}")


def test_no_answer_holds_a_secret(after_all: tuple[CanaryService, bytes]) -> None:
    """Neither in a body nor in a header. What a caller wrote is not repeated as a value either:
    only names of fields and ids are, and those were the caller's own.
    """
    service, _ = after_all
    own = {"judge", "service", "redis"}

    assert len(service.answers) > 40
    for status, said in service.answers:
        found = set(found_in(said, service.canaries.keys))
        assert found <= (own if status in (404, 422) else set()), said


def test_no_log_line_holds_a_secret_or_a_text(after_all: tuple[CanaryService, bytes]) -> None:
    """At the level debug, with every error there is, tracebacks included."""
    service, _ = after_all
    log = service.log()

    assert log.count(b"\n") > 40
    assert found_in(log, service.canaries.keys | service.canaries.texts) == []


def test_the_store_holds_no_secret(after_all: tuple[CanaryService, bytes]) -> None:
    """Whoever reads the store learns no key; the secret itself lies beside it only if generated."""
    service, kept = after_all

    assert found_in(kept, service.canaries.keys) == []


def test_the_search_finds_what_is_there() -> None:
    """A search that cannot fail would prove nothing."""
    canaries = Canaries()

    assert found_in(f"x{canaries.judge.upper()}y".encode(), canaries.keys) == ["judge"]
    assert found_in(b"nothing", canaries.keys | canaries.texts) == []


class Said(logging.Handler):
    """Keeps every record as a line, formatted where and when it was logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self._forms = (Lines(), JsonLines())

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it in both forms."""
        self.lines += [form.format(record) for form in self._forms]


def test_an_unexpected_error_tells_nobody_what_it_was_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug is answered with HTTP 500 and a request id; texts and secrets in its exception stay out
    of the answer and of the log.
    """
    caplog.set_level(logging.DEBUG)
    said = Said()
    secret, text, key = canary("secret"), canary("text"), canary("callerkey")
    wanted = {"secret": secret, "text": text, "key": key}

    async def broken(_: Engine, request: AssessRequest, *__: object) -> AssessOutcome:
        try:
            raise ValueError(f"{secret} in the cause")
        except ValueError as cause:
            raise RuntimeError(f"{secret} {request}", {"body": text}) from cause

    logging.getLogger().addHandler(said)
    try:
        with keyed(tmp_path, entry("ann", key, rpm=5, daily_cost_usd=5.0)) as own:
            monkeypatch.setattr(Engine, "assess", broken)
            answer = own.assess(key, text)
    finally:
        logging.getLogger().removeHandler(said)

    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert answer.headers["x-request-id"] in answer.json()["error"]["message"]
    assert found_in(repr(answer.headers.raw).encode() + answer.content, wanted) == []
    assert sum("RuntimeError" in line for line in said.lines) == 2
    assert [line for line in said.lines if found_in(line.encode(), wanted)] == []
