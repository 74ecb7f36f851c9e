"""The HTTP API around a judgement: ids, timeouts, what can be looked at, problems, logs."""

from __future__ import annotations

import json
import logging
import re
import socket
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from judge_service import __version__
from judge_service.api.answers import ProblemAnswer
from judge_service.rubric.library import load_library
from tests.harness import RunningService, new_prompt
from tests.http_api import ANSWERS, GOOD, KEY, PAIR, shipped_service, strict_json
from tests.provider import FakeProvider, behaviours


@pytest.fixture(scope="module")
def live(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningService, FakeProvider]]:
    """A service with the shipped rubrics, and where its judges live."""
    with shipped_service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture
def provider(live: tuple[RunningService, FakeProvider]) -> FakeProvider:
    """Where the judges live; they are honest and have seen nothing yet."""
    live[1].reset()
    return live[1]


@pytest.fixture
def service(live: tuple[RunningService, FakeProvider], provider: FakeProvider) -> RunningService:
    """The service that is asked."""
    assert not provider.requests
    return live[0]


# Request ids.


@pytest.mark.parametrize("given", ["abc", "A-1_2.3:4/5+6=", "x" * 128])
def test_a_request_id_is_returned(service: RunningService, given: str) -> None:
    """The caller's ``X-Request-ID`` comes back."""
    answer = service.http.post("/v1/assess", json=GOOD, headers={"x-request-id": given})

    assert answer.headers.get_list("x-request-id") == [given]


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "<script>", "é".encode()])
def test_a_request_id_that_cannot_be_logged_is_replaced(
    service: RunningService, given: str | bytes
) -> None:
    """An id with spaces, controls or of any length is replaced by a new one."""
    value = given.encode() if isinstance(given, str) else given

    answer = service.http.get("/healthz", headers=[(b"x-request-id", value)])

    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-request-id"])


def test_request_ids_are_made(service: RunningService) -> None:
    """Without an id each request gets one of its own."""
    ids = {service.http.get("/healthz").headers["x-request-id"] for _ in range(5)}

    assert len(ids) == 5


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/v1/rubrics/nothing", 404),
        ("GET", "/v1/assess", 405),
        ("POST", "/v1/assess", 415),
        ("HEAD", "/nowhere", 404),
    ],
)
def test_errors_have_a_request_id_too(
    service: RunningService, method: str, path: str, status: int
) -> None:
    """Every answer says which request it belongs to."""
    answer = service.http.request(method, path, headers={"x-request-id": "mine"})

    assert (answer.status_code, answer.headers["x-request-id"]) == (status, "mine")


# Time.


def late(service: RunningService, headers: Mapping[str, str], **fields: object) -> float:
    """The seconds until a request on a judge that takes too long has failed."""
    started = time.monotonic()
    answer = service.http.post(
        "/v1/assess",
        json={**GOOD, "prompt": new_prompt(), "judges": ["alpha"], **fields},
        headers=dict(headers),
    )
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["reward"]) == ("failed", None)
    assert answer.json()["error"]["code"] in {"timeout", "deadline_exceeded"}
    return time.monotonic() - started


def test_the_timeout_header_shortens(service: RunningService, provider: FakeProvider) -> None:
    """``X-Request-Timeout-Ms`` ends a request before the body's own timeout."""
    provider.behave("alpha", behaviours.slow(behaviours.honest(), 50.0))

    assert late(service, {"x-request-timeout-ms": "400"}, timeout_s=40) < 20.0


def test_the_timeout_header_never_lengthens(
    service: RunningService, provider: FakeProvider
) -> None:
    """A header beyond the body's timeout changes nothing."""
    provider.behave("alpha", behaviours.slow(behaviours.honest(), 50.0))

    assert late(service, {"x-request-timeout-ms": "600000"}, timeout_s=0.4) < 20.0


@pytest.mark.parametrize("value", ["0", "-5", "1.5", "abc", "", "1e3", "0x10", "1_0", "٣"])
def test_a_timeout_header_that_is_no_number(service: RunningService, value: str) -> None:
    """Anything but a whole number of milliseconds is refused."""
    answer = service.http.post(
        "/v1/assess", json=GOOD, headers=[(b"x-request-timeout-ms", value.encode())]
    )

    assert answer.status_code == 422
    assert ProblemAnswer.model_validate(answer.json()).error.field == "X-Request-Timeout-Ms"


def test_a_timeout_header_that_is_huge(service: RunningService) -> None:
    """A header of any length is only a number that does not shorten."""
    answer = service.http.post(
        "/v1/assess", json=GOOD, headers={"x-request-timeout-ms": "9" * 5_000}
    )

    assert answer.json()["status"] == "success"


# Answers.


