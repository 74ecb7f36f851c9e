"""Requests that no well-behaved client sends, as bytes."""

from __future__ import annotations

import gzip
import json

MIB = 1024 * 1024
BODY = {
    "rubric": "quality",
    "prompt": "Question 0?",
    "candidate": {"text": "An answer.", "family": "nobody"},
    "timeout_s": 5,
}
GOOD = json.dumps(BODY).encode()
TYPE = b"Content-Type: application/json\r\n"
HOST = b"Host: x\r\n"


def post(
    body: bytes, *, more: bytes = b"", path: bytes = b"/v1/assess", length: bytes | None = None
) -> bytes:
    """A POST with one well-formed head around whatever is given."""
    told = b"Content-Length: " + (str(len(body)).encode() if length is None else length)
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + TYPE + told + b"\r\n" + more + b"\r\n" + body


def get(path: bytes = b"/healthz", *, more: bytes = b"", host: bytes = HOST) -> bytes:
    """A GET."""
    return b"GET " + path + b" HTTP/1.1\r\n" + host + more + b"\r\n"


def spliced(member: bytes) -> bytes:
    """A good body with one more member."""
    return GOOD[:-1] + b"," + member + b"}"


def changed(**fields: object) -> bytes:
    """A good body with other fields."""
    return json.dumps({**BODY, **fields}).encode()


SMUGGLED = get(b"/v1/rubrics")
CHUNKED = b"Transfer-Encoding: chunked\r\n"
BODIES = {
    "NaN": spliced(b'"timeout_s":NaN'),
    "Infinity": spliced(b'"metadata":{"a":Infinity}'),
    "1e999": spliced(b'"metadata":{"a":1e999}'),
    "inf as a word": changed(timeout_s="inf"),
    "5,000 digits": spliced(b'"metadata":{"a":' + b"9" * 5000 + b"}"),
    "lone surrogate": changed(prompt="\ud800"),
    "raw surrogate": GOOD.replace(b"An answer.", b"\xed\xa0\x80"),
    "overlong UTF-8": GOOD.replace(b"An answer.", b"\xc0\xaf"),
    "UTF-16": json.dumps(BODY).encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "NUL in the rubric": changed(rubric="qual\0ity"),
    "NUL in the text": changed(candidate={"text": "a\0b", "family": "nobody"}),
    "terminal controls": changed(prompt="\x1b]8;;http://x\x07\x1b[2J"),
    "1,000 levels": b"[" * 1000 + b"]" * 1000,
    "100,000 levels": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "100,000 open brackets": b"[" * 100_000,
    "duplicate keys": spliced(b'"rubric":"pair"'),
    "empty": b"",
    "null": b"null",
    "list": b"[]",
    "cut": GOOD[:40],
    "two documents": GOOD + GOOD,
    "api_base": changed(api_base="http://169.254.169.254/"),
    "api_base in the candidate": changed(candidate={"text": "x", "api_base": "http://x/"}),
    "model_list": changed(model_list=[{"model": "x"}], mock_response="5", extra_headers={}),
    "path as rubric": changed(rubric="../../etc/passwd"),
    "long rubric": changed(rubric="x" * 300),
    "device as rubric": changed(rubric="con"),
    "a million values": spliced(b'"metadata":{"a":[' + b"1," * 1_000_000 + b"1]}"),
    "20 MB": b'{"rubric":"' + b"x" * 20 * MIB + b'"}',
    "panel of 10^30": changed(panel_size=10**30),
    "negative time": changed(timeout_s=-1),
    "time of no time": changed(timeout_s=0),
    "deep messages": changed(candidate={"messages": [{"role": "assistant", "content": [[[1]]]}]}),
    "no candidate": changed(candidate=None),
    "regular-expression bait": changed(prompt="a" * 50_000 + "!", candidate={"text": "<" * 60_000}),
    "think bait": changed(candidate={"text": "<think>" * 20_000, "family": "nobody"}),
    "emoji and marks": changed(candidate={"text": "e\u0301" * 1900, "family": "nobody"}),
}
"""Bodies with a well-formed head."""

