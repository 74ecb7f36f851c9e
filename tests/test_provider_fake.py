"""The fake provider serves, records and breaks as it is told."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.provider import FakeProvider, behaviours, faults, text_hash
from tests.provider.by_hand import END, PAIR, V, body


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """A running provider that says 4 to everything and lets tests look at its problems."""
    with FakeProvider(tolerant=True) as running:
        running.oracle(lambda _: 4)
        yield running


def post(provider: FakeProvider, request: dict[str, Any], timeout: float = 60.0) -> httpx.Response:
    """One chat request."""
    url = f"{provider.base_url}/chat/completions"
    return httpx.post(url, json=request, timeout=timeout, trust_env=False)


def content(response: httpx.Response) -> str:
    """The text of a completion."""
    return str(response.json()["choices"][0]["message"]["content"])


def value(response: httpx.Response) -> object:
    """The verdict of a completion that is one JSON object with the right tokens."""
    said = json.loads(content(response))
    assert list(said) == [
        "v",
        "reason",
        next(iter(said.keys() & {"score", "choice", "scores"})),
        "end",
    ]
    assert (said["v"], said["end"]) == (V, END)
    return said.get("score", said.get("choice", said.get("scores")))


# Serving.


def test_the_honest_judge_says_what_the_oracle_says(provider: FakeProvider) -> None:
    """A table of text hashes decides scores and choices."""
    provider.oracle({text_hash("Because."): 2, text_hash("It is so, and always was."): 5})
    assert value(post(provider, body())) == 2
    assert value(post(provider, body(PAIR))) == "candidate_2"


def test_records_what_came_in(provider: FakeProvider) -> None:
    """Headers, body, decoded slots, order and count of every request are kept."""
    post(provider, body(temperature=0))
    post(provider, body(PAIR))
    post(provider, body(model="judge-b"))
    assert provider.wait_until(lambda: all(record.complete for record in provider.requests))
    first, second, third = provider.requests
    assert first.body["temperature"] == 0
    assert first.headers["content-type"] == "application/json"
    assert first.seen is not None
    assert first.seen.candidate == "Because."
    assert (first.n, second.n, third.n) == (1, 2, 1)
    assert first.at <= second.at <= third.at
    assert (first.status, first.complete, first.hung_up_at) == (200, True, None)
    assert provider.requests_of("judge-b") == [third]
    assert provider.problems == []


def test_a_script_goes_on_and_its_last_behaviour_repeats(provider: FakeProvider) -> None:
    """One behaviour per request of that model; other models are not touched."""
    provider.behave(
        "judge-a", [faults.status_error(500), faults.rate_limited("1"), behaviours.fixed(3)]
    )
    statuses = [post(provider, body()).status_code for _ in range(2)]
    assert statuses == [500, 429]
    assert [value(post(provider, body())) for _ in range(2)] == [3, 3]
    assert value(post(provider, body(model="judge-b"))) == 4


def test_an_unreadable_envelope_is_a_problem() -> None:
    """It is answered with a 400 and makes the end of the block raise."""
    with pytest.raises(AssertionError, match="reply form"), FakeProvider() as strict:
        assert post(strict, body("Judge this: fine text")).status_code == 400


def test_a_missing_oracle_entry_is_a_problem(provider: FakeProvider) -> None:
    """The fake does not invent a score that the test did not tell."""
    provider.oracle({})
    assert post(provider, body()).status_code == 400
    assert "no score" in provider.problems[0]


def test_a_plain_request_can_be_allowed() -> None:
    """With ``plain`` a request without an envelope gets that content and is no problem."""
    with FakeProvider(plain="pong") as lenient:
        assert content(post(lenient, body("ping"))) == "pong"


def test_works_from_a_loop_and_counts_what_is_in_flight(provider: FakeProvider) -> None:
    """Concurrent requests of an async client are served at the same time; a gate holds them."""
    gate = threading.Event()
    provider.behave_by_default(behaviours.held(behaviours.honest(), gate))

    async def ask() -> list[httpx.Response]:
        async with httpx.AsyncClient(trust_env=False, timeout=60.0) as client:
            url = f"{provider.base_url}/chat/completions"
            posts = [asyncio.create_task(client.post(url, json=body())) for _ in range(5)]
            assert await asyncio.to_thread(provider.wait_until, lambda: provider.in_flight == 5)
            gate.set()
            return await asyncio.gather(*posts)

    assert [value(response) for response in asyncio.run(ask())] == [4] * 5
    assert provider.max_in_flight == 5


def test_a_gate_holds_a_reply_back(provider: FakeProvider) -> None:
    """Who leaves meanwhile is noticed; a gate that is open holds nobody."""
    gate = threading.Event()
    provider.behave("judge-a", behaviours.held(behaviours.honest(), gate))
    with pytest.raises(httpx.ReadTimeout):
        post(provider, body(), timeout=0.3)
    assert provider.wait_until(lambda: any(r.hung_up_at is not None for r in provider.requests))
    gate.set()
    assert value(post(provider, body())) == 4


def test_a_stopped_provider_starts_again_on_its_port(provider: FakeProvider) -> None:
    """An outage can be played: refused while stopped, the same address afterwards."""
    url = provider.base_url
    provider.stop()
    with pytest.raises(httpx.ConnectError):
        post(provider, body())
    provider.start()
    assert provider.base_url == url
    assert value(post(provider, body())) == 4


def test_notices_a_client_that_hangs_up(provider: FakeProvider) -> None:
    """The moment is recorded while the reply is still being waited for."""
    provider.behave("judge-a", faults.hang())
    with pytest.raises(httpx.ReadTimeout):
        post(provider, body(), timeout=0.3)
    assert provider.wait_until(lambda: any(r.hung_up_at is not None for r in provider.requests))
    assert (provider.requests[0].hung_up_at or 0) >= provider.requests[0].at
    assert not provider.requests[0].complete


# Breaking.


@pytest.mark.parametrize(
    ("mode", "failure"),
    [
        ("reset", httpx.ReadError),
        ("reset_body", (httpx.ReadError, httpx.RemoteProtocolError)),
        ("half", httpx.RemoteProtocolError),
    ],
)
def test_breaks_a_connection(
    provider: FakeProvider, mode: Any, failure: type[Exception] | tuple[type[Exception], ...]
) -> None:
    """The client sees a broken connection, and the fake does not call that a hang-up."""
    provider.behave("judge-a", faults.network(mode))
    with pytest.raises(failure):
        post(provider, body())
    assert provider.wait_until(lambda: provider.requests[0].finished_at is not None)
    assert provider.requests[0].hung_up_at is None


def test_half_a_body_without_a_length_looks_whole(provider: FakeProvider) -> None:
    """Only the JSON is cut."""
    provider.behave("judge-a", faults.network("half_unmarked"))
    response = post(provider, body())
    assert response.status_code == 200
    with pytest.raises(ValueError, match=r"."):
        response.json()


@pytest.mark.parametrize("mode", ["drip_header", "drip_body"])
def test_drips_byte_by_byte(provider: FakeProvider, mode: Any) -> None:
    """Some are there long before the last one; in the end it is a proper reply."""
    provider.behave("judge-a", [faults.network(mode), faults.network(mode, interval=0.001)])
    asked = json.dumps(body()).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(asked)
    url = httpx.URL(provider.base_url)
    with socket.create_connection((url.host, url.port or 0), timeout=60) as raw:
        raw.sendall(head + asked)
        dripped = b"".join(raw.recv(1) for _ in range(12))
        assert provider.requests[0].finished_at is None
    assert dripped == b"HTTP/1.1 200"
    assert value(post(provider, body())) == 4
    assert provider.wait_until(lambda: provider.requests[1].complete)


@pytest.mark.parametrize("mode", ["chunked", "gzip", "gzip_bomb", "big"])
def test_large_and_packed_bodies_are_proper(provider: FakeProvider, mode: Any) -> None:
    """A client without limits reads the verdict, and the size that was asked for."""
    provider.behave("judge-a", faults.network(mode, size=300_000))
    response = post(provider, body())
    assert value(response) == 4
    assert (len(response.content) > 300_000) == (mode in ("gzip_bomb", "big"))


def test_an_endless_body_stops_when_the_client_leaves(provider: FakeProvider) -> None:
    """The fake sees the hang-up in the middle of the stream."""
    provider.behave("judge-a", faults.network("endless", size=1 << 30))
    url = f"{provider.base_url}/chat/completions"
    with httpx.stream("POST", url, json=body(), trust_env=False) as response:
        next(response.iter_raw())
    assert provider.wait_until(lambda: provider.requests[0].finished_at is not None)
    assert provider.requests[0].hung_up_at is not None


def test_a_redirect_leads_to_another_origin_that_counts(provider: FakeProvider) -> None:
    """Nobody arrives there unless the client follows, and then it would get a verdict."""
    provider.behave("judge-a", faults.redirected())
    response = post(provider, body())
    assert response.status_code == 307
    assert response.headers["location"].startswith(provider.elsewhere_url)
    assert provider.elsewhere == []
    url = f"{provider.base_url}/chat/completions"
    assert value(httpx.post(url, json=body(), follow_redirects=True, trust_env=False)) == 4
    assert len(provider.elsewhere) == 1


def test_retry_after_comes_in_seconds_and_as_a_date(provider: FakeProvider) -> None:
    """Both forms of the header are there."""
    provider.behave("judge-a", [faults.rate_limited("7"), faults.rate_limited_until(60)])
    assert post(provider, body()).headers["retry-after"] == "7"
    assert post(provider, body()).headers["retry-after"].endswith("GMT")


@pytest.mark.parametrize("dialect", ["openai", "vllm", "anthropic"])
@pytest.mark.parametrize("parameter", ["response_format", "temperature", "max_tokens", "logprobs"])
def test_refuses_a_parameter_until_it_is_gone(
    provider: FakeProvider, parameter: str, dialect: Any
) -> None:
    """The error names the parameter in each provider's way; without it the verdict comes."""
    provider.behave("judge-a", faults.refuses(parameter, dialect))
    refused = post(provider, {**body(), parameter: 1})
    assert refused.status_code == 400
    assert parameter in refused.json()["error"]["message"]
    assert value(post(provider, body())) == 4


def test_refuses_only_the_json_schema(provider: FakeProvider) -> None:
    """A JSON object is accepted where a schema is not."""
    provider.behave("judge-a", faults.refuses_json_schema())
    assert post(provider, body(response_format={"type": "json_schema"})).status_code == 400
    assert value(post(provider, body(response_format={"type": "json_object"}))) == 4


def test_garbage_on_the_socket_is_survived(provider: FakeProvider) -> None:
    """A connection that does not speak HTTP is closed and the next one served."""
    url = httpx.URL(provider.base_url)
    with socket.create_connection((url.host, url.port or 0)) as raw:
        raw.sendall(b"nonsense\r\n\r\n")
        assert raw.recv(100) == b""
    assert value(post(provider, body())) == 4


def test_the_liar_goes_through_its_values(provider: FakeProvider) -> None:
    """Each request meets the next value, raw as it is."""
    provider.behave("judge-a", behaviours.liar(("NaN", "9")))
    said = [content(post(provider, body())) for _ in range(3)]
    assert ['"score":NaN' in said[0], '"score":9' in said[1], '"score":NaN' in said[2]] == [
        True
    ] * 3
