"""What a service loads when it starts: nothing that its judges and rubrics do not need yet."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness import Judges
from tests.provider import FakeProvider

LATER = frozenset({
    "litellm", "openai", "scipy", "sklearn", "numpy", "jsonschema", "httpx", "redis", "tomlkit",
    "rich", "prometheus_client", "judge_service.text.formatting", "judge_service.text.reasoning",
    "opentelemetry.sdk", "judge_service.api.answers", "judge_service.bias.report",
    "judge_service.ranking.rank", "judge_service.watch.arl", "judge_service.injection.patterns",
})  # fmt: skip
"""What takes time and memory, and is loaded when somebody asks for it."""
LOADED = re.compile(r"import time:\s+\d+ \|\s+\d+ \|\s+(\S+)")
PAIR = [{"text": "This is good.", "family": "x"}, {"text": "That is not.", "family": "x"}]


@dataclass(frozen=True, slots=True)
class Started:
    """A service in a process of its own, which tells of every import in ``told``."""

    url: str
    told: Path

    def loaded(self) -> set[str]:
        """The modules that it has imported until now."""
        return set(LOADED.findall(self.told.read_text(encoding="utf-8")))

    def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Post a request; the answer."""
        answer = httpx.post(f"{self.url}{path}", json=body, timeout=60.0, trust_env=False)
        found: dict[str, Any] = answer.raise_for_status().json()
        return found


@contextmanager
def started(judges: Path, tmp_path: Path) -> Iterator[Started]:
    """One with the shipped rubrics, ready."""
    told = tmp_path / "told.txt"
    command = [
        sys.executable, "-X", "importtime", "-m", "judge_service.cli", "serve", "--port", "0",
        "--json", "--judges", str(judges), "--store", str(tmp_path / "store.sqlite3"),
    ]  # fmt: skip
    environ = {k: v for k, v in os.environ.items() if not k.startswith("JUDGE_SERVICE_")}
    with told.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, told.read_text(encoding="utf-8")[-2000:]
        yield Started(json.loads(line)["url"], told)
    finally:
        process.kill()
        process.communicate()


def test_a_service_starts_with_little(folder: Path, tmp_path: Path) -> None:
    """Libraries that judging may need, and models of the OpenAPI page, are not loaded before."""
    with started(folder / "judges.toml", tmp_path) as service:
        loaded = service.loaded()

    assert {"fastapi", "uvicorn", "judge_service.engine"} <= loaded
    assert loaded & LATER == set()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/v1/assess",
            {"rubric": "helpfulness", "candidate": {"text": "good " * 100, "family": "x"}},
        ),
        ("/v1/compare", {"rubric": "pairwise-helpfulness", "candidates": PAIR}),
        ("/v1/rank", {"rubric": "pairwise-helpfulness", "candidates": PAIR}),
    ],
    ids=["assess", "compare", "rank"],
)
def test_the_first_request_has_all_it_needs(
    folder: Path, tmp_path: Path, path: str, body: dict[str, Any]
) -> None:
    """What was not loaded at the start is loaded for the first who needs it."""
    with started(folder / "judges.toml", tmp_path) as service:
        answer = service.ask(path, {"prompt": "Write me a long song about Alps.", **body})

    assert answer["status"] == "success"


def test_what_is_made_after_the_start_is_there_for_all_who_ask_at_once(
    folder: Path, tmp_path: Path
) -> None:
    """Routes that no start waits for are made for the first requests, however many there are."""
    paths = ["/v1/rubrics", "/v1/rubrics/helpfulness", "/v1/bias", "/v1/drift-runs", "/v1/judges"]
    with started(folder / "judges.toml", tmp_path) as service, ThreadPoolExecutor(10) as many:
        urls = [f"{service.url}{path}" for path in paths * 2]
        answers = list(many.map(partial(httpx.get, timeout=60.0, trust_env=False), urls))
        page = httpx.get(f"{service.url}/openapi.json", timeout=60.0, trust_env=False)

    assert [answer.status_code for answer in answers] == [200] * 10
    assert {"/v1/bulk", "/v1/rubrics", "/metrics"} <= page.json()["paths"].keys()


def test_litellm_is_loaded_for_a_judge_that_needs_it(
    provider: FakeProvider, tmp_path: Path
) -> None:
    """And before the service is ready, so that no request waits for it."""
    judges = Judges(provider).add("alpha", "anthropic", model="anthropic/claude-haiku-4-5")
    with started(judges.write(tmp_path), tmp_path) as service:
        assert "litellm" in service.loaded()