HEADS = {
    "length and chunks": post(b"0\r\n\r\n" + SMUGGLED, more=CHUNKED, length=b"5"),
    "chunks and length": (
        b"POST /v1/assess HTTP/1.1\r\n" + HOST + TYPE + CHUNKED + b"Content-Length: 5\r\n\r\n"
        b"0\r\n\r\n" + SMUGGLED
    ),
    "two lengths": post(b"{}" + SMUGGLED, more=b"Content-Length: 0\r\n"),
    "signed length": post(GOOD, length=b"+5"),
    "negative length": post(GOOD, length=b"-1"),
    "endless length": post(GOOD, length=b"9" * 400),
    "length with a list": post(GOOD, length=b"5, 5"),
    "odd coding": post(GOOD, more=b"Transfer-Encoding: chunked, identity\r\n"),
    "coding by a trick": post(GOOD, more=b"Transfer-Encoding:\x0bchunked\r\n"),
    "coding with a space": post(GOOD, more=b"Transfer-Encoding : chunked\r\n"),
    "bad chunk size": (
        b"POST /v1/assess HTTP/1.1\r\n" + HOST + TYPE + CHUNKED + b"\r\nzz\r\n{}\r\n0\r\n\r\n"
    ),
    "huge chunk size": (
        b"POST /v1/assess HTTP/1.1\r\n" + HOST + TYPE + CHUNKED + b"\r\n" + b"f" * 40 + b"\r\n{}"
    ),
    "chunk extension flood": (
        b"POST /v1/assess HTTP/1.1\r\n"
        + HOST
        + TYPE
        + CHUNKED
        + b"\r\n2;"
        + b"a" * (2 * MIB)
        + b"\r\n{}\r\n0\r\n\r\n"
    ),
    "trailer flood": (
        b"POST /v1/assess HTTP/1.1\r\n"
        + HOST
        + TYPE
        + CHUNKED
        + b"\r\n2\r\n{}\r\n0\r\n"
        + b"X-T: y\r\n" * 200_000
        + b"\r\n"
    ),
    "no host": get(host=b""),
    "two hosts": get(host=HOST + HOST),
    "host with a path": get(b"/v1/rubrics", host=b"Host: x/y?z#\r\n"),
    "host with a space": get(host=b"Host: x y\r\n"),
    "empty host": get(host=b"Host: \r\n"),
    "long header": get(more=b"X-Long: " + b"a" * (20 * MIB) + b"\r\n"),
    "100,000 headers": get(more=b"X-H: a\r\n" * 100_000),
    "header without a name": get(more=b": a\r\n"),
    "NUL in a header": get(more=b"X-N: a\0b\r\n"),
    "folded header": get(more=b"X-F: a\r\n b\r\n"),
    "bare line feeds": b"GET /healthz HTTP/1.1\nHost: x\n\n",
    "bare carriage return": b"GET /healthz HTTP/1.1\r\nHost: x\rX: y\r\n\r\n",
    "space before the colon": get(more=b"X-S : a\r\n"),
    "latin letters in a header": get(more=b"X-L: \xff\xfe\r\n"),
    "long path": get(b"/" + b"a" * (2 * MIB)),
    "NUL in the path": get(b"/v1/rubrics/%00"),
    "raw NUL in the path": get(b"/v1/\0"),
    "path up": get(b"/v1/rubrics/..%2f..%2fetc%2fpasswd"),
    "half an escape": get(b"/v1/rubrics/%f"),
    "not UTF-8": get(b"/v1/rubrics/%ff%fe"),
    "absolute form": get(b"http://169.254.169.254/latest"),
    "CONNECT": b"CONNECT 169.254.169.254:80 HTTP/1.1\r\n" + HOST + b"\r\n",
    "TRACE": b"TRACE / HTTP/1.1\r\n" + HOST + b"\r\n",
    "long method": b"A" * 100_000 + b" / HTTP/1.1\r\n" + HOST + b"\r\n",
    "method with odd letters": b"G(T / HTTP/1.1\r\n" + HOST + b"\r\n",
    "HTTP/0.9": b"GET /healthz\r\n\r\n",
    "HTTP/9.9": b"GET /healthz HTTP/9.9\r\n" + HOST + b"\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 600,
    "websocket": get(
        b"/v1/assess",
        more=b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
    ),
    "HTTP/2 upgrade": get(more=b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"),
    "expect": post(GOOD, more=b"Expect: 100-continue\r\n"),
    "odd expect": post(GOOD, more=b"Expect: 200-ok\r\n"),
    "gzip": post(gzip.compress(b"0" * (50 * MIB)), more=b"Content-Encoding: gzip\r\n"),
    "ranges": get(b"/v1/rubrics", more=b"Range: bytes=" + b"0-," * 5000 + b"0-\r\n"),
    "odd request id": get(more=b"X-Request-ID: a\x1b[2J\r\n"),
    "long request id": get(more=b"X-Request-ID: " + b"a" * 7000 + b"\r\n"),
    "odd time": post(GOOD, more=b"X-Request-Timeout-Ms: NaN\r\n"),
    "long key": get(b"/v1/rubrics", more=b"Authorization: Bearer " + b"k" * 7000 + b"\r\n"),
    "two keys": get(b"/v1/rubrics", more=b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
    "key of no letters": get(b"/v1/rubrics", more=b"Authorization: Bearer \xff\r\n"),
    "token in the query": get(b"/v1/rubrics?token=abc"),
    "cookies": get(more=b"Cookie: " + b"a=b; " * 1500 + b"\r\n"),
    "no bytes of a request": b"\0" * 5000,
    "blank lines": b"\r\n" * 5000,
    "20 MB of noise": b"\xa5" * (20 * MIB),
}
"""Requests with something wrong around the body."""

NO_SECOND_ANSWER = ("length and chunks", "chunks and length", "two lengths")
"""What follows these must not be taken for a request of its own."""
REFUSED = ("length and chunks", "chunks and length", "two lengths", "no host", "two hosts",
           "long header", "100,000 headers", "negative length", "coding with a space",
           "header without a name", "bad chunk size", "long path")  # fmt: skip
"""These must not be answered as if nothing were wrong."""

SLOW = {
    "half a request line": b"GET /heal",
    "half a head": b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ",
    "half a body": b"POST /v1/assess HTTP/1.1\r\n" + HOST + TYPE + b'Content-Length: 100\r\n\r\n{"',
    "half a chunk": b"POST /v1/assess HTTP/1.1\r\n" + HOST + TYPE + CHUNKED + b"\r\n64\r\n{",
    "nothing at all": b"",
}
"""What is begun and never ended."""
