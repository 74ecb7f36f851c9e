"""A real service for tests: the app behind uvicorn, its judges on the fake provider."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from judge_service.api.app import create_app
from judge_service.api.door import DoorLimits, door_options
from judge_service.gates.gates import Gates
from judge_service.settings import Settings
from tests.polling import WITHIN_S, comes
from tests.provider import FakeProvider

RUBRIC = """
id = "{id}"
version = "1"
description = "A rubric for tests."
kind = "{kind}"
{top}
{criteria}
{rules}
{length}
[judging]
{judging}
"""

CRITERION = """
[[criteria]]
name = "quality"
weight = 1.0
question = "How good is the answer?"
scale = [
  {point = 1, means = "wrong"},
  {point = 2, means = "mostly wrong"},
  {point = 3, means = "half right"},
  {point = 4, means = "mostly right"},
  {point = 5, means = "right"},
]
"""

PAIR_CRITERION = """
[[criteria]]
name = "quality"
question = "Which answer is better?"
"""


@dataclass(slots=True)
class Judges:
    """A ``judges.toml`` in the making: every judge lives on the fake provider."""

    provider: FakeProvider
    tables: list[str] = field(default_factory=list)

    def add(self, judge_id: str, family: str | None = None, **more: object) -> Judges:
        """One more judge; the model asked for is ``openai/<id>`` unless ``model`` is given."""
        fields: dict[str, object] = {
            "id": judge_id,
            "model": f"openai/{judge_id}",
            "family": family or judge_id,
            "api_base": self.provider.base_url,
            **more,
        }
        lines = [f"{name} = {toml_value(value)}" for name, value in fields.items() if value != ""]
        self.tables.append("[[judges]]\n" + "\n".join(lines))
        return self

    def write(self, folder: Path) -> Path:
        """Write the file; returns its path."""
        file = folder / "judges.toml"
        file.write_text("\n\n".join(self.tables), encoding="utf-8")
        return file


def toml_value(value: object) -> str:
    """A TOML literal."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        # JSON's escapes are TOML's, too.
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k} = {toml_value(v)}" for k, v in value.items()) + "}"
    assert isinstance(value, Sequence)
    return "[" + ", ".join(toml_value(v) for v in value) + "]"


def write_rubric(
    folder: Path,
    rubric_id: str = "quality",
    *,
    kind: str = "assess",
    criteria: str | None = None,
    rules: str = "",
    length: str = "",
    top: str = "",
    **judging: object,
) -> Path:
    """Write a rubric of one 1-to-5 criterion (or a pair's question); returns its folder."""
    rubrics = folder / "rubrics"
    rubrics.mkdir(exist_ok=True)
    if criteria is None:
        criteria = CRITERION if kind == "assess" else PAIR_CRITERION
    text = RUBRIC.format(
        id=rubric_id,
        kind=kind,
        top=top,
        criteria=criteria,
        rules=rules,
        length=length,
        judging="\n".join(f"{k} = {toml_value(v)}" for k, v in judging.items()),
    )
    (rubrics / f"{rubric_id}.toml").write_text(text, encoding="utf-8")
    return rubrics


_asked = itertools.count(1)


def new_prompt() -> str:
    """A prompt that nobody has asked about before, so that no verdict on it is in a cache."""
    return f"Question {next(_asked)}?"


@dataclass(frozen=True, slots=True)
class RunningService:
    """A service that answers on ``url``."""

    url: str
    http: httpx.Client

    def assess(self, candidate: object = "An answer.", **more: Any) -> dict[str, Any]:
        """The answer to an assessment of a text or a candidate object."""
        body = {"rubric": "quality", "prompt": new_prompt(), "candidate": _candidate(candidate)}
        return self.post("/v1/assess", {**body, **more})

    def compare(self, first: object, second: object, **more: Any) -> dict[str, Any]:
        """The answer to a comparison of two texts or candidate objects."""
        pair = [_candidate(first), _candidate(second)]
        body = {"rubric": "pair", "prompt": new_prompt(), "candidates": pair}
        return self.post("/v1/compare", {**body, **more})

    def post(self, path: str, body: object) -> dict[str, Any]:
        """The JSON answer of a POST that must be HTTP 200."""
        answer = self.http.post(path, json=body)
        assert answer.status_code == 200, answer.text[:500]
        data: dict[str, Any] = answer.json()
        return data


def _candidate(given: object) -> object:
    return {"text": given, "family": "candidate-family"} if isinstance(given, str) else given


class _Client(httpx.Client):
    """Its answers are given when the service is through with the request, too: log lines and
    metrics are made before the last byte, but a span ends behind it, and is looked for in this
    process. ``loop`` is the service's.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, **settings: Any) -> None:
        super().__init__(**settings)
        self._loop = loop

    def send(self, request: httpx.Request, **how: Any) -> httpx.Response:
        """The answer. AssertionError where the service's loop is blocked behind it; where the
        service has stopped meanwhile there is nothing to wait for.
        """
        answer = super().send(request, **how)
        through = threading.Event()
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(through.set)
            came = through.wait(WITHIN_S)
            assert came or self._loop.is_closed(), "the service's loop is blocked"
        return answer


@contextmanager
def serve(
    settings: Settings,
    environ: Mapping[str, str] | None = None,
    *,
    door: DoorLimits | None = None,
    breaker: bool = True,
    plain: bool = False,
) -> Iterator[RunningService]:
    """Run the service in a thread on a free port until the block ends; ``plain`` behind uvicorn as
    it comes.

    Without ``breaker`` its judges are asked however often they fail: for tests that let one judge
    fail in every way there is.
    """
    config = uvicorn.Config(
        create_app(settings, environ or {}),
        **({} if plain else door_options(door)),
        host="127.0.0.1",
        port=0,
        log_level="warning",
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            server.run()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - reported by the assertion below
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    with pytest.MonkeyPatch.context() as patch:
        if not breaker:
            patch.setattr("judge_service.service.Gates", partial(Gates, breaker_calls=1_000_000))
        thread.start()
        comes(lambda: server.started or not thread.is_alive())
    assert server.started, f"the service did not start: {failed}"
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    try:
        loop = server.servers[0].get_loop()
        with _Client(loop, base_url=url, timeout=60.0, trust_env=False) as http:
            yield RunningService(url, http)
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        assert not thread.is_alive(), "the service did not stop"


@contextmanager
def judged_by(
    judges: Judges, folder: Path, *, breaker: bool = True, **settings: Any
) -> Iterator[RunningService]:
    """A service over ``folder/rubrics`` (the shipped ones where that is missing)."""
    rubrics = folder / "rubrics"
    own: dict[str, Any] = {}
    if rubrics.is_dir():
        anchors = folder / "anchors"
        anchors.mkdir(exist_ok=True)
        own = {"rubrics_dir": rubrics, "anchors_dir": anchors}
    chosen = Settings(judges=judges.write(folder), **{**own, **settings})
    with serve(chosen, breaker=breaker) as service:
        yield service
