"""What reviewers are shown, and what they are not."""

from __future__ import annotations

import json
import re
import stat
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.drift.support import Bench, Ran, pairs, points, raised
from tests.provider import behaviours
from tests.review.support import key_of, recorded, rows_of

HOSTILE = (
    '=HYPERLINK("http://evil","x")\n+1\n@SUM(A1)\t\u202egnp.exe\u200b\x00\x1b[31m',
    "-2+3|cmd' /C calc'!A0",
    'a "quoted", comma;\r\nnew line\r',
    "\ufeff\u2028\U000e0041 🎉 Ünïcödé",
    "",
    ";=1+1;+2\t-3 ;  @SUM(A1)",
    "\n \n=1+1",
    "＝1+1；",
)
KINDS = ("formula", "command", "quotes", "marks", "empty", "separators", "line break", "wide")


def export(bench: Bench, *more: Any) -> Ran:
    """``judge-service review export``."""
    return bench.command("review", "export", *more)


@pytest.fixture
def sheet(bench: Bench) -> Path:
    """Of forty items, a few of each kind; beta is more lenient on some."""
    bench.provider.behave("beta", raised(0.3))
    lines = [
        {
            **line,
            "id": f"qwen-{line['id']}-rejected",
            "family": "qwen",
            "metadata": {"was": "worst"},
        }
        for line in points(40)
    ]
    gold, runs = recorded(bench, lines)
    target = bench.folder / "sheet.csv"
    ran = export(
        bench, "--gold", gold, "--runs", runs, "--out", target,
        "--top", 3, "--bottom", 3, "--disagreements", 3, "--random", 4,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    return target


def test_the_chosen_items_are_those_asked_for(sheet: Path) -> None:
    """The highest, the lowest and the most changed by the runs; the key says why each is there."""
    entries = key_of(sheet)["entries"].values()
    why = {reason: [e for e in entries if reason in e["why"]] for reason in ("highest", "lowest")}

    assert all(e["said"][-1]["reward"] == 1.0 for e in why["highest"])
    assert all(e["said"][-1]["reward"] == 0.0 for e in why["lowest"])
    assert [len(found) for found in why.values()] == [3, 3]
    changed = [e for e in entries if "changed" in e["why"]]
    assert len(changed) == 3
    assert all(e["said"][0]["points"] != e["said"][1]["points"] for e in changed)
    assert sum(e["why"] == ["random"] for e in entries) == 4


def test_a_sheet_is_blind(sheet: Path) -> None:
    """No id, judge, family, label, score, reason or metadata; blank labels and nothing else."""
    text = sheet.read_text("utf-8-sig")
    rows = rows_of(sheet)

    assert list(rows[0]) == ["item", "prompt", "answer", "label.quality", "note"]
    assert all(row["label.quality"] == row["note"] == "" for row in rows)
    for hidden in ("qwen", "alpha", "beta", "-no", "worst", "highest", "lowest", "changed"):
        assert hidden not in text
    assert [row["item"] for row in rows] == [f"r{n:03d}" for n in range(1, len(rows) + 1)]


def test_rows_are_in_an_order_that_says_nothing(bench: Bench) -> None:
    """Drawn by lot: neither the order of the set nor that of the reasons, another each time."""
    gold, runs = recorded(bench, points(40))
    orders = []
    for name in ("one", "two"):
        target = bench.folder / f"{name}.csv"
        assert export(bench, "--gold", gold, "--runs", runs, "--out", target).code == 0
        orders.append([e["item"]["id"] for e in key_of(target)["entries"].values()])

    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1] != sorted(orders[1])


def test_the_same_seed_draws_the_same_sheet(bench: Bench) -> None:
    """For those who must be able to say how it came about."""
    gold, runs = recorded(bench, points(20))
    texts = []
    for name in ("one", "two"):
        target = bench.folder / f"{name}.csv"
        export(bench, "--gold", gold, "--runs", runs, "--out", target, "--seed", 7)
        texts.append(target.read_bytes())

    assert texts[0] == texts[1]


def test_sides_of_pairs_change_places_by_lot(bench: Bench) -> None:
    """Which of the two was first in the gold set cannot be seen; the key knows."""
    bench.provider.behave("beta", behaviours.first_position())
    gold, runs = recorded(bench, pairs(30), rubric="pair")
    target = bench.folder / "sheet.csv"
    ran = export(bench, "--gold", gold, "--runs", runs, "--out", target, "--inconsistent", 30)

    assert ran.code == 0, ran.err
    assert "pairs have no rewards" in ran.err
    entries = key_of(target)["entries"]
    swapped = [entry["swapped"] for entry in entries.values()]
    assert len(swapped) == 30
    assert True in swapped
    assert False in swapped
    for row in rows_of(target):
        first, second = (row[name].split()[0] for name in ("answer_1", "answer_2"))
        turned = entries[row["item"]]["swapped"]
        assert (first, second) == (("Right", "Left") if turned else ("Left", "Right"))
    assert all("inconsistent" in entry["why"] for entry in entries.values())


def test_runs_of_one_judge_that_disagree_are_inconsistent(bench: Bench) -> None:
    """Points have no orders; a judge that says now this, now that, has repeats."""
    seen: dict[str, int] = {}

    def wavering(asked: Any) -> int:
        count = seen[asked.candidate] = seen.get(asked.candidate, 0) + 1
        return 5 if "Answer 3," in asked.candidate and count == 2 else 1

    bench.provider.behave("alpha", behaviours.decides(wavering))
    gold, runs = recorded(bench, points(8))
    target = bench.folder / "sheet.csv"
    export(bench, "--gold", gold, "--runs", runs, "--out", target, "--inconsistent", 2)

    found = [e for e in key_of(target)["entries"].values() if "inconsistent" in e["why"]]
    assert [e["item"]["id"] for e in found] == ["i3"]


