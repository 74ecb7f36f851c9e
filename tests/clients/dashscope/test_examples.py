"""The example workspace: its rollout, its registration, its scripts, and the loop."""

from __future__ import annotations

import asyncio
import json
import os
import re
import runpy
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dashscope.finetune.reinforcement import RolloutInput, RolloutOutput
from functions.rollout.ask import AskPolicy

from tests.clients.dashscope.sdk_server import PYTHONPATH, ROOT, environment
from tests.clients.stand_in import StandIn, Told
from tests.harness import RunningService
from tests.ports import free_port, free_ports
from tests.provider import FakeProvider

WORKSPACE = ROOT / "examples" / "dashscope"
SAID = {"choices": [{"message": {"content": "It is 72."}, "finish_reason": "length"}]}


def rollout(url: str, **more: Any) -> RolloutOutput:
    """One rollout of the example's row, by a policy at ``url``."""
    row = json.loads((WORKSPACE / "resources" / "rollout_input.json").read_text(encoding="utf-8"))
    row["model_resource"]["base_url"] = url
    asked = RolloutInput.model_validate({**row, **more})

    async def run() -> RolloutOutput:
        processor = AskPolicy()
        await processor.setup()
        found: RolloutOutput = await processor.process(asked)
        await processor._http.aclose()
        return found

    return asyncio.run(run())


def test_a_rollout_keeps_what_a_reward_needs(stand_in: StandIn) -> None:
    """The policy's turn and how it ended, the row's extra, metrics, and an inline score."""
    stand_in.says(Told(body=SAID))

    output = rollout(stand_in.url)

    assert output.status.value == "success"
    assert output.agent_output is not None
    assert output.agent_output.messages is not None
    assert output.agent_output.messages[-1] == {
        "role": "assistant", "content": "It is 72.", "finish_reason": "length",
    }  # fmt: skip
    assert output.agent_output.rollout_extra == {"solution": "72"}
    assert output.agent_output.reward_score == 1.0
    assert set(output.agent_output.rollout_metrics or {}) == {"latency_s", "length_chars"}
    assert rollout(stand_in.url, ground_truth=None).agent_output.reward_score is None
    assert rollout(stand_in.url, ground_truth="9").agent_output.reward_score == 0.0


@pytest.mark.parametrize(
    "told",
    [
        Told(status=500, body=b"no"),
        Told(status=429, body={}),
        Told(body=b"<html>"),
        Told(body={"choices": []}),
        Told(body={"choices": [{"message": {"content": None}}]}),
        Told(body=[]),
        Told(drop=True),
    ],
    ids=str,
)
def test_a_rollout_that_failed_says_why(stand_in: StandIn, told: Told) -> None:
    """FAILED with a reason, never an empty answer that would be rewarded."""
    stand_in.says(told)

    output = rollout(stand_in.url)

    assert output.status.value == "failed"
    assert output.error
    assert "your-api-key" not in output.error


def test_registration_gives_every_function_its_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The components can be built: own names, own runtimes, timeouts above the judge's."""
    monkeypatch.setenv("JUDGE_SERVICE_URL", "http://judge:8080")
    components = runpy.run_path(str(WORKSPACE / "register.py"))["functions"]()

    assert len({component.name for component in components}) == 3
    for component in components:
        env = component.runtime.env
        assert env["JUDGE_SERVICE_URL"] == "http://judge:8080"
        assert float(env["JUDGE_SERVICE_TIMEOUT_S"]) < component.timeout


def test_every_class_that_is_registered_is_in_a_file() -> None:
    """The platform looks for the file of a class path, and for requirements it can install."""
    texts = [
        f.read_text(encoding="utf-8") for f in WORKSPACE.rglob("*") if f.suffix in (".sh", ".py")
    ]
    paths = {path for text in texts for path in re.findall(r"functions(?:\.\w+)+\.[A-Z]\w+", text)}

    assert len(paths) >= 5
    for path in paths:
        *module, name = path.split(".")
        file = WORKSPACE.joinpath(*module).with_suffix(".py")
        assert name in file.read_text(encoding="utf-8"), path
    lines = (WORKSPACE / "requirements.txt").read_text(encoding="utf-8").split()
    assert lines == ["judge-service-client>=0.1"]