@pytest.mark.parametrize(("path", "body"), [("/v1/assess", GOOD), ("/v1/compare", PAIR)])
def test_metadata_comes_back_and_goes_nowhere_else(
    service: RunningService, provider: FakeProvider, path: str, body: dict[str, Any]
) -> None:
    """Metadata is echoed as it was, and no judge sees it."""
    metadata = {"step": 7, "canary": "x-metadata-x", "nested": [{"a": None}, 1.5, "\u2028"]}

    answer = service.post(path, {**body, "prompt": new_prompt(), "metadata": metadata})

    assert answer["metadata"] == metadata
    assert provider.requests
    assert not any("x-metadata-x" in json.dumps(dict(r.body)) for r in provider.requests)


@pytest.mark.parametrize(("path", "body"), [("/v1/assess", GOOD), ("/v1/compare", PAIR)])
def test_a_failure_has_the_published_form(
    service: RunningService, provider: FakeProvider, path: str, body: dict[str, Any]
) -> None:
    """A failed outcome is HTTP 200, has no reward, and its metrics have the usual names."""
    judged = service.post(path, body)
    provider.behave_by_default(behaviours.says("I would rather not."))

    answer = service.http.post(path, json={**body, "prompt": new_prompt()})

    assert answer.status_code == 200
    failed = ANSWERS[path].model_validate(strict_json(answer))
    assert failed.status == "failed"
    assert failed.error is not None
    assert failed.error.code == "unparsable"
    assert failed.error.retryable
    assert failed.metrics.keys() == judged["metrics"].keys()
    assert failed.metrics["judge_failed"] == 1.0
    assert strict_json(answer).get("reward" if path == "/v1/assess" else "preference") is None


def test_requests_do_not_mix(service: RunningService, provider: FakeProvider) -> None:
    """Concurrent requests each get their own answer."""
    provider.behave_by_default(
        behaviours.decides(lambda seen: 3 if "good" in seen.candidate else 1)
    )

    def ask(number: int) -> tuple[int, float, str]:
        word = "good" if number % 3 else "poor"
        answer = service.http.post(
            "/v1/assess",
            json={
                **GOOD,
                "prompt": f"Question {number}?",
                "candidate": {"text": f"A {word} answer, number {number}.", "family": "own"},
                "metadata": {"number": number},
            },
            headers={"x-request-id": f"id-{number}"},
        )
        body = answer.json()
        return body["metadata"]["number"], body["reward"], answer.headers["x-request-id"]

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(48)))

    assert answers == [(n, 1.0 if n % 3 else 0.0, f"id-{n}") for n in range(48)]


# What can be looked at.


def test_health(service: RunningService) -> None:
    """The service says that it lives, which version it is, and that nothing is degraded."""
    assert service.http.get("/healthz").json() == {"status": "ok", "version": __version__}
    ready = service.http.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "degraded": []})


def test_the_list_of_rubrics(service: RunningService) -> None:
    """Every rubric is listed with what a caller needs to choose it."""
    listed = {r["id"]: r for r in service.http.get("/v1/rubrics").json()["rubrics"]}
    library = load_library()

    assert list(listed) == list(library)
    helpfulness = listed["helpfulness"]
    assert helpfulness["kind"] == "assess"
    assert helpfulness["rubric_hash"] == library["helpfulness"].rubric_hash
    assert helpfulness["anchors"] == len(library["helpfulness"].anchors)
    assert helpfulness["criteria"][0]["points"] == [1, 2, 3, 4, 5]
    assert listed["pairwise-helpfulness"]["criteria"][0]["points"] == []


def test_one_rubric(service: RunningService) -> None:
    """One rubric is shown whole, with its anchors, its rules and its hash."""
    answer = strict_json(service.http.get("/v1/rubrics/helpfulness"))
    rubric = load_library()["helpfulness"]

    assert answer["rubric_hash"] == rubric.rubric_hash
    assert len(answer["anchors"]) == len(rubric.anchors)
    assert {"rule": "non_empty", "hard": True, "weight": 0.0} in answer["rules"]
    assert answer["criteria"][0]["scale"][0]["means"]


@pytest.mark.parametrize(
    "rubric",
    ["nothing", "..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "%ff%fe", "a" * 5_000,
     "Helpfulness", "helpfulness.toml", "%0d%0aX-Injected:%201", "{rubric_id}"],
)  # fmt: skip
def test_an_unknown_rubric(service: RunningService, rubric: str) -> None:
    """An unknown rubric is 404, whatever its name is, and the name is not repeated whole."""
    answer = service.http.get(f"/v1/rubrics/{rubric}")

    assert answer.status_code == 404
    ProblemAnswer.model_validate(answer.json())
    assert "x-injected" not in answer.headers
    assert "a" * 201 not in answer.text


def test_the_judges(service: RunningService, provider: FakeProvider) -> None:
    """Judges are shown with family and limits; addresses and keys stay inside."""
    answer = service.http.get("/v1/judges")

    alpha, beta = answer.json()["judges"]
    assert (alpha["id"], alpha["family"], alpha["purpose"]) == ("alpha", "alpha", "train")
    assert (beta["limits"]["rpm"], beta["trial"]) == (600, False)
    for secret in (KEY, "ALPHA_KEY", provider.base_url, "api_base", "127.0.0.1"):
        assert secret not in answer.text


