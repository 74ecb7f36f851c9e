"""``gold check`` and ``gold convert``: what a set is worth, and how one is made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from judge_service.cli.app import app
from judge_service.gold.file import load_gold
from tests.gold.support import line, pair, write
from tests.harness import write_rubric

Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """``judge-service gold`` in a folder with a rubric ``quality`` and no anchors."""
    monkeypatch.chdir(tmp_path)
    write_rubric(tmp_path)
    (tmp_path / "anchors").mkdir()

    def run(*args: object) -> tuple[int, str, str]:
        told = CliRunner().invoke(app, ["gold", *map(str, args)], env={"COLUMNS": "200"})
        if told.exception is not None and not isinstance(told.exception, SystemExit):
            raise told.exception
        return told.exit_code, told.stdout, told.stderr

    return_folders = ("--rubrics-dir", "rubrics", "--anchors-dir", "anchors")

    def with_folders(command: str, *args: object) -> tuple[int, str, str]:
        return run(command, *args, *(return_folders if command == "check" else ()))

    return with_folders


def checked(gold: Said, lines: list[Any], *more: object) -> dict[str, Any]:
    """What the check says of these lines, as JSON."""
    write(Path("mine.jsonl"), lines)
    _, out, err = gold("check", "mine.jsonl", "--json", *more)
    assert out, err
    (found,) = json.loads(out)["files"]
    return dict(found)


def good(n: int = 60) -> list[dict[str, Any]]:
    """A set that nothing is to be said of."""
    return [
        line(i, prompt=f"Question {i // 3}?", labels={"quality": [i % 5 + 1] * 2}, family="qwen")
        for i in range(n)
    ]


def test_a_good_set_passes_without_a_remark(gold: Said) -> None:
    """Even with --strict; the figures are told."""
    found = checked(gold, good(), "--rubric", "quality", "--strict")

    assert found["passed"] is True
    assert found["warnings"] == []
    assert found["labels"]["quality"]["alpha"]["value"] == 1.0
    assert found["labels"]["quality"]["labels"] == {str(point): 24 for point in range(1, 6)}
    assert (found["groups"], found["items_in_groups"]) == (20, 60)
    assert gold("check", "mine.jsonl", "--rubric", "quality", "--strict")[0] == 0


@pytest.mark.parametrize(
    ("lines", "warning"),
    [
        (good(20), "20 items; 50 to 200 tell more"),
        (good(201), "more than 200 cost more than they tell"),
        ([line(i, labels={"quality": [5, 5]}) for i in range(60)], "100% of the labels are 5"),
        ([line(i) for i in range(60)], "one label per item"),
        (
            [line(i, labels={"quality": [1 + i % 5, 5 - i % 5]}) for i in range(60)],
            "annotators agree too little",
        ),
        ([*good(), {**good()[0], "id": "again"}], "i0 = again: the same item"),
        ([line(i) for i in range(60)], "no prompt has two candidates"),
        ([line(i) for i in range(60)], "no item names a family"),
        ([pair(i, candidates=["same", "same"]) for i in range(50)], "both candidates are the same"),
        (
            [pair(0), pair(1, prompt="Question 0?", candidates=["Right 0.", "Left 0."])],
            "p0 = p1: the same pair in the other order",
        ),
    ],
    ids=["few", "many", "balance", "one label", "disagreement", "duplicate", "groups", "family",
         "identical", "mirrored"],
)  # fmt: skip
def test_what_makes_a_set_tell_less_is_a_warning(
    gold: Said, lines: list[Any], warning: str
) -> None:
    """Exit code 0, with --strict 1."""
    found = checked(gold, lines)

    assert any(warning in said for said in found["warnings"]), found["warnings"]
    assert gold("check", "mine.jsonl")[0] == 0
    assert gold("check", "mine.jsonl", "--strict")[0] == 1


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([line(0), line(1, prompt="Question 0?", candidate="Answer 0.")], "different labels"),
        ([line(0), pair(1)], "single candidates and pairs are mixed"),
        ([line(0, labels={"quality": [6]})], "i0: quality: 6 is not on the scale"),
        ([line(0, labels={"quality": [0.5]})], "i0: quality: 0.5 is not on the scale"),
    ],
    ids=["conflict", "mixed", "off the scale", "below the scale"],
)
def test_what_makes_a_set_unfit_is_a_fault(gold: Said, lines: list[Any], fault: str) -> None:
    """Exit code 1."""
    found = checked(gold, lines, "--rubric", "quality")

    assert any(fault in said for said in found["faults"]), found
    assert gold("check", "mine.jsonl", "--rubric", "quality")[0] == 1


def test_an_anchor_is_no_gold(gold: Said, tmp_path: Path) -> None:
    """A judge that is told the point of an item says nothing by repeating it."""
    anchor = {
        "criterion": "quality",
        "point": 1,
        "prompt": "?",
        "candidate": "Answer 3.",
        "reason": ".",
    }
    write(tmp_path / "anchors" / "quality.jsonl", [anchor])

    found = checked(gold, good(), "--rubric", "quality")

    assert any("i3: an anchor of the rubric" in said for said in found["warnings"])


def test_labels_that_the_rubric_does_not_know(gold: Said) -> None:
    """And criteria that nobody labelled."""
    found = checked(gold, [line(0, labels={"charm": [3]})], "--rubric", "quality")

    assert any("charm: no criterion of rubric 'quality'" in said for said in found["warnings"])
    assert any("quality: no item has labels" in said for said in found["warnings"])


def test_without_a_file_those_beside_the_anchors(gold: Said, tmp_path: Path) -> None:
    """A set named after a rubric is checked against it."""
    (tmp_path / "anchors" / "gold").mkdir()
    write(tmp_path / "anchors" / "gold" / "quality.jsonl", good())

    code, out, _ = gold("check", "--json")

    assert code == 0
    assert json.loads(out)["files"][0]["rubric"] == "quality"
    assert gold("check", "quality")[0] == 0
    assert "60 items for rubric quality" in gold("check")[1]


def test_a_broken_file_is_one_line_per_fault(gold: Said) -> None:
    """No traceback, and no figures of what could be read."""
    Path("mine.jsonl").write_text('{"id": "a"}\n')

    code, out, err = gold("check", "mine.jsonl")

    assert (code, out) == (1, "")
    assert "mine.jsonl: line 1: prompt: missing" in err
    assert gold("check", "missing.jsonl")[0] == 1


def test_the_shipped_sets_are_fit_for_use() -> None:
    """Sixty items and more, over several rubrics, with no fault."""
    told = CliRunner().invoke(app, ["gold", "check", "--json"])
    files = json.loads(told.stdout)["files"]

    assert told.exit_code == 0
    assert sum(found["items"] for found in files) >= 60
    assert len({found["rubric"] for found in files}) >= 3
    for found in files:
        for figures in found["labels"].values():
            assert figures["annotators"] == {"2": found["items"]}


def test_convert_writes_a_gold_set(gold: Said, tmp_path: Path) -> None:
    """And says what was left out; an existing file is not replaced unasked."""
    rows = [
        {"input": f"Q{n}", "output_1": "a", "output_2": "b", "label": label}
        for n, label in enumerate([1, 2, 7, 1])
    ]
    write(tmp_path / "data.jsonl", rows)

    code, _, err = gold("convert", "data.jsonl", "--from", "llmbar", "--out", "out.jsonl")
    again = gold("convert", "data.jsonl", "--from", "llmbar", "--out", "out.jsonl")

    assert code == 0
    assert "3 items in out.jsonl, 1 row left out" in err
    assert "line 3: left out: label 7 is none of 0, 1 and 2" in err
    assert len(load_gold(tmp_path / "out.jsonl").items) == 3
    assert again[0] == 1
    assert "--overwrite" in again[2]


def test_convert_can_take_a_part_of_the_whole(gold: Said, tmp_path: Path) -> None:
    """Spread over the file, so that a sorted one is not cut to one kind."""
    rows = [{"input": f"Q{n}", "output_1": "a", "output_2": "b", "label": 1} for n in range(100)]
    write(tmp_path / "data.jsonl", rows)

    code, out, _ = gold("convert", "data.jsonl", "--from", "llmbar", "--limit", "4")

    assert code == 0
    prompts = [json.loads(text)["prompt"] for text in out.splitlines()]
    assert prompts == ["Q0", "Q25", "Q50", "Q75"]


def test_forms_are_listed(gold: Said) -> None:
    """By name, with what is read."""
    code, out, _ = gold("forms", "--json")

    assert code == 0
    names = [form["name"] for form in json.loads(out)["forms"]]
    assert names == [
        "llmbar", "mtbench", "judgebench", "rewardbench", "pandalm", "prometheus", "table",
    ]  # fmt: skip
    assert "PandaLM" in gold("forms")[1]
