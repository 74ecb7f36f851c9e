"""The SDK's own server in a process of its own, with one processor, as the platform runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.polling import until
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[3]
PYTHONPATH = [ROOT / "clients" / "src", ROOT / "examples" / "dashscope", ROOT]
START_S = 90.0
SERVER = "dashscope.finetune.reinforcement.component.server.server"
REWARD = "judge_client.dashscope.JudgeRewardProcessor"
GROUP = "judge_client.dashscope.JudgeGroupRewardProcessor"


@dataclass(frozen=True, slots=True)
class SdkServer:
    """A server that answers on ``url``."""

    url: str
    http: httpx.Client

    def ask(self, body: object) -> dict[str, Any]:
        """The answer to a body, which must be HTTP 200."""
        answer = self.http.post("/api/v1", json=body)
        assert answer.status_code == 200, answer.text[:500]
        data: dict[str, Any] = answer.json()
        return data

    def reward(self, messages: object, **more: Any) -> dict[str, Any]:
        """The answer for one agent output; ``output`` adds fields to it."""
        output = {"messages": messages, **more.pop("output", {})}
        return self.ask({"func_type": "reward", "agent_output": output, **more})

    def group(self, answers: Sequence[object], **more: Any) -> dict[str, Any]:
        """The answer for a group of texts."""
        outputs = [{"messages": turns(answer)} for answer in answers]
        return self.ask({"func_type": "group_reward", "agent_outputs": outputs, **more})


def turns(answer: object, question: str = "A question?") -> list[dict[str, Any]]:
    """A conversation of one question and one answer."""
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


def environment(
    settings: Mapping[str, str], processor: str, kind: str, port: int
) -> dict[str, str]:
    """A clean environment: nothing of whoever runs the tests but the path."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(map(str, PYTHONPATH)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "FUNC_TYPE": kind,
        "PROCESSOR_CLASS": processor,
        "SERVER_PORT": str(port),
        "WORKERS_COUNT": "1",
        "LOG_LEVEL": "critical",
        "NO_PROXY": "127.0.0.1",
        **{f"JUDGE_SERVICE_{name}": value for name, value in settings.items()},
    }


def start(
    processor: str, kind: str, settings: Mapping[str, str], extra: Mapping[str, str], cwd: Path
) -> tuple[subprocess.Popen[bytes], int]:
    """Start the server; returns its process and its port."""
    port = free_port()
    env = {**environment(settings, processor, kind, port), **extra}
    command = [sys.executable, "-m", SERVER]
    if env["WORKERS_COUNT"] != "1":
        # The same server by its other documented way, in which a busy machine has time to import.
        command = [
            sys.executable, "-m", "uvicorn", f"{SERVER}:app", "--port", str(port),
            "--workers", env["WORKERS_COUNT"], "--timeout-worker-healthcheck", "60",
        ]  # fmt: skip
    process = subprocess.Popen(
        command, env=env, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    return process, port


@contextmanager
def serving(
    processor: str,
    kind: str,
    settings: Mapping[str, str],
    cwd: Path,
    extra: Mapping[str, str] | None = None,
    start_s: float = START_S,
) -> Iterator[SdkServer]:
    """A server until the block ends."""
    process, port = start(processor, kind, settings, extra or {}, cwd)
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
            _wait(process, http, start_s)
            yield SdkServer(url, http)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _wait(process: subprocess.Popen[bytes], http: httpx.Client, start_s: float) -> None:
    def answers() -> bool:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        try:
            return http.get("/health", timeout=2).status_code == 200
        except httpx.TransportError:
            return False

    until(answers, "the server did not start", start_s)
