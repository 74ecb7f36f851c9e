"""Runs one example from beginning to end on this machine, and stops all it started.

``make example-dashscope``, ``make example-trl`` and ``make example-drift`` call it. The service
runs on its embedded judge, so no key and no network is needed; its verdicts are for trying out.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parent / "clients" / "src"
STOP_S = 30.0


@contextmanager
def running(command: Sequence[str], **more: str) -> Iterator[str]:
    """A process while the block lasts; gives the first line it prints."""
    process = subprocess.Popen(  # noqa: S603 - a command of ours
        command, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise SystemExit(f"it did not start: {' '.join(command)}")
        yield line
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def service() -> Iterator[str]:
    """A judge_service on a free port with its embedded judge; gives its address."""
    command = [sys.executable, "-m", "judge_service.cli", "serve", "--json", "--port", "0"]
    with running([*command, "--embedded-judge", "--log-level", "warning"]) as line:
        url: str = json.loads(line)["url"]
        yield url


def call(command: Sequence[str], where: Path, settings: Mapping[str, str]) -> None:
    """Run a command to its end; what it prints is the example's. Exits where it fails."""
    path = os.pathsep.join(filter(None, [str(CLIENT), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, **settings, "PYTHONPATH": path}
    code = subprocess.run(command, cwd=where, env=env, check=False).returncode  # noqa: S603
    if code:
        raise SystemExit(code)


def dashscope() -> None:
    """Rollouts, their rewards and their group's, each in the SDK's own server."""
    policy_port, first = (str(port) for port in free_ports(2))
    with ExitStack() as stack:
        url = stack.enter_context(service())
        policy = [sys.executable, "serve_policy.py"]
        os.chdir(HERE / "dashscope")
        print(stack.enter_context(running(policy, POLICY_PORT=policy_port)), end="", flush=True)
        settings = {
            "JUDGE_SERVICE_URL": url,
            "POLICY_URL": f"http://127.0.0.1:{policy_port}/v1",
            "SERVER_PORT": first,
        }
        call([sys.executable, "loop.py"], HERE / "dashscope", settings)


def trl() -> None:
    """GRPO steps of a tiny model. TRL_PYTHON names the Python that has torch and TRL."""
    python = os.environ.get("TRL_PYTHON", sys.executable)
    with service() as url:
        call([python, "-W", "ignore", "train.py"], HERE / "trl_grpo", {"JUDGE_SERVICE_URL": url})


def free_ports(count: int) -> Iterator[int]:
    """Ports of which the three that follow are free as well, most likely."""
    for _ in range(count):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            yield found.getsockname()[1]


EXAMPLES = {"dashscope": dashscope, "trl": trl}


def main() -> None:
    """Run the example named on the command line."""
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in EXAMPLES:
        raise SystemExit(f"usage: run.py {'|'.join(EXAMPLES)}")
    started = time.monotonic()
    EXAMPLES[name]()
    print(f"done in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
