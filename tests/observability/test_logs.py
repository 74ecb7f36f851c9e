"""Log lines: one a record, with the request's id, and without anybody's texts."""

from __future__ import annotations

import json
import logging
import logging.config
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest

from judge_service.api.request_note import _current, begin_note
from judge_service.cli.logs import JsonLines, Lines, log_config
from judge_service.errors import ConfigError
from judge_service.settings import Settings
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, faults

CANARY = "canary-of-a-text"
HOSTILE = "line\nbreak \x1b[31m \x85 \u2028 \ud800 \x00"


@pytest.fixture
def lines() -> Iterator[StringIO]:
    """What all loggers of the service write, from level debug on, as JSON lines."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("judge_service")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(before)


def records(stream: StringIO) -> list[dict[str, Any]]:
    """The lines, each of which must be an object."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def access(stream: StringIO) -> dict[str, Any]:
    """The last line of the access log."""
    return [r for r in records(stream) if r["logger"] == "judge_service.access"][-1]


def test_the_access_line_tells_what_became_of_a_request(
    service: RunningService, provider: FakeProvider, lines: StringIO
) -> None:
    """Where, how long, and the outcome, which HTTP's status does not tell."""
    provider.behave_by_default(faults.status_error(401))
    body = {"rubric": "quality", "prompt": "?", "candidate": {"text": "x", "family": "other"}}

    service.http.post("/v1/assess?token=secret", json=body, headers={"X-Request-ID": "my-id"})

    line = access(lines)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["ts"])
    expected = {
        "level": "info", "request_id": "my-id", "method": "POST", "path": "/v1/assess",
        "route": "/v1/assess", "status": 200, "outcome": "failed", "code": "upstream_auth",
        "upstream_requests": 1,
    }  # fmt: skip
    assert expected.items() <= line.items()
    assert line["duration_ms"] > 0
    assert "secret" not in lines.getvalue()


def test_a_success_has_no_code(service: RunningService, lines: StringIO) -> None:
    """And what asks no judge has no outcome."""
    service.assess()
    success = access(lines)
    service.http.get("/healthz")

    assert (success["outcome"], success["upstream_requests"]) == ("success", 1)
    assert "code" not in success
    assert not {"outcome", "code", "upstream_requests"} & access(lines).keys()


def test_every_line_of_a_request_has_its_id(service: RunningService, lines: StringIO) -> None:
    """Also those written by the engine, in tasks of their own."""
    answer = service.http.post(
        "/v1/assess",
        json={"rubric": "quality", "prompt": "?", "candidate": {"text": "x", "family": "other"}},
    )

    found = records(lines)
    assert {"judge_service.access", "judge_service.engine"} <= {r["logger"] for r in found}
    assert {r["request_id"] for r in found} == {answer.headers["x-request-id"]}


def test_texts_are_hashed(service: RunningService, provider: FakeProvider, lines: StringIO) -> None:
    """Neither prompt nor candidate nor what the judge says of them is in any line."""
    provider.behave_by_default(behaviours.says(CANARY))

    service.assess(f"{CANARY} A", prompt=f"{CANARY} B", reference=f"{CANARY} C")

    assert CANARY not in lines.getvalue()
    (told,) = [r for r in records(lines) if r["logger"] == "judge_service.engine"]
    assert all(re.fullmatch(r"\(\d+ characters, sha256 [0-9a-f]{16}\)", t) for t in told["texts"])


def record(message: str, *args: object, name: str = "judge_service.x", **more: Any) -> Any:
    """A record as ``logging`` makes it."""
    made = logging.LogRecord(name, logging.WARNING, "f.py", 1, message, args, None)
    for key, value in more.items():
        setattr(made, key, value)
    return made


@pytest.mark.parametrize("kind", [JsonLines, Lines])
def test_a_record_is_one_line_whatever_it_holds(kind: type[Lines]) -> None:
    """Line breaks and terminal controls are escaped."""
    access = {"path": HOSTILE, "client": HOSTILE, "status": 200}
    line = kind().format(record("%s", HOSTILE, access=access))

    assert line.isprintable()
    assert line.isascii() or kind is Lines
    if kind is JsonLines:
        assert json.loads(line)["client"] == HOSTILE


