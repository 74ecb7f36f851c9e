"""``PUT /v1/rubrics/{id}``: what is kept, what takes effect, and for whom."""

from __future__ import annotations

import json
import os
import threading
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from judge_service import load_library
from judge_service.api.answers import RubricPutAnswer
from judge_service.rubric.file import document
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours
from tests.rubric_upload.support import ANCHOR, loaded, open_folder, over, put, rubric

Opened = tuple[RunningService, FakeProvider]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """A service over a folder with one rubric, ``quality`` in version 1 on five points."""
    with open_folder(tmp_path) as made:
        yield made


def test_a_new_version_takes_effect_at_once(opened: Opened) -> None:
    """Requests after it are judged by it, and their rubric_hash says so."""
    service, _ = opened
    before = service.assess()

    answer = put(service, rubric("2"), status=201)

    made = RubricPutAnswer.model_validate(answer.json())
    after = service.assess()
    assert (made.version, made.result) == ("2", "created")
    assert (before["reward"], after["reward"]) == (0.5, 1.0)
    assert before["rubric_hash"] != after["rubric_hash"] == made.rubric_hash
    assert loaded(service)["rubric_hash"] == made.rubric_hash


def test_a_rubric_of_a_new_id(opened: Opened) -> None:
    """It is there, beside the others."""
    service, _ = opened

    put(service, rubric("1", "fresh"), status=201)

    assert service.assess(rubric="fresh")["reward"] == 1.0
    assert [r["id"] for r in service.http.get("/v1/rubrics").json()["rubrics"]] == [
        "fresh",
        "quality",
    ]


def test_a_running_request_keeps_the_rubric_it_began_with(opened: Opened) -> None:
    """A judgement that is under way when the rubric changes is finished by the old one."""
    service, provider = opened
    old = loaded(service)["rubric_hash"]
    gate = threading.Event()
    provider.behave("ann", behaviours.held(behaviours.honest(), gate))
    found: list[dict[str, Any]] = []
    running = threading.Thread(target=lambda: found.append(service.assess()))
    running.start()
    assert provider.wait_until(lambda: provider.in_flight == 1)

    put(service, rubric("2"), status=201)
    gate.set()
    running.join(timeout=60)

    assert (found[0]["rubric_hash"], found[0]["reward"]) == (old, 0.5)
    assert service.assess()["rubric_hash"] != old


def test_the_same_again_changes_nothing(opened: Opened, tmp_path: Path) -> None:
    """200 and ``unchanged``, and the file stays as it is."""
    service, _ = opened
    put(service, rubric("2"), status=201)
    file = tmp_path / "rubrics" / "quality.toml"
    before = file.stat()

    answer = put(service, rubric("2"), status=200)

    assert answer.json()["result"] == "unchanged"
    assert file.stat() == before


def test_a_version_never_changes(opened: Opened) -> None:
    """Other content under a version that is there is a conflict, for old versions, too."""
    service, _ = opened
    put(service, rubric("2"), status=201)
    put(service, rubric("3", description="Third."), status=201)

    for known in ("1", "2", "3"):
        answer = put(service, rubric(known, description="Something else."), status=409)
        assert answer.json()["error"]["code"] == "version_exists"
        assert answer.json()["error"]["field"] == "version"
    assert loaded(service)["version"] == "3"


def test_an_old_version_can_come_back(opened: Opened) -> None:
    """The same content under its own version is current again."""
    service, _ = opened
    first = loaded(service)
    put(service, rubric("2"), status=201)

    answer = put(service, first, status=200)

    assert answer.json()["result"] == "restored"
    assert loaded(service) == first
    assert service.assess()["rubric_hash"] == first["rubric_hash"]


def test_every_version_is_kept(opened: Opened, tmp_path: Path) -> None:
    """In a folder that the loader passes by; the one written by hand, too."""
    service, _ = opened
    for name in ("2", "../../x", "a/b", ".hidden", "v" * 64, "ö 1"):
        put(service, rubric(name), status=201)

    kept = tmp_path / "rubrics" / ".history" / "quality"
    versions = {tomllib.loads(f.read_text(encoding="utf-8"))["version"] for f in kept.iterdir()}
    assert versions == {"1", "2", "../../x", "a/b", ".hidden", "v" * 64, "ö 1"}
    assert {f.name for f in (tmp_path / "rubrics").iterdir()} == {".history", "quality.toml"}
    assert list(load_library(tmp_path / "rubrics", tmp_path / "anchors")) == ["quality"]


