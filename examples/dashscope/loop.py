"""One step of the whole loop on this machine: rollouts, a reward for each, and a group reward.

Starts the SDK's local server three times (rollout, reward, group reward) and carries what one says
to the next, as the platform does. Needs a running judge_service and a policy (serve_policy.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

HERE = Path(__file__).resolve().parent
SERVER = "dashscope.finetune.reinforcement.component.server.server"
FUNCTIONS = {
    "rollout": "functions.rollout.ask.AskPolicy",
    "reward": "functions.reward.judge.JudgeRewardProcessor",
    "group_reward": "functions.group_reward.judge.JudgeGroupRewardProcessor",
}
START_S = 90.0


@contextmanager
def function(kind: str, port: int) -> Iterator[str]:
    """One function in the SDK's server; gives its address."""
    settings = {
        "JUDGE_SERVICE_RUBRIC": "quick-look", "JUDGE_SERVICE_TIMEOUT_S": "240",
        "FUNC_TYPE": kind, "PROCESSOR_CLASS": FUNCTIONS[kind], "SERVER_PORT": str(port),
        "WORKERS_COUNT": "1", "LOG_LEVEL": "critical",
    }  # fmt: skip
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    # What the caller has set of the judge's settings counts; which function it is does not.
    told = {n: v for n, v in os.environ.items() if n not in settings or n.startswith("JUDGE_")}
    env = {**settings, **told, "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-m", SERVER]
    # Its access log must not mix with what is printed here.
    process = subprocess.Popen(command, cwd=HERE, env=env, stdout=sys.stderr)  # noqa: S603
    url = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + START_S
        while not _healthy(url):
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"the {kind} function did not start")
            time.sleep(0.2)
        yield f"{url}/api/v1"
    finally:
        process.terminate()
        process.wait()


def _healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=2, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer of a function."""
    answer = httpx.post(url, json=body, timeout=300, trust_env=False)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def main() -> None:
    """Two rollouts of one row, their rewards, and their group's."""
    row = json.loads((HERE / "resources" / "rollout_input.json").read_text(encoding="utf-8"))
    row["model_resource"]["base_url"] = os.environ.get("POLICY_URL", "http://127.0.0.1:8081/v1")
    base = int(os.environ.get("SERVER_PORT", "8000"))
    with ExitStack() as running:
        urls = {
            kind: running.enter_context(function(kind, base + at))
            for at, kind in enumerate(FUNCTIONS)
        }
        rollouts = [post(urls["rollout"], row) for _ in range(2)]
        for rollout in rollouts:
            print("rollout:", json.dumps(rollout, ensure_ascii=False))
        # A rollout that failed is the framework's to repeat; it is not rewarded.
        outputs = [r["agent_output"] for r in rollouts if r["status"] == "success"]
        truth = row.get("ground_truth")
        for output in outputs:
            answer = post(urls["reward"], {"agent_output": output, "ground_truth": truth})
            print("reward:", json.dumps(answer, ensure_ascii=False))
        group = post(urls["group_reward"], {"agent_outputs": outputs, "ground_truth": truth})
        print("group reward:", json.dumps(group, ensure_ascii=False))


if __name__ == "__main__":
    main()
