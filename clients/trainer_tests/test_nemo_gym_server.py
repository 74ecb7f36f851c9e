"""NeMo Gym's own server class, routes and row types around the resources server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import httpx
import pytest
from conftest import ROOT
from fastapi.testclient import TestClient
from judge_client.nemo_gym import JudgeResourcesServer, JudgeResourcesServerConfig
from nemo_gym.server_utils import ServerClient
from omegaconf import OmegaConf
from responses_api_agents.simple_agent.app import SimpleAgentVerifyResponse
from service_process import real_service

from tests.clients.overrides import shell
from tests.clients.readme import code
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, failed
from tests.polling import until

MARKS = {"_ng_failure_class", "_ng_failure_judge_error"}
START_S = 240


def row(text: str, **more: Any) -> dict[str, Any]:
    """What an agent posts: a rollout with the tokens that training needs, and more."""
    said = {
        "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
        "prompt_token_ids": [1, 2], "generation_token_ids": [3], "generation_log_probs": [-0.5],
    }  # fmt: skip
    response = {
        "id": f"resp_{text}", "object": "response", "created_at": 1.0, "model": "policy",
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "output": [said],
    }  # fmt: skip
    asked = {"input": [{"role": "user", "content": "Why?"}], "temperature": 1.0}
    return {"responses_create_params": asked, "response": response, **more}


@contextmanager
def client(url: str, **settings: Any) -> Iterator[TestClient]:
    """Gym's application of a server over a service."""
    config = JudgeResourcesServerConfig(
        host="127.0.0.1", port=1, entrypoint="app.py", name="judge_service", judge_url=url,
        **{"rubric": "r", "timeout_s": 10, **settings},
    )  # fmt: skip
    made = JudgeResourcesServer(config=config, server_client=MagicMock(spec=ServerClient))
    with TestClient(made.setup_webserver(), raise_server_exceptions=False) as http:
        yield http


@pytest.fixture
def judged() -> Iterator[StandIn]:
    """A service whose verdict is the number that a text says."""

    def outcome(item: dict[str, Any]) -> dict[str, Any]:
        text = item["candidate"]["messages"][-1]["content"]
        if text == "fail":
            return failed("refused", retryable=False)
        return {**SUCCESS, "reward": float(text)}

    def script(got: Got) -> Told:
        return Told(body={"results": [outcome(item) for item in got.body["items"]]})

    with StandIn() as service:
        service.script = script
        yield service


@pytest.mark.parametrize("reward", [0.0, 0.25, 1.0])
def test_gyms_routes(judged: StandIn, reward: float) -> None:
    """The row comes back whole, training's tokens and unknown fields included."""
    more = {"_ng_task_index": 7, "_ng_rollout_index": 0, "extra": {"a": [1, None]},
            "verifier_metadata": {"expected_answer": "So."}}  # fmt: skip
    with client(judged.url) as http:
        assert http.post("/seed_session", json={}).status_code == 200
        answer = http.post("/verify", json=row(str(reward), **more)).json()

    assert answer["reward"] == reward == sum(answer["reward_components"].values())
    assert {name: answer[name] for name in more} == more
    (said,) = answer["response"]["output"]
    assert said["generation_log_probs"] == [-0.5]
    assert (answer["mask_sample"], MARKS & set(answer)) == (False, set())
    # An agent of Gym's reads it so.
    read = SimpleAgentVerifyResponse.model_validate(answer)
    assert read.model_dump()["judge_failed"] == 0.0
    (item,) = judged.requests[0].body["items"]
    assert (item["prompt"], item["reference"]) == ([{"role": "user", "content": "Why?"}], "So.")
    assert "generation_log_probs" not in json.dumps(item)


def test_a_failure_keeps_its_marks_in_gyms_types(judged: StandIn) -> None:
    """What Gym's collection looks for is there after an agent has read the row."""
    with client(judged.url) as http:
        answer = http.post("/verify", json=row("fail", _ng_task_index=1)).json()

    read = SimpleAgentVerifyResponse.model_validate(answer).model_dump()
    assert read["_ng_failure_class"] == "judge_failed"
    assert read["_ng_failure_judge_error"] == "refused: no verdict"
    assert read["mask_sample"] is True


def test_a_mistake_is_an_error(judged: StandIn) -> None:
    """A body that is no rollout, and a rubric that is not there."""
    judged.says(Told(status=404, body={"error": {"code": "not_found", "message": "no rubric"}}))
    with client(judged.url) as http:
        assert http.post("/verify", json={"response": {}}).status_code == 422
        assert http.post("/verify", json=row("0.5")).status_code == 500


def test_metrics_are_aggregated(judged: StandIn) -> None:
    """Gym's own statistics take the numbers of the rows."""
    with client(judged.url) as http:
        rows = [
            http.post("/verify", json=row(text, _ng_task_index=0, _ng_rollout_index=n)).json()
            for n, text in enumerate(("0.0", "1.0"))
        ]
        told = http.post("/aggregate_metrics", json={"verify_responses": rows})

    assert told.status_code == 200
    assert told.json()["agent_metrics"]["mean/reward"] == 0.5


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_the_readme_as_pasted(tmp_path: Path) -> None:
    """The pasted folder, started as Gym's launcher starts it: ``python app.py`` with the resolved
    configuration; a real service judges.
    """
    shell(code("NeMo Gym", "sh"), tmp_path)
    folder = tmp_path / "resources_servers" / "judge_service"
    written = OmegaConf.load(folder / "judge_service.yaml")
    port = free_port()
    with real_service() as url:
        whole = OmegaConf.merge(
            {
                "head_server": {"host": "127.0.0.1", "port": free_port()},
                "dry_run": False, "ray_num_cpus_per_node": 1,
            },
            written,
            {"judge_service": {"resources_servers": {"judge_service": {
                "host": "127.0.0.1", "port": port}}}},
        )  # fmt: skip
        environment = {
            **os.environ, "JUDGE_SERVICE_URL": url,
            "NEMO_GYM_CONFIG_DICT": OmegaConf.to_yaml(whole),
            "NEMO_GYM_CONFIG_PATH": "judge_service",
            "PYTHONPATH": str(ROOT / "clients" / "src"),
        }  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "app.py"], cwd=folder, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            answers = [post_when_up(process, port, row(text)) for text in ("A good one.", "Bad.")]
        finally:
            process.terminate()
            process.wait(60)

    assert [answer["reward"] for answer in answers] == [1.0, 0.0]
    assert [answer["mask_sample"] for answer in answers] == [False, False]


def post_when_up(process: subprocess.Popen[bytes], port: int, body: Any) -> Any:
    """The answer to a rollout, once the server listens."""

    def listens() -> bool:
        assert process.poll() is None, "the server has ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
        except OSError:
            return False
        return True

    until(listens, "the server did not start", START_S)
    url = f"http://127.0.0.1:{port}/verify"
    answer = httpx.post(url, json=body, timeout=60, trust_env=False)
    answer.raise_for_status()
    return answer.json()
