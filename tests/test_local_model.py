"""The embedded judge, end to end: a real small model, no configuration, no key, no network."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from judge_service.adapters.local_model import bundled_weights, start_local_model
from judge_service.errors import ConfigError
from judge_service.settings import Settings
from tests.harness import RunningService, serve, write_rubric

PATIENT_S = 120.0
TINY = """
[[criteria]]
name = "quality"
weight = 1.0
question = "Is it right?"
scale = [ {point = 0, means = "no"}, {point = 1, means = "yes"} ]
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service without a judges file, on rubrics that are read quickly."""
    folder = tmp_path_factory.mktemp("local")
    rubrics = write_rubric(folder, criteria=TINY)
    write_rubric(folder, "pair", kind="compare")
    settings = Settings(rubrics_dir=rubrics, anchors_dir=folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # where no judges.toml lies
        with serve(settings) as service:
            service.http.timeout = PATIENT_S
            yield service


def test_it_assesses(service: RunningService) -> None:
    """A point on the scale with a reason, at no cost, plainly marked as a trial."""
    answer = service.assess("Paris.", prompt="Capital of France?", timeout_s=PATIENT_S)
    assert answer["status"] == "success", answer["error"]
    assert answer["reward"] in (0.0, 1.0)
    (verdict,) = answer["verdicts"]
    assert (verdict["judge"], verdict["family"]) == ("local", "smollm")
    assert verdict["point"] in (0, 1)
    assert verdict["usage"]["prompt_tokens"] > 0
    assert answer["usage"]["cost_usd"] == 0.0
    assert answer["usage"]["unknown_cost_calls"] == 0
    assert {flag["flag"] for flag in answer["flags"]} == {"trial_judge"}


def test_it_compares(service: RunningService) -> None:
    """Both orders, well-formed; whatever a model of this size makes of them."""
    answer = service.compare("Paris.", "Rome.", prompt="Capital of France?", timeout_s=PATIENT_S)
    assert answer["status"] == "success", answer["error"]
    assert answer["outcome"] in ("first", "second", "tie", "inconsistent")
    assert [order["order"] for order in answer["orders"]] == ["AB", "BA"]
    assert all(order["choice"] for order in answer["orders"])
    assert answer["usage"]["cost_usd"] == 0.0
    assert {flag["flag"] for flag in answer["flags"]} == {"trial_judge"}
    assert all(math.isfinite(value) for value in answer["metrics"].values())


def test_the_service_says_what_judges(service: RunningService) -> None:
    """On the list of judges and in what is degraded."""
    (judge,) = service.http.get("/v1/judges").json()["judges"]
    assert judge["trial"] is True
    assert judge["family"] == "smollm"
    ready = service.http.get("/readyz")
    assert ready.status_code == 200
    assert "embedded" in ready.json()["degraded"][0]["why"]


def test_it_does_not_judge_its_own_family(service: RunningService) -> None:
    """Not even to be tried out."""
    answer = service.assess({"text": "Paris.", "policy_model": "SmolLM2-1.7B-Instruct"})
    assert answer["error"]["code"] == "no_eligible_judge"


def test_a_model_file_must_be_there_and_be_one(tmp_path: Path) -> None:
    """Each fault is a start error that names the file."""
    with pytest.raises(ConfigError, match="no such model file"):
        start_local_model(tmp_path / "qwen3.gguf")
    nameless = tmp_path / "my-own.gguf"
    nameless.write_bytes(b"GGUF")
    with pytest.raises(ConfigError, match="tells no family"):
        start_local_model(nameless)
    with pytest.raises(ConfigError, match="cannot load"):
        start_local_model(nameless, "qwen")


def test_the_weights_come_with_their_package() -> None:
    """They are found without importing it."""
    weights = bundled_weights()
    assert weights is not None
    assert weights.stat().st_size > 50_000_000


def test_it_ends_while_it_reads() -> None:
    """Closing does not wait for what the model is reading; the port is free afterwards."""
    model = start_local_model()
    address = urlsplit(model.url)
    model.read_ahead(["A long text to read. " * 4000])
    model.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((str(address.hostname), address.port or 0), timeout=5)
