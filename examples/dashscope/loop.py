"""One step of the whole loop on this machine: rollouts, what each of three rewards makes of them,
and a group reward.

Starts the SDK's local server once for every function and carries what one says to the next, as the
platform does. Needs a running judge_service and a policy (serve_policy.py). Answers are printed as
JSON, one a line; what is going on, and what went wrong, goes to the error output.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

HERE = Path(__file__).resolve().parent
SERVER = "dashscope.finetune.reinforcement.component.server.server"
FUNCTIONS = {
    "rollout": ("rollout", "functions.rollout.ask.AskPolicy"),
    "reward": ("reward", "functions.reward.judge.JudgeRewardProcessor"),
    "dimensions": ("reward", "functions.reward.decorated.DecoratedReward"),
    "group reward": ("group_reward", "functions.group_reward.judge.JudgeGroupRewardProcessor"),
}
"""What is served: the kind of each function, and its class."""
ROLLOUTS = 2
START_S = 120.0
STOP_S = 10.0

ENDINGS = (signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Two rollouts of one row, three rewards for each, and their group's."""
    # Whoever ends this ends what it started, too.
    for ending in ENDINGS:
        signal.signal(ending, lambda *_: sys.exit(1))
    row = json.loads((HERE / "resources" / "rollout_input.json").read_text(encoding="utf-8"))
    row["model_resource"]["base_url"] = os.environ.get("POLICY_URL", "http://127.0.0.1:8081/v1")
    truth = row.get("ground_truth")
    with functions(int(os.environ.get("SERVER_PORT", "8000"))) as urls:
        say(f"asking the policy {ROLLOUTS} times")
        outputs = [output for _ in range(ROLLOUTS) if (output := rollout(urls["rollout"], row))]
        if not outputs:
            raise SystemExit("no rollout worked: there is nothing to reward")
        for output in outputs:
            asked = {"agent_output": output, "ground_truth": truth}
            say("A. inline: the rollout's own reward_score")
            show("inline", {"reward_score": output["reward_score"]})
            say("B. standalone: the judge's verdict, from 0 to 1")
            show("reward", post(urls["reward"], asked))
            say("C. several dimensions: the verdict, which is known by now, and a check of length")
            show("dimensions", post(urls["dimensions"], asked))
        say("the group: the answers against each other, each pair in both orders")
        group = {"agent_outputs": outputs, "ground_truth": truth}
        show("group reward", post(urls["group reward"], group))


def rollout(url: str, row: dict[str, Any]) -> dict[str, Any] | None:
    """An agent's output; None where the rollout failed, which is the framework's to repeat."""
    answer = post(url, row)
    show("rollout", answer)
    output: dict[str, Any] | None = answer["agent_output"]
    return output if answer["status"] == "success" else None


@contextmanager
def functions(port: int) -> Iterator[dict[str, str]]:
    """All functions, each in a server of the SDK; gives their addresses."""
    ports = {name: port + at for at, name in enumerate(FUNCTIONS)}
    for name, own in ports.items():
        check_free(own, name)
    say(f"starting {', '.join(FUNCTIONS)} on ports {port} to {port + len(ports) - 1}")
    started: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, own in ports.items():
            with ended_later():
                started[name] = serve(name, own)
        urls = {name: f"http://127.0.0.1:{own}" for name, own in ports.items()}
        for name, url in urls.items():
            wait(name, url, started[name])
        yield {name: f"{url}/api/v1" for name, url in urls.items()}
    finally:
        stop(list(started.values()))


@contextmanager
def ended_later() -> Iterator[None]:
    """Hold an ending back until what is being started is known, so that it is ended, too."""
    came: list[int] = []
    before = {one: signal.signal(one, lambda number, _: came.append(number)) for one in ENDINGS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    if came:
        sys.exit(1)


def serve(name: str, port: int) -> subprocess.Popen[bytes]:
    """One function in the SDK's server."""
    kind, processor = FUNCTIONS[name]
    settings = {
        "JUDGE_SERVICE_RUBRIC": "quick-look", "JUDGE_SERVICE_TIMEOUT_S": "240",
        "FUNC_TYPE": kind, "PROCESSOR_CLASS": processor, "SERVER_PORT": str(port),
        "WORKERS_COUNT": "1", "LOG_LEVEL": "critical", "ENABLE_LOGGING": "false",
    }  # fmt: skip
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    # What the caller has set of the judge's settings counts; which function it is does not.
    told = {n: v for n, v in os.environ.items() if n not in settings or n.startswith("JUDGE_")}
    env = {**settings, **told, "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-m", SERVER]
    # Its log must not mix with what is printed here, and Ctrl-C is for this program alone.
    return subprocess.Popen(  # noqa: S603 - a command of ours
        command, cwd=HERE, env=env, stdout=sys.stderr, process_group=0
    )


def check_free(port: int, name: str) -> None:
    """Exit where somebody else listens: it would be asked in the function's place."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("0.0.0.0", port))  # noqa: S104 - where the SDK's server listens
        except (OSError, OverflowError) as error:
            raise SystemExit(
                f"port {port}, for the {name} function: {error}; set SERVER_PORT to the first of "
                f"{len(FUNCTIONS)} free ports"
            ) from None


def wait(name: str, url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a function serves. Exits where it does not."""
    until = time.monotonic() + START_S
    while not _healthy(url):
        if process.poll() is not None:
            raise SystemExit(f"the {name} function did not start (exit {process.returncode})")
        if time.monotonic() > until:
            raise SystemExit(f"the {name} function did not start within {START_S:.0f} s")
        time.sleep(0.2)


def stop(processes: list[subprocess.Popen[bytes]]) -> None:
    """End them all."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=2, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer of a function. Exits where there is none."""
    try:
        answer = httpx.post(url, json=body, timeout=300, trust_env=False)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise SystemExit(f"{url}: {type(error).__name__}: {error}") from None
    return found


def show(kind: str, answer: dict[str, Any]) -> None:
    """One line on the standard output."""
    print(f"{kind}: {json.dumps(answer, ensure_ascii=False)}", flush=True)


def say(text: str) -> None:
    """One line on what is going on."""
    print(f"· {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped")
