"""Several worker processes: whichever is asked, ``/metrics`` tells of all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from judge_service.adapters.metrics import Metrics
from judge_service.errors import ConfigError
from tests.harness import new_prompt
from tests.observability.scrape import Scrape, read, scrape

MOST_REQUESTS = 60


@contextmanager
def two_workers(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service of two worker processes; killed at the end if it is still there."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("JUDGE_SERVICE_")}
    environ["TMPDIR"] = str(folder)
    environ["XDG_STATE_HOME"] = str(folder)
    process = subprocess.Popen(
        [
            sys.executable, "-m", "judge_service.cli", "serve", "--port", "0", "--workers", "2",
            "--json", "--judges", str(folder / "judges.toml"), "--rubrics-dir",
            str(folder / "rubrics"), "--anchors-dir", str(folder / "anchors"),
        ],
        cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())["url"]
    finally:
        for child in psutil.Process(process.pid).children() if process.poll() is None else []:
            child.kill()
        process.kill()
        process.communicate()


def ask(url: str) -> None:
    """One assessment over a connection of its own, so that any worker may get it."""
    candidate = {"text": "An answer.", "family": "other"}
    body = {"rubric": "quality", "prompt": new_prompt(), "candidate": candidate}
    answer = httpx.post(f"{url}/v1/assess", json=body, trust_env=False, timeout=30)
    assert answer.json()["status"] == "success"


def outcomes(url: str) -> float:
    """How many outcomes a worker tells of."""
    with httpx.Client(base_url=url, trust_env=False) as http:
        return scrape(http).of("outcomes_total")


@pytest.mark.timeout(240)  # three processes import what judging needs
def test_two_workers_tell_of_both(folder: Path) -> None:
    """Whichever answers; their folder is private, and gone when the service has ended."""
    with two_workers(folder) as (process, url):
        (shared,) = folder.glob("judge-service-*")
        assert shared.stat().st_mode & 0o777 == 0o700
        for number in range(MOST_REQUESTS):
            ask(url)
            if number >= 3 and len(list(shared.glob("histogram_*.db"))) == 2:
                break
        assert {outcomes(url) for _ in range(6)} == {number + 1}
        with httpx.Client(base_url=url, trust_env=False) as http:
            seen = scrape(http)
        assert seen.of("recent_outcomes") == number + 1
        assert seen.of("build_info") == 1
        assert seen.of("process_resident_memory_bytes") > 100e6
        assert seen.of("process_open_fds") > 10

        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)

    assert process.returncode == 0
    assert not shared.exists()
    assert all(isinstance(json.loads(line), dict) for line in err.splitlines())


WORKER = """
import sys
from judge_service.adapters.metrics import Metrics
from judge_service.events import BreakerChanged, Judged, QueueChanged
metrics = Metrics("1", sys.argv[1])
metrics.know(["a"], [("r", "assess")])
for event in (
    Judged("assess", "r", "timeout", None, None, 1.0),
    QueueChanged("a", 2, 3, 4),
    BreakerChanged("a", sys.argv[2]),
):
    metrics.handlers[type(event)](event)
print("ready", flush=True)
for _ in sys.stdin:
    print(metrics.render()[0].decode(), "END", sep="\\n", flush=True)
"""


@contextmanager
def counting(folder: Path, breaker: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has counted one failure, and renders when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder), breaker],
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def rendered(process: subprocess.Popen[str]) -> Scrape:
    """What it renders now."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return read("".join(iter(process.stdout.readline, "END\n")))


def test_of_a_dead_worker_stays_what_it_counted(tmp_path: Path) -> None:
    """Its queue and its breaker are gone with it, and a file it left empty does no harm."""
    with counting(tmp_path, "half_open") as living:
        with counting(tmp_path, "open"):
            both = rendered(living)
        (tmp_path / "counter_999999999.db").touch()
        one = rendered(living)

    assert both.of("outcomes_total", code="timeout") == 2
    assert (both.of("queue_waiting"), both.of("queue_running")) == (4, 6)
    assert (both.of("queue_limit"), both.of("breaker_state")) == (4, 2)
    assert one.of("outcomes_total", code="timeout") == 2
    assert (one.of("queue_waiting"), one.of("queue_running")) == (2, 3)
    assert (one.of("queue_limit"), one.of("breaker_state")) == (4, 1)
    assert one.of("recent_failed_outcomes") == 1


def test_a_missing_folder_is_a_configuration_fault(tmp_path: Path) -> None:
    """Told in a line that names the variable."""
    with pytest.raises(ConfigError, match=r"PROMETHEUS_MULTIPROC_DIR: .*: no such folder"):
        Metrics("1", str(tmp_path / "nowhere"))
