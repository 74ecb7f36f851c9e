"""The built wheel as the image runs it: no privileges, nothing writable but what is given."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.container.confinement import NOBODY, Confinement, Running, may_confine, serving
from tests.harness import Judges, write_rubric
from tests.provider import FakeProvider

ROOT = Path(__file__).resolve().parents[2]
BODY = {
    "rubric": "quality",
    "prompt": "A question?",
    "candidate": {"text": "An answer.", "family": "own"},
}


@pytest.fixture(scope="module")
def app() -> Iterator[Path]:
    """The wheel, built and unpacked where everybody may read it."""
    folder = Path(tempfile.mkdtemp(prefix="judge-service-wheel-", dir="/var/tmp"))
    try:
        folder.chmod(0o755)
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
            cwd=ROOT, check=True, capture_output=True, timeout=100,
        )  # fmt: skip
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "app")
        yield folder / "app"
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """Judges that say 4 of 5."""
    with FakeProvider() as provider:
        provider.oracle(lambda _: 4)
        yield provider


@pytest.fixture
def where(app: Path, provider: FakeProvider) -> Iterator[Confinement]:
    """Configuration that can be read, and a folder for state that the user owns."""
    folder = Path(tempfile.mkdtemp(prefix="judge-service-run-", dir="/var/tmp"))
    try:
        folder.chmod(0o755)
        config, state = folder / "config", folder / "state"
        config.mkdir()
        state.mkdir()
        write_rubric(config)
        (config / "anchors").mkdir()
        Judges(provider).add("alpha").write(config)
        if os.geteuid() == 0:
            os.chown(state, NOBODY, NOBODY)
        yield Confinement(app=app, config=config, state=state, whole=may_confine())
    finally:
        shutil.rmtree(folder)


def settings(where: Confinement) -> dict[str, str]:
    """Where the service finds what it needs."""
    return {
        "judges": str(where.config_seen / "judges.toml"),
        "rubrics_dir": str(where.config_seen / "rubrics"),
        "anchors_dir": str(where.config_seen / "anchors"),
    }


def assert_confined(where: Confinement, running: Running) -> None:
    """What the kernel says: nobody's user, and where the machine allows it, nothing to write."""
    status = running.status()
    uid = int(status["Uid"].split()[0])
    assert uid == (NOBODY if os.geteuid() == 0 else os.geteuid())
    assert uid != 0
    if os.geteuid() == 0:
        assert status["NoNewPrivs"] == "1"
        assert int(status["CapEff"], 16) == 0
    if where.whole:
        assert "ro" in running.root_options()


def judged(running: Running) -> None:
    """A request is judged."""
    answer = httpx.post(running.url + "/v1/assess", json=BODY, timeout=30, trust_env=False).json()
    assert answer["reward"] == 0.75


def health_command() -> list[str]:
    """The health check of the image, without its interpreter."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    (command,) = re.findall(r"(?m)^HEALTHCHECK .*CMD (\[.*\])$", text)
    words: list[str] = json.loads(command)
    assert words[0] == "python"
    return words[1:]


def test_a_volume_keeps_the_verdicts(where: Confinement, tmp_path: Path) -> None:
    """With a place for its state the service judges, is healthy by the image's own check, keeps
    its state there and ends cleanly.
    """
    store = str(where.state_seen / "store.sqlite3")
    with serving(where, tmp_path / "log", store=store, **settings(where)) as running:
        assert_confined(where, running)
        judged(running)
        port = running.url.rpartition(":")[2]
        health = subprocess.run(
            where.command(*health_command()), env=where.environ({"JUDGE_SERVICE_PORT": port}),
            cwd=where.config, capture_output=True, text=True, timeout=30,
        )  # fmt: skip
        running.process.send_signal(signal.SIGTERM)
        code = running.process.wait(40)

    assert health.returncode == 0, health.stderr
    assert code == 0
    kept = sorted(file.name for file in where.state.iterdir())
    assert {"secret", "store.sqlite3"} <= set(kept)
    assert (where.state / "secret").stat().st_mode & 0o077 == 0


def test_nowhere_to_write(where: Confinement, tmp_path: Path) -> None:
    """Without any place for state the service judges all the same, and leaves nothing behind."""
    before = sorted(where.config.rglob("*"))
    with serving(where, tmp_path / "log", **settings(where)) as running:
        assert_confined(where, running)
        judged(running)
        running.process.send_signal(signal.SIGTERM)
        code = running.process.wait(40)

    assert code == 0
    assert sorted(where.config.rglob("*")) == before
    assert list(where.state.iterdir()) == []
    assert "Traceback" not in (tmp_path / "log").read_text(encoding="utf-8")


def test_an_unhealthy_service_is_told(where: Confinement) -> None:
    """The image's health check fails where nobody listens."""
    health = subprocess.run(
        where.command(*health_command()), env=where.environ({"JUDGE_SERVICE_PORT": "1"}),
        cwd=where.config, capture_output=True, text=True, timeout=30,
    )  # fmt: skip

    assert health.returncode != 0


def test_this_machine_confines_as_far_as_it_can() -> None:
    """Where root may have mounts of its own, the read-only root is not left out."""
    allowed = os.geteuid() == 0 and (
        subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
    )

    assert may_confine() == allowed
