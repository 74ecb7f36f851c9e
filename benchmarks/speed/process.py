"""``judge-service serve`` as a process of its own, from its start to its first ready answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from benchmarks.faults.stage import ROOT, SECRET

OPENAI = 'model = "hosted_vllm/Qwen/Qwen3-32B"'
"""A judge that is asked directly."""
LITELLM = 'model = "anthropic/claude-haiku-4-5"'
"""A judge for which LiteLLM is needed."""
_BYTECODE = Path(tempfile.gettempdir()) / "judge-service-speed-bytecode"
"""Both sides are compiled here in a first round, whatever the environment says of bytecode."""


@dataclass(frozen=True, slots=True)
class Started:
    """A service that is ready: seconds it took, its main process and what it has loaded."""

    seconds: float
    cpu_s: float
    rss_mb: float


def _environ() -> dict[str, str]:
    left_out = ("JUDGE_SERVICE_", "PYTHONDONTWRITEBYTECODE")
    environ = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
    return environ | {"PYTHONPYCACHEPREFIX": str(_BYTECODE)}


@contextmanager
def _folder(judge: str) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="speed-") as name:
        judges = Path(name) / "judges.toml"
        judges.write_text(
            f'[[judges]]\nid = "one"\n{judge}\napi_base = "http://127.0.0.1:9/v1"\n'
            'api_key_env = "SPEED_KEY"\nfamily = "one"\n',
            encoding="utf-8",
        )
        yield _environ() | {
            "SPEED_KEY": "none",
            "JUDGE_SERVICE_JUDGES": str(judges),
            "JUDGE_SERVICE_STORE": str(Path(name) / "store.sqlite3"),
            "JUDGE_SERVICE_SECRET": SECRET,
            "JUDGE_SERVICE_PORT": "0",
        }


def start(judge: str, *, idle_s: float = 0.0) -> Started:
    """Start a service with one judge, wait until it is ready, and stop it; what it has loaded is
    measured ``idle_s`` later.

    Raises RuntimeError where it does not start.
    """
    command = [sys.executable, "-m", "judge_service.cli", "serve", "--json"]
    # The client reads certificates when it is made, which is not the service's time.
    with _folder(judge) as environ, httpx.Client(trust_env=False) as http:
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=ROOT, env=environ, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("the service did not start")
            http.get(f"{json.loads(line)['url']}/readyz").raise_for_status()
            seconds = time.monotonic() - began
            seen = psutil.Process(process.pid)
            times = seen.cpu_times()
            time.sleep(idle_s)
            rss_mb = seen.memory_info().rss / 1e6
            return Started(seconds, times.user + times.system, rss_mb)
        finally:
            process.terminate()
            process.communicate(timeout=60)


def imported(modules: str) -> Started:
    """Import modules in a fresh interpreter: what that alone takes."""
    code = f"import {modules}, os, json; print(json.dumps(os.times()[:2]))"
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env=_environ(), check=True, capture_output=True, text=True,
    )  # fmt: skip
    return Started(time.monotonic() - began, sum(json.loads(done.stdout)), 0.0)
