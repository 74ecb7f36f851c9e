"""Whatever stands where the service should be: no trainer's module makes a number of it."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from judge_client import transport

from tests.clients.every_trainer import MODULES
from tests.clients.stand_in import HTML, SUCCESS, Got, StandIn, Told

TIMEOUT_S = 0.4
RIGHT: dict[str, Any] = {**SUCCESS, "outcome": "first", "preference": 1.0}
Answer = Callable[[Got], Told]


def size_of(asked: dict[str, Any]) -> int:
    """How many candidates are asked about."""
    return len(asked.get("candidates", [None]))


def answer(got: Got, outcome: Callable[[int], Any]) -> dict[str, Any]:
    """The body of an answer, whose every outcome is made for a number of candidates."""
    if "items" in got.body:
        return {"results": [outcome(size_of(item)) for item in got.body["items"]]}
    made: dict[str, Any] = outcome(size_of(got.body))
    return made


def right(size: int) -> dict[str, Any]:
    """An outcome of any kind."""
    entries = [{"status": "success", "reward": 0.75}] * size
    return {**RIGHT, "rewards": [0.75] * size, "candidates": entries, "group": {}, "rank": 1}


def well(got: Got) -> Told:
    """What the service would say."""
    return Told(body=answer(got, right))


def every(**wrong: Any) -> Answer:
    """Outcomes with these fields in the place of the right ones."""
    return lambda got: Told(body=answer(got, lambda size: {**right(size), **wrong}))


def worth(value: Any) -> Answer:
    """Outcomes with this in the place of a number."""

    def outcome(size: int) -> dict[str, Any]:
        return {**right(size), "reward": value, "rewards": [value] * size, "preference": value}

    return lambda got: Told(body=answer(got, outcome))


def text(change: Callable[[bytes], bytes], **headers: str) -> Answer:
    """The right answer with its bytes changed."""
    return lambda got: Told(
        body=change(json.dumps(answer(got, right)).encode()),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def always(told: Told) -> Answer:
    """The same, whatever is asked."""
    return lambda got: told


def results(change: Callable[[list[Any]], Any]) -> Answer:
    """Another list of outcomes; where one outcome is asked for, that list instead of it."""

    def script(got: Got) -> Told:
        body = answer(got, right)
        if "results" in body:
            return Told(body={**body, "results": change(body["results"])})
        return Told(body=change([body]))

    return script


def rewards(change: Callable[[list[float]], Any]) -> Answer:
    """Another list of rewards; no reward where one alone is asked for."""

    def outcome(size: int) -> dict[str, Any]:
        return {**right(size), "rewards": change([0.75] * size), "reward": None, "preference": 0.5}

    return lambda got: Told(body=answer(got, outcome))


GARBAGE: dict[str, Answer] = {
    # Another server.
    "a page": always(Told(body=HTML)),
    "a page, 404": always(Told(status=404, body=HTML)),
    "a page, 502": always(Told(status=502, body=HTML)),
    "a gateway's JSON": always(Told(status=403, body={"message": "no", "code": 403})),
    "nothing": always(Told(body=b"")),
    "no content": always(Told(status=204, body=b"")),
    "created": lambda got: Told(status=201, body=answer(got, right)),
    "a redirect": always(Told(status=307, body=b"", headers={"Location": "/v1/elsewhere"})),
    "hangs up": always(Told(drop=True)),
    "silence": always(Told(body=b"", hold_s=90.0)),
    "a drip": lambda got: Told(body=answer(got, right), drip_s=2.0),
    # Bytes that are no answer.
    "cut off": text(lambda body: body[:-7]),
    "cut off in time": lambda got: Told(body=json.dumps(answer(got, right))[:40].encode()),
    "twice": text(lambda body: body + body),
    "an event stream": text(lambda body: b"data: " + body + b"\n\n"),
    "UTF-16": text(lambda body: body.decode().encode("utf-16")),
    "no UTF-8": text(lambda body: body.replace(b"success", b"succ\xffss")),
    "deep": always(Told(body=b'{"status":' + b"[" * 200_000)),
    "said to be gzip": text(lambda body: body, content_encoding="gzip"),
    "a bomb": text(lambda body: gzip.compress(b" " * 2_000_000 + body), content_encoding="gzip"),
    # JSON that is no answer.
    "null": always(Told(body=None)),
    "a list": always(Told(body=[])),
    "an empty object": always(Told(body={})),
    "an error, 200": always(Told(body={"error": {"code": "x", "message": "y"}})),
    # No number.
    "no reward": worth(None),
    "a text": worth("0.75"),
    "true": worth(True),
    "false": worth(False),
    "a list for a number": worth([0.75]),
    "below 0": worth(-0.01),
    "above 1": worth(1.01),
    "endless digits": worth(10**400),
    "NaN": text(lambda body: body.replace(b"0.75", b"NaN").replace(b"1.0,", b"NaN,")),
    "Infinity": text(lambda body: body.replace(b"0.75", b"Infinity").replace(b"1.0,", b"NaN,")),
    "1e999": text(lambda body: body.replace(b"0.75", b"1e999").replace(b"1.0,", b"1e999,")),
    # Outcomes that contradict themselves.
    "failed, with a number": every(status="failed"),
    "no status": every(status=None),
    "another status": every(status="ok"),
    "a status that is a list": every(status=["success"]),
    "a success with an error": every(error={"code": "timeout", "message": "", "retryable": True}),
    "metrics that say failed": every(metrics={"judge_failed": 1.0}),
    "metrics that are texts": every(metrics={"judge_failed": "0"}),
    "metrics that are none": every(metrics=[0.0]),
    # Too many, too few.
    "no results": results(lambda made: []),
    "results that are an object": results(lambda made: {str(n): one for n, one in enumerate(made)}),
    "one result too many": results(lambda made: [*made, made[0]]),
    "one result too few": results(lambda made: made[1:]),
    "results that are null": results(lambda made: [None] * len(made)),
    "one reward too many": rewards(lambda made: [*made, 0.75]),
    "one reward too few": rewards(lambda made: made[1:]),
    "rewards that are an object": rewards(lambda made: dict(enumerate(made))),
}


ONE_OF_A_KIND = (
    "a page", "a page, 404", "hangs up", "silence", "cut off", "a bomb", "null", "true", "NaN",
    "failed, with a number", "metrics that say failed", "one result too few", "one reward too few",
)  # fmt: skip
"""Garbage for the trainers' modules, which all read by the client's; the client gets everything."""


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A small limit for answers; and whatever stood for a trainer is gone afterwards."""
    monkeypatch.setattr(transport, "MAX_ANSWER_BYTES", 1_000_000)
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        if name.startswith(("verl", "areal", "nemo_gym", "torch", "judge_client._")):
            sys.modules.pop(name)
    for name in ("judge_client._verl.manager", "judge_client._areal.workflow"):
        sys.modules.pop(name, None)
    sys.modules.pop("judge_client.nemo_gym.server", None)


@pytest.mark.parametrize("name", MODULES)
def test_garbage_is_no_number_and_no_hang(name: str) -> None:
    """A right answer is a number; for whatever else comes, the module says in its trainer's words
    that there is no verdict, in about its time. All kinds of garbage are met at once.
    """
    module = MODULES[name]
    with StandIn() as stand_in:
        stand_in.script = well
        assert len(module(stand_in, 20.0)) >= 1, "what is asked here can be answered"

    def trained_on(garbage: str) -> list[float]:
        with StandIn() as stand_in:
            stand_in.script = GARBAGE[garbage]
            return list(module(stand_in, TIMEOUT_S))

    kinds = list(GARBAGE) if name.startswith("client") else list(ONE_OF_A_KIND)
    began = time.monotonic()
    with ThreadPoolExecutor(16) as threads:
        found = dict(zip(kinds, threads.map(trained_on, kinds), strict=True))

    assert {garbage: numbers for garbage, numbers in found.items() if numbers} == {}
    assert time.monotonic() - began < 80.0