def test_live_bias_figures(service: RunningService, provider: FakeProvider) -> None:
    """What pairs show of a judge's position bias can be read at once."""
    provider.behave("beta", behaviours.first_position())
    before = service.http.get("/v1/judges").json()["judges"][1]["bias"]
    for number in range(4):
        outcome = service.post(
            "/v1/compare", {**PAIR, "prompt": f"Question {number}?", "judges": ["beta"]}
        )
        assert outcome["outcome"] == "inconsistent"

    bias = service.http.get("/v1/judges").json()["judges"][1]["bias"]

    assert bias["pairs"] - before["pairs"] == 4
    assert bias["primacy"] - before["primacy"] == 4
    assert bias["recency"] == before["recency"]
    assert bias["first_position_share"] > 0.5


# Paths and methods.


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/nowhere"),
        ("POST", "/v1/nothing"),
        ("GET", "/v1/assess/"),
        ("POST", "/v1/assess/"),
        ("GET", "/v1/rubrics/"),
        ("GET", "//evil.example/v1/rubrics/"),
        ("GET", "/v1//rubrics"),
        ("GET", "/.env"),
        ("GET", "/redoc"),
    ],
)
def test_unknown_paths(service: RunningService, method: str, path: str) -> None:
    """An unknown path is 404 as a problem; nothing redirects to whatever Host was sent."""
    answer = service.http.request(method, service.url + path, headers={"host": "evil.example"})

    assert answer.status_code == 404
    assert ProblemAnswer.model_validate(answer.json()).error.code == "not_found"
    assert "evil.example" not in str(answer.headers) + answer.text


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/assess", "POST"),
        ("PUT", "/v1/compare", "POST"),
        ("OPTIONS", "/v1/assess", "POST"),
        ("DELETE", "/v1/rubrics", "GET"),
        ("POST", "/healthz", "GET"),
        ("TRACE", "/healthz", "GET"),
    ],
)
def test_other_methods(service: RunningService, method: str, path: str, allowed: str) -> None:
    """Another method is 405 as a problem, and the right one is named."""
    answer = service.http.request(method, path)

    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert ProblemAnswer.model_validate(answer.json()).error.code == "method_not_allowed"


def test_head(service: RunningService) -> None:
    """A HEAD request is answered without a body."""
    assert service.http.head("/healthz").content == b""


# Logs.


def access_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The access log's lines."""
    return [r.getMessage() for r in caplog.records if r.name == "judge_service.access"]


def test_the_access_log_has_one_line_a_request(
    service: RunningService, caplog: pytest.LogCaptureFixture
) -> None:
    """Line breaks and terminal controls in a path are escaped, and a query is left out."""
    caplog.set_level(logging.INFO, "judge_service.access")

    service.http.get("/v1/rubrics/x%0d%0aFORGED%1b[31m%c2%85?token=secret-token")

    (line,) = access_lines(caplog)
    assert line.startswith("GET /v1/rubrics/x\\r\\nFORGED\\x1b[31m\\x85 404 ")
    assert line.isprintable()
    assert "secret-token" not in caplog.text


def test_texts_are_not_logged(service: RunningService, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the candidate nor the judge's key is in any log."""
    caplog.set_level(logging.DEBUG, "judge_service")

    service.post("/v1/assess", {**GOOD, "candidate": {"text": "canary-text", "family": "own"}})

    assert access_lines(caplog)
    assert "canary-text" not in caplog.text
    assert KEY not in caplog.text


def test_a_caller_who_leaves_is_no_error(
    service: RunningService, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection that ends inside its body is noted, not reported as a fault of the service."""
    caplog.set_level(logging.INFO, "judge_service.access")
    url = httpx.URL(service.url)

    with socket.create_connection((url.host, url.port or 80), timeout=60) as connection:
        connection.sendall(
            b"POST /v1/assess HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b'Content-Length: 100\r\n\r\n{"rubric":'
        )
        service.http.get("/healthz")  # by then the server has read what was sent
    until = time.monotonic() + 60
    while not any("POST" in line for line in access_lines(caplog)) and time.monotonic() < until:
        service.http.get("/healthz")

    assert any(line.startswith("POST /v1/assess 499 ") for line in access_lines(caplog))
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("OPTIONS", "/v1/rubrics/quick-look", {"GET", "PUT"}),
        ("DELETE", "/v1/assess", {"POST"}),
        ("POST", "/healthz", {"GET"}),
    ],
)
def test_a_wrong_method_names_all_right_ones(
    service: RunningService, method: str, path: str, allowed: set[str]
) -> None:
    """405 says in ``Allow`` what the path takes, all routes of it together."""
    answer = service.http.request(method, path)

    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == allowed