def test_only_known_fields_are_told() -> None:
    """Whatever else somebody puts onto a record."""
    access = {"status": 200, "authorization": CANARY}
    line = json.loads(JsonLines().format(record("x", access=access, key=CANARY)))

    assert line.keys() == {"ts", "level", "logger", "message", "status"}


def failing(text: str) -> BaseException:
    """An error with a cause and a local variable, both of which hold ``text``."""
    variable = text
    try:
        try:
            raise KeyError(variable)
        except KeyError as error:
            raise ExceptionGroup(
                "several", [ValueError(variable), ConfigError("a.toml: b")]
            ) from error
    except ExceptionGroup as error:
        return error


@pytest.mark.parametrize("kind", [JsonLines, Lines])
def test_an_exception_is_one_line_without_variables(kind: type[Lines]) -> None:
    """Its types, its causes and where it came from; messages that may hold texts are hashed."""
    begin_note("an-id")
    error = failing(CANARY)
    made = record("broken", exc_info=(type(error), error, error.__traceback__))

    line = kind().format(made)

    assert line.isprintable()
    assert CANARY not in line
    for words in (
        "ExceptionGroup",
        "ValueError",
        "KeyError",
        "a.toml: b",
        "test_logs.py:",
        "failing",
    ):
        assert words in line, words
    assert CANARY in kind(log_texts=True).format(made)


def test_while_the_service_starts_messages_are_whole() -> None:
    """There are no texts yet, and an operator has to know what is wrong."""
    _current.set(None)
    error = failing("what is wrong")
    line = JsonLines().format(record("x", exc_info=(type(error), error, error.__traceback__)))

    assert "ValueError: what is wrong" in line


def test_endless_causes_end() -> None:
    """A deep recursion and a long chain of causes make a bounded line."""

    def deep(n: int) -> None:
        try:
            if n:
                deep(n - 1)
            raise ValueError(n)
        except ValueError as error:
            raise OSError("x" * 10_000) from error

    with pytest.raises(OSError, match="x") as caught:
        deep(50)
    error = caught.value
    line = JsonLines().format(record("broken", exc_info=(OSError, error, error.__traceback__)))

    assert len(line) < 40_000


@pytest.mark.parametrize(
    ("name", "shown"),
    [("judge_service.x", True), ("uvicorn.error", True), ("LiteLLM", False), ("httpx", False)],
)
def test_messages_of_other_libraries_are_hashed(name: str, shown: bool) -> None:
    """They may repeat what they were given."""
    line = JsonLines().format(record("said %s", CANARY, name=name))

    assert (CANARY in line) is shown
    assert CANARY in JsonLines(log_texts=True).format(record("said %s", CANARY, name=name))


def test_asyncio_tells_what_without_the_objects() -> None:
    """Its first line says what happened, the rest shows objects."""
    message = f"Task exception was never retrieved\nfuture: <Task exception=ValueError({CANARY!r})>"
    line = json.loads(JsonLines().format(record(message, name="asyncio")))

    assert line["message"] == "Task exception was never retrieved"


def test_text_lines_can_be_read() -> None:
    """Time, level, logger, message, then what else is known as pairs."""
    begin_note("an-id")
    access = {"method": "GET", "status": 200, "client": "Trainer A", "outcome": "failed"}
    line = Lines().format(record("GET /x 200 3 ms", access=access))

    assert re.fullmatch(
        r"\S+Z warning judge_service\.x: GET /x 200 3 ms "
        r'request_id=an-id client="Trainer A" outcome=failed',
        line,
    )


@pytest.mark.parametrize(
    ("log_format", "formatter"),
    [("json", "JsonLines"), ("text", "Lines"), ("auto", "JsonLines")],
)
def test_the_format_is_a_setting(log_format: Any, formatter: str) -> None:
    """Auto is JSON where stderr is no terminal, as here; the configuration can be loaded."""
    config = log_config(Settings(log_format=log_format, log_texts=True))

    assert config["formatters"]["line"]["()"].endswith(f".{formatter}")
    root, own = logging.getLogger(), logging.getLogger("judge_service")
    before = (root.handlers[:], root.level, own.level)
    try:
        logging.config.dictConfig(config)
        made = root.handlers[-1].formatter
    finally:
        root.handlers[:], root.level, own.level = before
    assert type(made).__name__ == formatter
