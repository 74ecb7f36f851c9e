"""A folder of rubrics is followed: other processes' uploads and edits by hand take effect."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from judge_service.rubric.folder import RubricFolder
from tests.harness import Judges, RunningService, write_rubric
from tests.polling import comes
from tests.provider import FakeProvider
from tests.rubric_upload.support import open_folder, over, put, rubric, version

SEEN_S = 1.0
"""How soon a change is known to every process."""
SLACK_S = 30.0
"""What a busy machine may add."""
START = (sys.executable, "-m", "judge_service.cli", "serve", "--port", "0", "--json")


def seen(condition: Callable[[], bool]) -> bool:
    """Whether it is so in time."""
    return comes(condition, SEEN_S + SLACK_S)


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[tuple[RunningService, Path]]:
    """A service and the file of its rubric."""
    with open_folder(tmp_path) as (service, _):
        yield service, tmp_path / "rubrics" / "quality.toml"


def test_another_service_sees_a_new_version(tmp_path: Path) -> None:
    """Two services over one folder: what one takes, the other judges by."""
    with open_folder(tmp_path) as (one, provider), over(tmp_path, provider) as other:
        made = put(one, rubric("2"), status=201).json()

        assert seen(lambda: version(other) == "2")
        assert other.assess()["rubric_hash"] == made["rubric_hash"]


def test_all_workers_see_a_new_version(tmp_path: Path) -> None:
    """With two processes behind one address, soon every answer is by the new version."""
    write_rubric(tmp_path)
    (tmp_path / "anchors").mkdir()
    with FakeProvider() as provider:
        provider.oracle({}, default=3)
        judges = Judges(provider).add("ann", "alpha").write(tmp_path)
        flags = (
            "--workers", "2", "--allow-rubric-put", "--judges", str(judges),
            "--rubrics-dir", str(tmp_path / "rubrics"), "--anchors-dir", str(tmp_path / "anchors"),
        )  # fmt: skip
        process = subprocess.Popen(
            [*START, *flags],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            with httpx.Client(base_url=url, trust_env=False) as http:
                put(RunningService(url, http), rubric("2"), status=201)

            def versions() -> set[str]:
                # A connection each, so that both workers are asked.
                answers = [
                    httpx.get(f"{url}/v1/rubrics/quality", trust_env=False) for _ in range(20)
                ]
                return {answer.json()["version"] for answer in answers}

            assert seen(lambda: versions() == {"2"})
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        finally:
            process.kill()
            process.communicate()


def test_an_edit_by_hand_takes_effect(followed: tuple[RunningService, Path]) -> None:
    """In the same file, and as a new one."""
    service, file = followed
    text = file.read_text(encoding="utf-8")

    file.write_text(text.replace('version = "1"', 'version = "by hand"'), encoding="utf-8")
    assert seen(lambda: version(service) == "by hand")
    new = text.replace('id = "quality"', 'id = "more"')
    (file.parent / "more.toml").write_text(new, encoding="utf-8")
    assert seen(lambda: version(service, "more") == "1")
    (file.parent / "more.toml").unlink()
    assert seen(lambda: version(service, "more") == "")


def test_anchors_by_hand_take_effect(followed: tuple[RunningService, Path], tmp_path: Path) -> None:
    """A new file of anchors changes the rubric's hash."""
    service, _ = followed
    before = service.http.get("/v1/rubrics/quality").json()["rubric_hash"]
    anchor = {"criterion": "quality", "point": 1, "prompt": "p", "candidate": "c", "reason": "r"}

    (tmp_path / "anchors" / "quality.jsonl").write_text(json.dumps(anchor), encoding="utf-8")

    assert seen(lambda: service.http.get("/v1/rubrics/quality").json()["rubric_hash"] != before)


def test_a_broken_edit_leaves_the_last_good_state(
    followed: tuple[RunningService, Path], caplog: pytest.LogCaptureFixture
) -> None:
    """One line in the log; judging goes on as before, and so do uploads; a mended file loads."""
    service, file = followed
    text = file.read_text(encoding="utf-8")
    with caplog.at_level(logging.INFO, "judge_service.rubrics"):
        file.write_text(text.replace("weight = 1.0", "weight = 0.9"), encoding="utf-8")
        assert seen(lambda: "cannot be used" in caplog.text)
        put(service, rubric("1", "fresh"), status=201)
        still = version(service)
        reward = service.assess()["reward"]
        file.write_text(text.replace('"1"', '"3"', 1), encoding="utf-8")
        assert seen(lambda: version(service) == "3")

    assert (still, reward) == ("1", 0.5)
    assert caplog.text.count("cannot be used") == 1


def test_a_lost_folder_leaves_everything(
    followed: tuple[RunningService, Path], caplog: pytest.LogCaptureFixture
) -> None:
    """When the folder is away or empty for a while, the rubrics stay, with one line in the log."""
    service, file = followed
    away = file.parent.with_name("away")
    with caplog.at_level(logging.INFO, "judge_service.rubrics"):
        file.parent.rename(away)
        assert seen(lambda: "the rubrics that were loaded stay" in caplog.text)
        assert version(service) == "1"
        away.rename(file.parent)
        put(service, rubric("2"), status=201)

    assert version(service) == "2"
    assert caplog.text.count("the rubrics that were loaded stay") == 1


def test_a_file_is_read_once_it_has_come_to_rest(tmp_path: Path) -> None:
    """What is seen for the first time may still be being written: the second look takes it."""
    rubrics = write_rubric(tmp_path)
    (tmp_path / "anchors").mkdir()
    folder = RubricFolder(rubrics, tmp_path / "anchors")
    file = rubrics / "quality.toml"
    text = file.read_text(encoding="utf-8")
    taken = folder.library["quality"]

    file.write_text(text.replace('version = "1"', 'version = "2"'), encoding="utf-8")
    folder.look()
    first = folder.library["quality"].version
    folder.look()

    assert (first, folder.library["quality"].version) == ("1", "2")
    assert taken.version == "1"
