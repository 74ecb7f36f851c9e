"""A service with a keys file, for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from judge_service.access.keys_file import key_hash, pepper_of
from judge_service.settings import Settings
from tests.harness import Judges, RunningService, serve, toml_value, write_rubric
from tests.provider import FakeProvider

SECRET = "a service secret for tests"
PRICE = {"input": 100.0, "output": 0.0}
"""Dollars per million tokens; the provider's questions have 900, so one costs 0.09."""
COST = 0.09


def entry(name: str, key: str, **fields: object) -> str:
    """A ``[[keys]]`` table for the service secret of these tests."""
    told = {"name": name, "sha256": key_hash(pepper_of(SECRET), key), "tenant": name, **fields}
    lines = [f"{field} = {toml_value(value)}" for field, value in told.items()]
    return "\n".join(["[[keys]]", *lines, ""])


@dataclass(frozen=True, slots=True)
class Keyed:
    """A running service, its keys file and the provider of its judge."""

    service: RunningService
    provider: FakeProvider
    keys: Path

    def assess(
        self, key: str, text: str = "An answer.", headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> httpx.Response:  # fmt: skip
        """The answer to an assessment in the name of a key."""
        body = {
            "rubric": "quality", "prompt": "A question?",
            "candidate": {"text": text, "family": "own"}, **fields,
        }  # fmt: skip
        return self.post("/v1/assess", key, body, headers)

    def post(
        self, path: str, key: str, body: object, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """The answer to a POST in the name of a key."""
        sent = {"authorization": f"Bearer {key}", **(headers or {})}
        return self.service.http.post(path, json=body, headers=sent)


@contextmanager
def keyed(folder: Path, *entries: str, **settings: Any) -> Iterator[Keyed]:
    """A service with these entries in its keys file, and a judge that costs something."""
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    (folder / "anchors").mkdir(exist_ok=True)
    keys = folder / "keys.toml"
    keys.write_text("\n".join(entries), encoding="utf-8")
    with FakeProvider() as provider:
        provider.oracle(lambda _: 4)
        made = Settings(
            judges=Judges(provider).add("alpha", price=PRICE).write(folder),
            rubrics_dir=folder / "rubrics",
            anchors_dir=folder / "anchors",
            api_keys_file=keys,
            secret=SECRET,
            **settings,
        )
        with serve(made) as service:
            yield Keyed(service, provider, keys)
