"""``judge-service cache``: verdicts looked at, removed, taken along and replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.harness import Judges, write_rubric
from tests.provider import FakeProvider


@pytest.fixture
def judges(tmp_path: Path) -> Judges:
    """A rubric, and a judge on a provider that can be stopped."""
    write_rubric(tmp_path)
    (tmp_path / "anchors").mkdir()
    provider = FakeProvider()
    provider.oracle({}, default=4)
    return Judges(provider)


def assess(cli: Cli, folder: Path, judges: Judges, *candidates: str, code: int = 0) -> list[float]:
    """Rewards of texts, judged in this process over the default store."""
    file = Judges(judges.provider).add("main", "alpha").write(folder)
    rewards = []
    for text in candidates:
        ran = cli(
            "assess", "quality", "-p", "A question?", "-c", text, "--family", "x", "--json",
            "--judges-file", file, "--rubrics-dir", folder / "rubrics", "--anchors-dir",
            folder / "anchors", "--timeout", 5,
        )  # fmt: skip
        assert ran.code == code, ran.err
        rewards.append(ran.json["reward"])
    return rewards


def test_an_export_is_replayed_without_a_judge(cli: Cli, tmp_path: Path, judges: Judges) -> None:
    """Verdicts taken to another store answer the same requests while no judge can be reached."""
    with judges.provider:
        assert assess(cli, tmp_path, judges, "one", "two") == [0.75, 0.75]
    assert cli("cache", "stats", "--json").json["verdicts"] == 2
    assert cli("cache", "export", "kept.jsonl").code == 0
    assert cli("cache", "clear", "--yes", "--json").json == {"removed": 2}
    assert assess(cli, tmp_path, judges, "one", code=3) == [None]

    elsewhere = {"JUDGE_SERVICE_STORE": str(tmp_path / "elsewhere" / "store.sqlite3")}
    imported = cli("cache", "import", "kept.jsonl", "--json", env=elsewhere)
    assert imported.json == {"imported": 2, "lines": 2}
    cli("cache", "import", "kept.jsonl")
    assert assess(cli, tmp_path, judges, "one", "two") == [0.75, 0.75]


def test_an_export_holds_no_texts(cli: Cli, tmp_path: Path, judges: Judges) -> None:
    """Lines have points, reasons and served models; prompts and candidates are only hashed."""
    with judges.provider:
        assess(cli, tmp_path, judges, "a private answer")
    lines = cli("cache", "export", "-").lines

    assert lines[0]["verdict"]["value"] == 4
    assert lines[0]["key"].startswith("jv:1:")
    assert "private" not in json.dumps(lines)


def test_stats_for_people(cli: Cli, tmp_path: Path, judges: Judges) -> None:
    """How many, how large, where, and by which model."""
    with judges.provider:
        assess(cli, tmp_path, judges, "one")
    shown = cli("cache", "stats").flat

    assert "1 verdict," in shown
    assert "store.sqlite3" in shown
    assert "main" in shown


def test_clear_by_model(cli: Cli, tmp_path: Path, judges: Judges) -> None:
    """Only the verdicts of the model that is named are removed."""
    with judges.provider:
        assess(cli, tmp_path, judges, "one")

    assert cli("cache", "clear", "--yes", "--model", "other", "--json").json == {"removed": 0}
    assert cli("cache", "clear", "--yes", "--model", "main", "--json").json == {"removed": 1}


def test_clear_asks_first(cli: Cli, tmp_path: Path, judges: Judges) -> None:
    """Without a terminal and without --yes nothing is removed."""
    with judges.provider:
        assess(cli, tmp_path, judges, "one")
    refused = cli("cache", "clear")

    assert refused.code == 1
    assert "--yes" in refused.err
    assert cli("cache", "stats", "--json").json["verdicts"] == 1


GOOD = {
    "key": "jv:1:" + "0" * 64,
    "ttl_s": 60,
    "verdict": {"value": 4, "reason": "", "model_served": None},
}


@pytest.mark.parametrize(
    "line",
    [
        "nonsense", "[]", "{}", json.dumps({**GOOD, "key": "jv:1:../x"}),
        json.dumps({**GOOD, "ttl_s": 0}), json.dumps({**GOOD, "ttl_s": True}),
        json.dumps({**GOOD, "ttl_s": 1e300}), '{"key": "x", "ttl_s": NaN, "verdict": {}}',
        json.dumps({**GOOD, "verdict": {**GOOD["verdict"], "value": True}}),  # type: ignore[dict-item]
        json.dumps({**GOOD, "verdict": {**GOOD["verdict"], "value": 4.5}}),  # type: ignore[dict-item]
        json.dumps({**GOOD, "more": 1}),
    ],
    ids=["no JSON", "list", "empty", "key", "no time", "boolean time", "endless", "NaN", "boolean",
         "fraction", "unknown field"],
)  # fmt: skip
def test_a_faulty_line_imports_nothing(cli: Cli, tmp_path: Path, line: str) -> None:
    """The line is named, and not even the good ones before it are taken."""
    (tmp_path / "in.jsonl").write_text(json.dumps(GOOD) + "\n" + line + "\n")
    ran = cli("cache", "import", "in.jsonl")

    assert ran.code == 1
    assert "line 2" in ran.err
    assert cli("cache", "stats", "--json").json["verdicts"] == 0


def test_a_file_that_is_not_there(cli: Cli) -> None:
    """One readable line."""
    ran = cli("cache", "import", "nowhere.jsonl")

    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "nowhere.jsonl" in ran.err
