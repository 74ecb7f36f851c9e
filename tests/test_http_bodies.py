"""Hostile bodies as bytes and JSON: refused as 4xx, at once and without an echo."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator

import httpx
import pytest

from tests.harness import RunningService
from tests.http_bodies import (
    GOOD,
    JSON,
    MIB,
    assistant,
    candidate,
    changed,
    raw,
    refused,
    small_service,
    spliced,
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """The service that is asked."""
    with small_service(tmp_path_factory.mktemp("service")) as (running, _):
        yield running


NUMBERS = {
    "NaN": "NaN",
    "Infinity": "Infinity",
    "minus Infinity": "-Infinity",
    "1e999": "1e999",
    "minus 1e999": "-1e999",
    "5,000 digits": "9" * 5_000,
    "minus 5,000 digits": "-" + "9" * 5_000,
    "hexadecimal": "0x10",
    "leading zero": "007",
    "leading plus": "+1",
    "bare point": ".5",
    "underscore": "1_000",
}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("field", ['"timeout_s":{}', '"metadata":{{"a":[{}]}}', '"panel_size":{}'])
def test_a_number_that_json_does_not_have(service: RunningService, field: str, number: str) -> None:
    """NaN, infinities, overflowing and endless numbers are refused wherever they stand."""
    refused(service, spliced(field.format(number)))


NOT_THE_FORM = {
    "empty": b"",
    "blank": b" \n",
    "null": b"null",
    "list": b"[]",
    "text": b'"x"',
    "number": b"1",
    "true": b"true",
    "open": b'{"rubric":',
    "trailing comma": b'{"rubric":"quality",}',
    "trailing text": raw(GOOD) + b"x",
    "trailing NUL": raw(GOOD) + b"\0",
    "two documents": raw(GOOD) + raw(GOOD),
    "single quotes": b"{'rubric':'quality'}",
    "comment": b"// hello\n" + raw(GOOD),
    "raw line break in a text": raw(GOOD).replace(b"A question?", b"A\nquestion?"),
    "raw NUL in a text": raw(GOOD).replace(b"A question?", b"A\0question?"),
    "half an escape": raw(GOOD).replace(b"A question?", b"\\u12"),
    "NaN alone": b"NaN",
}


@pytest.mark.parametrize("body", NOT_THE_FORM.values(), ids=NOT_THE_FORM)
def test_a_body_that_is_no_json_object(service: RunningService, body: bytes) -> None:
    """Anything but one JSON object is refused."""
    refused(service, body)


DUPLICATES = {
    "at the top": b'{"rubric":"quality","rubric":"pair"}',
    "the same twice": spliced('"rubric":"quality"'),
    "in the candidate": spliced('"x":1').replace(b'"text":', b'"text":"other","text":', 1),
    "in metadata": spliced('"metadata":{"a":{"b":1,"b":2}}'),
    "by an escape": b'{"rubric":"quality","\\u0072ubric":"pair"}',
    "with a huge name": b'{"' + b"k" * 100_000 + b'":1,"' + b"k" * 100_000 + b'":2}',
}


@pytest.mark.parametrize("body", DUPLICATES.values(), ids=DUPLICATES)
def test_a_key_that_stands_twice(service: RunningService, body: bytes) -> None:
    """Duplicate keys are refused: two readers would see two different requests."""
    assert "twice" in refused(service, body).error.message


ENCODINGS = {
    "lone high surrogate": candidate(text="\ud800"),
    "lone low surrogate": candidate(text="a\udfffb"),
    "surrogates in the wrong order": candidate(text="\udc00\ud800"),
    "in the prompt": changed(prompt="\ud83d"),
    "in a message": assistant(content="\ud83d"),
    "in metadata": changed(metadata={"a": ["\ud83d"]}),
    "in a key of metadata": changed(metadata={"\ud83d": 1}),
    "in an unknown field": changed(**{"\udc00": 1}),
    "in the rubric": changed(rubric="\ud800"),
    "raw surrogate": raw(GOOD).replace(b"An answer.", b"\xed\xa0\x80"),
    "raw surrogate pair": raw(GOOD).replace(b"An answer.", b"\xed\xa0\xbd\xed\xb8\x80"),
    "overlong slash": raw(GOOD).replace(b"An answer.", b"\xc0\xaf"),
    "beyond Unicode": raw(GOOD).replace(b"An answer.", b"\xf4\x90\x80\x80"),
    "no UTF-8": raw(GOOD).replace(b"An answer.", b"\xff\xfe"),
    "latin-1": json.dumps(GOOD | {"prompt": "é"}, ensure_ascii=False).encode("latin-1"),
    "cut in a character": b'{"rubric":"\xf0\x9f\x98',
    "byte order mark": b"\xef\xbb\xbf" + raw(GOOD),
    "UTF-16": json.dumps(GOOD).encode("utf-16"),
    "UTF-16 without mark": json.dumps(GOOD).encode("utf-16-le"),
    "UTF-32": json.dumps(GOOD).encode("utf-32-be"),
}


@pytest.mark.parametrize("body", ENCODINGS.values(), ids=ENCODINGS)
def test_text_that_is_no_unicode_text(service: RunningService, body: bytes) -> None:
    """Half a surrogate pair and anything but plain UTF-8 is refused."""
    refused(service, body)


def nested(levels: int, opening: bytes, closing: bytes) -> bytes:
    """So many levels, and a number inside."""
    return opening * levels + b"1" + closing * levels


@pytest.mark.parametrize("levels", [65, 1_000, 100_000])
@pytest.mark.parametrize(
    ("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b"[", b"")], ids=["[]", "{}", "open"]
)
def test_deep_nesting(service: RunningService, levels: int, opening: bytes, closing: bytes) -> None:
    """More than 64 levels are refused, closed or not."""
    refused(service, nested(levels, opening, closing))


@pytest.mark.parametrize("levels", [62, 63])
def test_nesting_inside_metadata(service: RunningService, levels: int) -> None:
    """Metadata may fill the 64 levels (the body and metadata are two of them), and no more."""
    body = spliced('"metadata":{"a":' + nested(levels, b"[", b"]").decode() + "}")

    if levels == 62:
        assert service.http.post("/v1/assess", content=body, headers=JSON).status_code == 200
    else:
        refused(service, body)


MANY = {
    "numbers in metadata": spliced('"metadata":{"a":[' + "1," * 1_500_000 + "1]}"),
    "objects in metadata": spliced('"metadata":{"a":[' + "{}," * 1_000_000 + "{}]}"),
    "texts in metadata": spliced('"metadata":{"a":[' + '"",' * 1_000_000 + '""]}'),
    "unknown fields": spliced(",".join(f'"k{n}":1' for n in range(100_000))),
    "wrong messages": candidate(messages=[1] * 200_000),
    "empty messages": candidate(messages=[{}] * 100_000),
    "messages": candidate(messages=[{"role": "user"}] * 5_000),
    "wrong parts": assistant(content=[1] * 200_000),
    "parts": assistant(content=[{"type": "text", "text": ""}] * 5_000),
    "calls": assistant(tool_calls=[{"function": {"name": "f"}}] * 5_000),
    "wrong prompt": changed(prompt=[1] * 200_000),
    "judges": changed(judges=["alpha"] * 65),
    "very many judges": changed(judges=["alpha"] * 200_000),
    "families": candidate(text="x", family=["own"] * 9),
}


@pytest.mark.parametrize("body", MANY.values(), ids=MANY)
def test_very_many_small_things(service: RunningService, body: bytes) -> None:
    """A body within the byte limit cannot make the service work for seconds."""
    refused(service, body)


def chunks(size: int) -> Iterator[bytes]:
    """A JSON object of this size, in pieces and without a length."""
    yield b'{"rubric":"'
    for _ in range(size // 65_536):
        yield b"x" * 65_536
    yield b'"}'


@pytest.mark.parametrize("size", [5 * MIB, 20 * MIB], ids=["5 MiB", "20 MiB"])
@pytest.mark.parametrize("told", [True, False], ids=["with length", "chunked"])
def test_a_body_that_is_too_large(service: RunningService, size: int, told: bool) -> None:
    """More than 4 MiB is 413, whether the length is told or not."""
    body = b'{"rubric":"' + b"x" * size + b'"}' if told else chunks(size)

    assert refused(service, body, 413).error.code == "body_too_large"


def test_a_length_that_is_only_announced(service: RunningService) -> None:
    """A body announced as too large is refused before it is sent."""
    url = httpx.URL(service.url)
    request = (
        b"POST /v1/assess HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: 10000000000\r\n\r\n"
    )

    assert b" 413 " in exchanged(str(url.host), url.port or 80, request)


def exchanged(host: str, port: int, request: bytes) -> bytes:
    """The answer, a JSON object, to raw bytes."""
    with socket.create_connection((host, port), timeout=5) as connection:
        connection.sendall(request)
        answer = b""
        while not answer.endswith(b"}") and (piece := connection.recv(4096)):
            answer += piece
        return answer


CONTENT_TYPES = {
    "none": "",
    "text": "text/plain",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data; boundary=x",
    "other JSON": "application/problem+json",
    "prefix": "application/jsonx",
    "anything": "*/*",
    "two": "application/json, text/plain",
}


@pytest.mark.parametrize("kind", CONTENT_TYPES.values(), ids=CONTENT_TYPES)
def test_another_content_type(service: RunningService, kind: str) -> None:
    """A body is JSON and says so; the rest is 415."""
    refused(service, raw(GOOD), 415, headers={"content-type": kind})


def test_no_content_type(service: RunningService) -> None:
    """A body that does not say what it is is 415."""
    refused(service, raw(GOOD), 415, headers={})


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "zstd", "gzip, gzip", "unheard-of"])
def test_a_compressed_body(service: RunningService, coding: str) -> None:
    """Compressed bodies are 415, whatever is in them."""
    body = gzip.compress(raw(GOOD))

    refused(service, body, 415, headers={**JSON, "content-encoding": coding})


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "application/json; charset=utf-8"},
        {"content-type": "APPLICATION/JSON"},
        {**JSON, "content-encoding": "identity"},
    ],
    ids=["charset", "capitals", "identity"],
)
def test_ways_to_say_json(service: RunningService, headers: dict[str, str]) -> None:
    """Parameters and case of the content type do not matter, nor does the identity coding."""
    answer = service.http.post("/v1/assess", content=raw(GOOD), headers=headers)

    assert answer.status_code == 200


def test_the_service_is_well_afterwards(service: RunningService) -> None:
    """After all of that an ordinary request is answered as before."""
    assert service.assess()["reward"] == 0.75
