"""Rubrics that are not taken: who may not put, what cannot be right, where nothing is written."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judge_service.api.auth import key_hash
from judge_service.rubric.library import shipped
from tests.harness import RunningService, write_rubric
from tests.http_api import shipped_service
from tests.rubric_upload.support import ANCHOR, loaded, open_folder, put, rubric

JUDGE, ADMIN = (secrets.token_urlsafe(32) for _ in range(2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the service."""
    return tmp_path_factory.mktemp("refused")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[RunningService]:
    """A service that lets rubrics be put."""
    with open_folder(folder) as (running, _):
        yield running


CRITERION = rubric()["criteria"][0]
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown field": ({"weigths": {}}, "weigths"),
    "weights": ({"weights": {"rule": 0.5, "model": 0.6}}, "weights"),
    "no criteria": ({"criteria": []}, "criteria"),
    "weight of a criterion": ({"criteria": [{**CRITERION, "weight": 0.5}]}, "criteria"),
    "scale": ({"criteria": [{**CRITERION, "scale": CRITERION["scale"][:1]}]}, "criteria[0].scale"),
    "unknown rule": ({"rules": [{"rule": "nice", "hard": True}]}, "rules[0].rule"),
    "a rule's parameter": ({"rules": [{"rule": "max_chars", "hard": True}]}, "rules[0].limit"),
    "a rule that is a module": ({"rules": [{"rule": "os:system", "hard": True}]}, "rules[0].rule"),
    "anchor off the scale": ({"anchors": [{**ANCHOR, "point": 9}]}, "anchors[1].point"),
    "anchor without reason": ({"anchors": [{**ANCHOR, "reason": " "}]}, "anchors[0].reason"),
    "version as number": ({"version": 2}, "version"),
    "blank": ({"description": " "}, "description"),
    "quorum": ({"judging": {"panel_size": 1, "quorum": 2}}, "judging"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_rubric_is_checked_as_at_load(kind: str, service: RunningService) -> None:
    """422 with the field, and nothing changes."""
    fields, where = WRONG[kind]

    answer = put(service, {**rubric("9"), **fields}, status=422)

    error = answer.json()["error"]
    assert error["code"] == "invalid_rubric"
    assert where in [fault["field"] for fault in error["faults"]]
    assert loaded(service)["version"] == "1"


@pytest.mark.parametrize("body", [[], "x", True, 5], ids=["list", "text", "true", "number"])
def test_a_rubric_is_an_object(body: Any, service: RunningService) -> None:
    """Anything else is refused."""
    put(service, body, "quality", status=422)


@pytest.mark.parametrize(
    "path",
    [
        "..%2Fquality", "%2E%2E%2F%2E%2E%2Fetc%2Fx", "..", ".history", ".quality", "Quality",
        "a%00b", "quality%0A", "x" * 65, "a%5Cb", "%20", "a%2Fb", "-x", "~root",
    ],
)  # fmt: skip
def test_an_id_leads_nowhere_else(path: str, service: RunningService, folder: Path) -> None:
    """No id in the path can name another file, whatever the id in the body."""
    before = sorted(folder.rglob("*"))

    for body in (rubric("9"), rubric("9", "../quality")):
        answer = service.http.put(f"/v1/rubrics/{path}", json=body)
        assert answer.status_code in (404, 405, 422), answer.text
    assert sorted(folder.rglob("*")) == before


def test_the_id_is_that_of_the_path(service: RunningService) -> None:
    """A rubric is not put under another one's name."""
    answer = put(service, rubric("9", "other"), "quality", status=422)

    assert answer.json()["error"]["field"] == "id"


def test_a_rubric_has_a_size(service: RunningService) -> None:
    """1 MiB, and JSON only."""
    large = rubric("9", anchors=[{**ANCHOR, "candidate": "x" * 19_000}] * 60)

    put(service, large, status=413)
    answer = service.http.put("/v1/rubrics/quality", content=b"id = 1")
    assert answer.status_code == 415


def test_only_where_the_operator_allows_it(tmp_path: Path) -> None:
    """Without the setting nobody may, and the message names it; nor without an own folder."""
    with open_folder(tmp_path, allow_rubric_put=False) as (closed, _):
        answer = put(closed, rubric("2"), status=403)
        assert "JUDGE_SERVICE_ALLOW_RUBRIC_PUT" in answer.json()["error"]["message"]
    with shipped_service(tmp_path) as (service, _):
        put(service, rubric("2", "quick-look"), status=403)


def test_the_shipped_folder_is_not_written_to(tmp_path: Path) -> None:
    """Even where it is allowed and the folder is named outright."""
    with open_folder(tmp_path, rubrics_dir=shipped("rubrics"), anchors_dir=shipped("anchors")) as (
        service,
        _,
    ):
        answer = put(service, rubric("2", "fresh"), status=403)
    assert "JUDGE_SERVICE_RUBRICS_DIR" in answer.json()["error"]["message"]
    assert not (shipped("rubrics") / ".history").exists()


def test_only_admins(tmp_path: Path) -> None:
    """A key that may judge may not put; without a key nobody may."""
    entries = [
        f'[[keys]]\nname = "{name}"\nsha256 = "{key_hash(b"", key)}"\nscopes = ["{name}"]\n'
        for name, key in (("judge", JUDGE), ("admin", ADMIN))
    ]
    keys = tmp_path / "keys.toml"
    keys.write_text("\n".join(entries), encoding="utf-8")
    with open_folder(tmp_path, api_keys_file=keys) as (service, _):
        put(service, rubric("2"), status=401)
        put(service, rubric("2"), status=403, headers={"authorization": f"Bearer {JUDGE}"})
        put(service, rubric("2"), status=201, headers={"authorization": f"Bearer {ADMIN}"})


@pytest.mark.parametrize("what", ["file", "history", "history of the rubric"])
def test_symbolic_links_are_not_followed(what: str, tmp_path: Path) -> None:
    """A link in place of what would be written is refused, and its target stays as it is."""
    rubrics = write_rubric(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if what == "file":
        (rubrics / "quality.toml").rename(elsewhere / "target.toml")
        (rubrics / "quality.toml").symlink_to(elsewhere / "target.toml")
    elif what == "history":
        (rubrics / ".history").symlink_to(elsewhere)
    else:
        (rubrics / ".history").mkdir()
        (rubrics / ".history" / "quality").symlink_to(elsewhere)
    before = {file: file.read_text(encoding="utf-8") for file in elsewhere.iterdir()}

    with open_folder(tmp_path) as (service, _):
        answer = put(service, rubric("2"), status=403)

    assert "symbolic link" in answer.json()["error"]["message"]
    assert {f: f.read_text(encoding="utf-8") for f in elsewhere.iterdir()} == before