def test_scripts_can_be_run() -> None:
    """Every script is executable and bash finds no fault in it."""
    scripts = sorted((WORKSPACE / "scripts").glob("[!_]*.sh"))

    assert len(scripts) >= 8
    for script in scripts:
        assert script.stat().st_mode & stat.S_IXUSR, script
        subprocess.run(["bash", "-n", str(script)], check=True, timeout=10)


def test_a_start_script_and_its_query(service: RunningService, judge: FakeProvider) -> None:
    """What the start script serves, the query script scores."""
    port = free_port()
    env = {
        **environment({"URL": service.url, "RUBRIC": "quality"}, "", "", port),
        "PYTHON": sys.executable,
    }
    server = subprocess.Popen(
        [str(WORKSPACE / "scripts" / "start_local_reward.sh")],
        env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    query = str(WORKSPACE / "scripts" / "query_local_reward.sh")
    said = ""
    try:
        for _ in range(600):
            ran = subprocess.run([query], env=env, capture_output=True, text=True, timeout=60)
            said = ran.stdout
            if ran.returncode == 0 or server.poll() is not None:
                break
    finally:
        server.terminate()
        server.wait(20)

    assert json.loads(said)["reward"]["reward_score"] == 0.75


@pytest.mark.timeout(240)
def test_the_whole_loop(
    service: RunningService, judge: FakeProvider, stand_in: StandIn, tmp_path: Path
) -> None:
    """Rollouts, rewards and a group reward, each in the SDK's server, each from the one before."""
    stand_in.says(Told(body={"choices": [{"message": {"content": "It is 72."}}]}))
    env = {
        **environment({"URL": service.url, "RUBRIC": "quality"}, "", "", free_ports(4)),
        "PYTHONPATH": os.pathsep.join(map(str, PYTHONPATH)),
        "POLICY_URL": stand_in.url,
    }

    ran = subprocess.run(
        [sys.executable, str(WORKSPACE / "loop.py")],
        env=env, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr[-2000:]
    told = [line.partition(": ") for line in ran.stdout.splitlines()]
    answers = [(kind, json.loads(text)) for kind, _, text in told]
    three = ["inline", "reward", "dimensions"]
    assert [kind for kind, _ in answers] == [*["rollout"] * 2, *three, *three, "group reward"]
    assert all(answer.get("status", "success") == "success" for _, answer in answers)
    inline, reward, dimensions = (answer for _, answer in answers[2:5])
    assert inline == {"reward_score": 1.0}
    assert reward["reward"]["reward_score"] == 0.75
    assert dimensions["reward"]["reward_score"] == pytest.approx(0.8 * 0.75 + 0.2)
    group = answers[-1][1]["reward"]["rewards"]
    assert [member["reward_score"] for member in group] == [0.75, 0.75]
    # The verdict of the group's members and of the second reward is the first one's.
    assert len(judge.requests) == 1


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    """One readable line, before anything is started: whoever listens there is not asked instead."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        env = environment({}, "", "", port)
        ran = subprocess.run(
            [sys.executable, str(WORKSPACE / "loop.py")],
            env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    assert ran.returncode == 1
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    assert f"port {port}" in line
    assert "SERVER_PORT" in line


def test_who_ends_the_loop_ends_its_servers(tmp_path: Path) -> None:
    """After SIGTERM nothing listens any more where the functions were to be."""
    port = free_ports(4)
    env = environment({"URL": "http://127.0.0.1:9", "RUBRIC": "r"}, "", "", port)
    with subprocess.Popen(
        [sys.executable, str(WORKSPACE / "loop.py")],
        env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as loop:  # fmt: skip
        assert loop.stderr is not None
        assert "starting" in loop.stderr.readline()
        children = Path(f"/proc/{loop.pid}/task/{loop.pid}/children")
        started: list[str] = []
        while len(started) < 4 and loop.poll() is None:
            started = children.read_text().split()
        loop.terminate()
        assert loop.wait(60) == 1

    assert len(started) == 4
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)
