"""A service in a process of its own, full of secrets that must come out nowhere."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from judge_service.access.keys_file import key_hash, new_key, pepper_of
from tests.harness import Judges, write_rubric

JUDGE_KEY = "CANARY_JUDGE_KEY"
"""Where the judges' key stands in the environment."""
RULE = """
def check(given):
    raise RuntimeError(f"{SECRETS} {given}")
"""


def canary(word: str) -> str:
    """A secret that is like no other text."""
    return f"{word}{secrets.token_hex(12)}"


@dataclass(frozen=True, slots=True)
class Canaries:
    """What must come out nowhere (``keys``), and what must not come out in logs (``texts``)."""

    caller: str = field(default_factory=new_key)
    wrong: str = field(default_factory=new_key)
    judge: str = field(default_factory=lambda: canary("judgekey"))
    service: str = field(default_factory=lambda: canary("servicesecret"))
    redis: str = field(default_factory=lambda: canary("redispassword"))
    environment: str = field(default_factory=lambda: canary("environment"))
    prompt: str = field(default_factory=lambda: canary("prompttext"))
    candidate: str = field(default_factory=lambda: canary("candidatetext"))
    reference: str = field(default_factory=lambda: canary("referencetext"))
    metadata: str = field(default_factory=lambda: canary("metadatatext"))

    @property
    def keys(self) -> dict[str, str]:
        """The secrets by name, and the hash of the caller's key."""
        names = ("caller", "wrong", "judge", "service", "redis", "environment")
        digest = key_hash(pepper_of(self.service), self.caller)
        return {name: getattr(self, name) for name in names} | {"hash": digest}

    @property
    def texts(self) -> dict[str, str]:
        """The callers' texts by name."""
        names = ("prompt", "candidate", "reference", "metadata")
        return {name: getattr(self, name) for name in names}

    def body(self, judge: str, number: int = 0, **more: Any) -> dict[str, Any]:
        """An assessment of the texts by one judge."""
        return {
            "rubric": "quality", "prompt": f"{self.prompt} {number}?", "reference": self.reference,
            "candidate": {"text": f"{self.candidate} says.", "family": "own"}, "judges": [judge],
            "metadata": {"note": self.metadata}, **more,
        }  # fmt: skip


def found_in(data: bytes, wanted: Mapping[str, str]) -> list[str]:
    """The names of what stands in ``data``, also in part or in other case."""
    low = data.lower()
    return [name for name, value in wanted.items() if value[4:28].lower().encode() in low]


@dataclass(slots=True)
class CanaryService:
    """The running service. ``answers`` are status and bytes of all answers, headers and bodies."""

    url: str
    canaries: Canaries
    folder: Path
    process: subprocess.Popen[bytes]
    answers: list[tuple[int, bytes]] = field(default_factory=list)

    def send(self, method: str, path: str, key: str | None = None, **how: Any) -> httpx.Response:
        """The answer to a request, which is kept; with the caller's key unless another is given."""
        bearer = f"Bearer {key or self.canaries.caller}"
        headers = {"authorization": bearer} | how.pop("headers", {})
        answer = httpx.request(
            method, self.url + path, headers=headers, trust_env=False, timeout=30, **how
        )
        said = repr(answer.headers.raw).encode() + answer.content
        self.answers.append((answer.status_code, said))
        return answer

    def log(self) -> bytes:
        """What the process has said so far."""
        return (self.folder / "out").read_bytes() + (self.folder / "err").read_bytes()

    def stop(self) -> int:
        """End it as an operator does; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@contextmanager
def canary_service(
    folder: Path, judges: Judges, canaries: Canaries, redis_url: str | None = None
) -> Iterator[CanaryService]:
    """Start ``serve`` with every canary planted and the log level at its most talkative."""
    judges.write(folder)
    write_rubric(folder)
    write_rubric(folder, "broken", rules='[[rules]]\nrule = "canary_rule:check"\nhard = true\n')
    (folder / "anchors").mkdir()
    planted = f"SECRETS = {canaries.judge + ' ' + canaries.service!r}\n"
    (folder / "canary_rule.py").write_text(planted + RULE, "utf-8")
    digest = key_hash(pepper_of(canaries.service), canaries.caller)
    entry = f'[[keys]]\nname = "ann"\nsha256 = "{digest}"\nrpm = 200\ndaily_cost_usd = 100.0\n'
    (folder / "keys.toml").write_text(entry, "utf-8")
    named = {
        "JUDGES": folder / "judges.toml", "RUBRICS_DIR": folder / "rubrics",
        "ANCHORS_DIR": folder / "anchors", "API_KEYS_FILE": folder / "keys.toml",
        "STORE": folder / "state" / "store.sqlite3", "SECRET": canaries.service,
        "LOG_LEVEL": "debug", "RULE_MODULES": "canary_rule", "PORT": "0",
    } | ({} if redis_url is None else {"REDIS_URL": redis_url})  # fmt: skip
    environ = {
        **{name: value for name, value in os.environ.items() if "JUDGE_SERVICE" not in name},
        **{f"JUDGE_SERVICE_{name}": str(value) for name, value in named.items()},
        JUDGE_KEY: canaries.judge, "OTHER_PROVIDER_API_KEY": canaries.environment,
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path[1:]]), "NO_COLOR": "1",
    }  # fmt: skip
    command = [sys.executable, "-m", "judge_service.cli", "serve", "--json"]
    with (folder / "err").open("wb") as err, (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=err
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            out.write(line)
            out.flush()
            assert line, (folder / "err").read_text("utf-8")
            yield CanaryService(json.loads(line)["url"], canaries, folder, process)
        finally:
            process.kill()
            process.communicate()