def test_what_get_gives_put_takes(opened: Opened) -> None:
    """All shipped rubrics, and one with every kind of rule, go round without a change."""
    service, _ = opened
    rules = [
        {"rule": "json_schema", "hard": True, "schema": {"enum": [None, 1.5, "a\n"], "a.b": {}}},
        {"rule": "tool_calls", "hard": True, "min": 1, "required": ["x"]},
        {"rule": "regex", "hard": True, "pattern": "\\d+\u2028\"'\\\\"},
    ]
    odd = "".join(map(chr, (*range(1, 0x100), 0x2028, 0xFEFF, 0x1F600))) + "'''\"\"\"\r\n"
    bodies = [document(one) for one in load_library().values()]
    bodies.append(rubric("1", "odd", description=odd, rules=rules, anchors=[ANCHOR]))

    for body in bodies:
        made = put(service, body, status=201).json()
        got = loaded(service, body["id"])
        assert got["rubric_hash"] == made["rubric_hash"]
        assert put(service, got, status=200).json()["result"] == "unchanged"
        del got["rubric_hash"]
        assert {name: got[name] for name in body if name != "rules"} == {
            name: value for name, value in body.items() if name != "rules"
        } or body["id"] == "odd"


def test_the_file_reads_as_what_was_put(opened: Opened, tmp_path: Path) -> None:
    """A start afterwards loads the same rubric, anchors included."""
    service, _ = opened
    made = put(service, rubric("2", anchors=[ANCHOR]), status=201).json()

    again = load_library(tmp_path / "rubrics", tmp_path / "anchors")["quality"]

    assert again.rubric_hash == made["rubric_hash"]
    assert [anchor.candidate for anchor in again.anchors] == ["No answer."]


def test_anchors_go_with_their_rubric(opened: Opened, tmp_path: Path) -> None:
    """Anchors written for the rubric before are nothing to the new one: it has its own or none."""
    service, _ = opened
    file = tmp_path / "anchors" / "quality.jsonl"
    file.write_text(json.dumps({**ANCHOR, "point": 5}) + "\n", encoding="utf-8")

    put(service, rubric("2"), status=201)
    without = loaded(service)["anchors"]
    put(service, rubric("3", anchors=[ANCHOR]), status=201)

    assert without == []
    assert [anchor["point"] for anchor in loaded(service)["anchors"]] == [1]
    load_library(tmp_path / "rubrics", tmp_path / "anchors")


def test_puts_at_the_same_time(tmp_path: Path) -> None:
    """Of several contents for one version, to two services, one is taken and the others refused."""
    with open_folder(tmp_path) as (one, provider), over(tmp_path, provider) as other:

        def attempt(number: int) -> int:
            body = rubric("2", description=f"Content {number}.")
            return put((one, other)[number % 2], body).status_code

        with ThreadPoolExecutor(8) as pool:
            statuses = sorted(pool.map(attempt, range(8)))
        folder = tmp_path / "rubrics"
        winner = load_library(folder, tmp_path / "anchors")["quality"]

        assert statuses == [201] + [409] * 7
        assert winner.version == "2"
        assert not list(folder.rglob(".new-*"))


def test_nothing_half_written_is_left(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the last step fails, the rubric is the old one, whole, and a second try succeeds."""
    service, _ = opened
    before = loaded(service)

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", no_space)
        answer = put(service, rubric("2", anchors=[ANCHOR]), status=503)

    assert "No space left" in answer.json()["error"]["message"]
    assert int(answer.headers["retry-after"]) > 0
    assert loaded(service) == before
    assert not list((tmp_path / "rubrics").rglob(".new-*"))
    assert put(service, rubric("2", anchors=[ANCHOR])).status_code in (200, 201)
    assert loaded(service)["version"] == "2"