def test_what_judges_said_is_shown_where_it_is_asked_for(bench: Bench) -> None:
    """Both verdicts with their reasons, for a review that need not be blind."""
    bench.provider.behave("beta", raised(1.0))
    gold, runs = recorded(bench, points(8))
    target = bench.folder / "sheet.csv"
    export(bench, "--gold", gold, "--runs", runs, "--out", target, "--show-verdicts")

    for row in rows_of(target):
        assert re.fullmatch(r"alpha: quality \d", row["verdict_1"])
        assert re.fullmatch(r"beta: quality \d", row["verdict_2"])
        assert row["reason_1"].startswith("quality: ")


def test_shown_verdicts_are_of_the_answers_as_shown(bench: Bench) -> None:
    """Where a pair's sides changed places, so does what judges said of them."""
    gold, runs = recorded(bench, pairs(12), rubric="pair")
    target = bench.folder / "sheet.csv"
    args = ("--gold", gold, "--runs", runs, "--out", target, "--random", 12, "--show-verdicts")
    assert export(bench, *args).code == 0

    for row in rows_of(target):
        first, second = (int(row[name].split("worth=")[1][0]) for name in ("answer_1", "answer_2"))
        better = "answer_1" if first > second else "answer_2" if second > first else "tie"
        assert row["verdict_1"] == f"alpha: {better}"


@pytest.mark.parametrize("text", HOSTILE, ids=KINDS)
def test_a_text_cannot_act_in_a_spreadsheet(bench: Bench, text: str) -> None:
    """No cell is a formula, no character steers or hides, and every row has all its cells."""
    lines = [{**line, "prompt": f"{text}?"} for line in points(4)]
    lines[0]["reference"] = text
    gold, runs = recorded(bench, lines)
    target = bench.folder / "sheet.csv"
    assert export(bench, "--gold", gold, "--runs", runs, "--out", target).code == 0

    for row in rows_of(target):
        assert set(row) == {"item", "prompt", "reference", "answer", "label.quality", "note"}
        for cell in row.values():
            assert not cell.startswith(("\t", "\r"))
            for part in re.split("[;\t]", cell):
                assert unicodedata.normalize("NFKC", part.lstrip())[:1] not in set("=+-@")
            assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u200b\u2028\u202e\U000e0041]", cell)


def test_the_key_is_for_its_owner(sheet: Path) -> None:
    """It holds what reviewers must not see."""
    assert stat.S_IMODE(sheet.with_suffix(".key.json").stat().st_mode) == 0o600


def test_the_guide_tells_how_to_label(sheet: Path) -> None:
    """The rubric's questions and what each point means; nothing of the items."""
    guide = sheet.with_suffix(".guide.md").read_text("utf-8")

    assert "label.quality" in guide
    assert "- **5**: " in guide
    assert "Answer" not in guide


def test_a_jsonl_sheet_has_null_labels(bench: Bench) -> None:
    """For those who label with a tool of their own."""
    gold, runs = recorded(bench, points(4))
    target = bench.folder / "sheet.jsonl"
    export(bench, "--gold", gold, "--runs", runs, "--out", target)

    rows = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert len(rows) == 4
    assert {row["label.quality"] for row in rows} == {None}


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        ([], 2, "--out: name the sheet"),
        (["--out", "sheet.xlsx"], 1, "ends neither with .csv nor with .jsonl"),
        (["--out", "sheet.csv"], 2, "give results of a batch (with --items), or --runs with"),
        (["--out", "sheet.csv", "--runs", "no.runs"], 2, "--gold: name the gold set"),
        (["no.jsonl", "--out", "sheet.csv"], 2, "--items: name the batch"),
        (["no.jsonl", "--items", "no.jsonl", "--out", "sheet.csv"], 1, "no.jsonl: No such file"),
    ],
    ids=["no out", "ending", "no source", "no gold", "no items", "no file"],
)
def test_a_mistake_is_one_line(bench: Bench, args: list[str], code: int, says: str) -> None:
    """Exit code 2 for a missing option, else 1, and nothing is written."""
    ran = export(bench, *args)

    assert ran.code == code
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not list(bench.folder.glob("sheet*"))


def test_nothing_is_replaced_unasked(sheet: Path, bench: Bench) -> None:
    """A key that is gone makes its sheet worthless."""
    before = sheet.with_suffix(".key.json").read_bytes()
    args = ("--gold", bench.folder / "quality.jsonl", "--runs", bench.folder / "both.runs")
    ran = export(bench, *args, "--out", sheet)

    assert ran.code == 1
    assert "--overwrite replaces it" in ran.err
    assert sheet.with_suffix(".key.json").read_bytes() == before


def test_runs_of_other_items_are_refused(bench: Bench) -> None:
    """A label of one text is never put to another."""
    gold, runs = recorded(bench, points(4))
    gold.write_text(gold.read_text("utf-8").replace("Answer 2,", "Another 2,"), "utf-8")
    ran = export(bench, "--gold", gold, "--runs", runs, "--out", bench.folder / "sheet.csv")

    assert ran.code == 1
    assert "item 'i2' was changed since" in ran.err
