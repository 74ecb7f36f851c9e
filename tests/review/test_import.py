"""Labels that reviewers wrote, taken in as gold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from judge_service.gold.file import load_gold
from tests.drift.support import Bench, Ran, pairs, points
from tests.review.support import filled, key_of, lines_of, recorded, rows_of
from tests.review.test_export import HOSTILE, KINDS, export


def take(bench: Bench, *more: Any) -> Ran:
    """``judge-service review import``."""
    command = [str(arg) for arg in ("review", "import", *more)]
    from typer.testing import CliRunner

    from judge_service.cli.app import app

    told = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
    if told.exception is not None and not isinstance(told.exception, SystemExit):
        raise told.exception
    return Ran(told.exit_code, told.stdout, told.stderr)


@pytest.fixture
def sheet(bench: Bench) -> Path:
    """All of eight items."""
    gold, runs = recorded(bench, points(8))
    target = bench.folder / "sheet.csv"
    ran = export(bench, "--gold", gold, "--runs", runs, "--out", target, "--random", 8)
    assert ran.code == 0, ran.err
    return target


def key(sheet: Path) -> list[Any]:
    """The option of a sheet's key."""
    return ["--key", sheet.with_suffix(".key.json")]


def test_each_sheet_is_one_more_annotator(bench: Bench, sheet: Path) -> None:
    """The labels that were there stay, those of the reviewers follow in the order of the sheets."""
    anna = filled(sheet, "anna", lambda row: {"label.quality": "4"})
    bob = filled(sheet, "bob", lambda row: {"label.quality": "5" if row["item"] == "r001" else ""})
    gold, out = bench.folder / "quality.jsonl", bench.folder / "new.jsonl"
    before = lines_of(gold)
    ran = take(bench, anna, bob, *key(sheet), "--gold", gold, "--out", out)

    assert ran.code == 0, ran.err
    assert "8 items labelled by 2 reviewers, 0 of them new, 0 left blank; 8 items" in ran.err
    both = key_of(sheet)["entries"]["r001"]["item"]["id"]
    for name, line in lines_of(out).items():
        new = [4, 5] if name == both else [4]
        assert line["labels"]["quality"] == [*before[name]["labels"]["quality"], *new]
        assert {**line, "labels": 0, "metadata": 0} == {**before[name], "labels": 0, "metadata": 0}


def test_without_a_gold_set_the_reviewed_items_make_one(bench: Bench, sheet: Path) -> None:
    """Those that nobody labelled are left out; the set passes ``gold check``."""
    anna = filled(sheet, "anna", lambda row: {"label.quality": "2" if row["item"] < "r004" else ""})
    out = bench.folder / "new.jsonl"
    ran = take(bench, anna, *key(sheet), "--out", out, "--json")

    assert json.loads(ran.out) == {
        "items": 3, "labelled": 3, "added": 3, "blank": 5, "reviewers": 1,
    }  # fmt: skip
    assert bench.command("gold", "check", out).code == 0


def test_choices_are_put_back_to_the_candidates(bench: Bench) -> None:
    """Whichever side stood first on the sheet, and however the reviewer says it."""
    gold, runs = recorded(bench, pairs(12), rubric="pair")
    sheet = bench.folder / "sheet.csv"
    export(bench, "--gold", gold, "--runs", runs, "--out", sheet, "--random", 12)
    words = iter(["1", "2", "Tie ", "answer_1", "Answer 2", "=", "A", "b", "1.0", "first", "2,0"])

    def fill(row: Mapping[str, str]) -> Mapping[str, str]:
        return {"choice": next(words, "")}

    anna = filled(sheet, "anna", fill)
    out = bench.folder / "new.jsonl"
    ran = take(bench, anna, *key(sheet), "--gold", gold, "--out", out)

    assert ran.code == 0, ran.err
    entries, found = key_of(sheet)["entries"], lines_of(out)
    plain = {
        **dict.fromkeys(("1", "answer_1", "a", "1.0", "first"), "Left"),
        **dict.fromkeys(("2", "answer 2", "b", "2,0"), "Right"),
    }
    for row in rows_of(anna):
        entry = entries[row["item"]]
        choices = found[entry["item"]["id"]]["choice"]
        said = row["choice"].strip().lower()
        if not said:
            assert len(choices) == 1
            continue
        side = plain.get(said)
        shown = {"Left": "answer_1", "Right": "answer_2"}.get(side or "")
        text = row[shown] if shown else ""
        wanted = "tie" if not text else "first" if text.startswith("Left") else "second"
        assert choices[1:] == [wanted]


@pytest.mark.parametrize("text", HOSTILE, ids=KINDS)
def test_texts_come_back_as_they_were(bench: Bench, text: str) -> None:
    """Whatever the sheet shows, and whatever a spreadsheet program did to it."""
    lines = [{**line, "prompt": text, "reference": text} for line in points(3)]
    gold, runs = recorded(bench, lines)
    sheet = bench.folder / "sheet.csv"
    export(bench, "--gold", gold, "--runs", runs, "--out", sheet)
    ruined = {"prompt": "#NAME?", "answer": "", "reference": "1,2E+05", "label.quality": "3"}
    anna = filled(sheet, "anna", lambda row: ruined)
    out = bench.folder / "new.jsonl"
    ran = take(bench, anna, *key(sheet), "--out", out)

    assert ran.code == 0, ran.err
    assert load_gold(out).digest == load_gold(gold).digest


@pytest.mark.parametrize("word", ["call_1__thought__" + "Q2hlY2s/" * 100, "a\tb", ""], ids=ascii)
def test_recorded_conversations_come_back_as_they_were(bench: Bench, word: str) -> None:
    """Ids of calls have whatever form the model's provider gave them."""
    call = {"name": "find", "arguments": "{}", "id": word}
    lines = [
        {
            **line,
            "candidate": [
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "content": "7", "tool_call_id": word},
                {"role": "assistant", "content": line["candidate"]},
            ],
        }
        for line in points(3)
    ]
    gold, runs = recorded(bench, lines)
    sheet = bench.folder / "sheet.csv"
    export(bench, "--gold", gold, "--runs", runs, "--out", sheet)
    anna = filled(sheet, "anna", lambda row: {"label.quality": "3"})
    out = bench.folder / "new.jsonl"
    ran = take(bench, anna, *key(sheet), "--out", out)

    assert ran.code == 0, ran.err
    assert load_gold(out).digest == load_gold(gold).digest


def test_a_sheet_may_come_back_from_another_program(bench: Bench, sheet: Path) -> None:
    """Semicolons for commas, rows in another order, columns that are gone or new."""
    anna = filled(sheet, "anna", lambda row: {"label.quality": "3,0"}, separator=";")
    head, *rows = anna.read_text("utf-8-sig").splitlines()
    names = head.split(";")
    kept = [names.index("label.quality"), names.index("item")]
    shown = [";".join(row.split(";")[place] for place in kept) for row in (head, *reversed(rows))]
    anna.write_bytes("\ufeff".encode() + "\r\n".join(f"{row};" for row in shown).encode())
    out = bench.folder / "new.jsonl"
    ran = take(bench, anna, *key(sheet), "--out", out)

    assert ran.code == 0, ran.err
    assert {line["labels"]["quality"][-1] for line in lines_of(out).values()} == {3}


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("6", "label.quality: '6' is none of 1, 2, 3, 4, 5"),
        ("4.5", "label.quality: '4.5' is none of"),
        ("NaN", "label.quality: 'NaN' is none of"),
        ("good", "label.quality: 'good' is none of"),
        ("-4", "label.quality: '-4' is none of"),
        ("1e0", "label.quality: '1e0' is none of"),
    ],
)
def test_a_label_off_the_scale_is_named(bench: Bench, sheet: Path, cell: str, says: str) -> None:
    """With file, line, item and column; nothing is written."""
    anna = filled(
        sheet, "anna", lambda row: {"label.quality": cell if row["item"] > "r006" else "1"}
    )
    out = bench.folder / "new.jsonl"
    ran = take(bench, anna, *key(sheet), "--out", out)

    assert ran.code == 1
    assert f"anna.csv: line 8: r007: {says}" in ran.err
    assert "line 9: r008" in ran.err
    assert not out.exists()


def broken(sheet: Path, how: str) -> Path:
    """A sheet with one thing wrong with it."""
    rows = rows_of(sheet)
    if how == "unknown item":
        return filled(sheet, "anna", lambda row: {"item": f"x{row['item']}"})
    if how == "item twice":
        return filled(sheet, "anna", lambda row: {"item": rows[0]["item"], "label.quality": "3"})
    if how == "no item column":
        text = sheet.read_text("utf-8-sig").replace("item,", "name,", 1)
        sheet.with_name("anna.csv").write_text(text, "utf-8")
    if how == "another encoding":
        sheet.with_name("anna.csv").write_bytes("item,note\r\nr001,\r\nr002,é".encode("cp1252"))
    if how == "nothing filled in":
        return filled(sheet, "anna", lambda row: {})
    return sheet.with_name("anna.csv")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("unknown item", "line 2: item: 'xr001' is not in this key"),
        ("item twice", "line 3: item: 'r001' stands on line 2 already"),
        ("no item column", "there is no column 'item'"),
        ("another encoding", "line 3: not UTF-8"),
        ("nothing filled in", "nothing is filled in on any sheet"),
    ],
)
def test_a_sheet_that_cannot_be_right(bench: Bench, sheet: Path, how: str, says: str) -> None:
    """One clear error, nothing guessed."""
    ran = take(bench, broken(sheet, how), *key(sheet))

    assert ran.code == 1
    assert says in ran.err


def test_labels_are_not_counted_twice(bench: Bench, sheet: Path) -> None:
    """The same reviewer's same sheet again is a mistake, or with --replace what it says now."""
    gold = bench.folder / "quality.jsonl"
    anna = filled(sheet, "anna", lambda row: {"label.quality": "4"})
    into = ["--gold", gold, "--out", gold, "--overwrite"]
    assert take(bench, anna, *key(sheet), *into).code == 0
    again = take(bench, anna, *key(sheet), *into)

    assert again.code == 1
    assert "has the labels of 'anna' from this sheet already" in again.err
    assert take(bench, anna, *key(sheet), *into, "--replace").code == 0
    assert {tuple(line["labels"]["quality"]) for line in lines_of(gold).values()} == {(4,)}


def test_a_text_that_was_changed_gets_no_label(bench: Bench, sheet: Path) -> None:
    """Nor is it replaced by the one that was labelled."""
    gold = bench.folder / "quality.jsonl"
    gold.write_text(gold.read_text("utf-8").replace("Answer 2,", "Another 2,"), "utf-8")
    anna = filled(sheet, "anna", lambda row: {"label.quality": "4"})
    ran = take(bench, anna, *key(sheet), "--gold", gold, "--out", bench.folder / "new.jsonl")

    assert ran.code == 1
    assert "item 'i2' was changed since the sheet was made" in ran.err


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "not json", '{"review_key": 1}', '{"review_key": 1, "entries": 3}']
)
def test_what_is_no_key_is_refused(bench: Bench, sheet: Path, text: str) -> None:
    """One line, no traceback."""
    wrong = bench.folder / "wrong.json"
    wrong.write_text(text, "utf-8")
    ran = take(bench, sheet, "--key", wrong)

    assert ran.code == 1
    assert "key of a review" in ran.err


def test_items_of_a_batch_become_gold(bench: Bench) -> None:
    """What a policy wrote, judged by two judges, labelled by a person: a gold set of its own."""
    items = bench.folder / "items.jsonl"
    lines = [
        {"id": n, "prompt": f"Question {n}?", "candidate": {"text": f"worth={n % 5 + 1}" + "." * n}}
        for n in range(12)
    ]
    items.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    here = ["--judges-file", "judges.toml"]
    for judge in ("alpha", "beta"):
        out = bench.folder / f"{judge}.jsonl"
        asked = ["--batch", items, "--out", out, "--judges", judge, "--family", "nobody"]
        ran = bench.command("assess", "quality", *asked, *here)
        assert ran.code == 0, ran.err
    sheet = bench.folder / "sheet.csv"
    both = [bench.folder / "alpha.jsonl", bench.folder / "beta.jsonl"]
    ran = export(bench, *both, "--items", items, "--out", sheet, "--top", 2, "--bottom", 2)
    assert ran.code == 0, ran.err
    assert {entry["said"][1]["judge"] for entry in key_of(sheet)["entries"].values()} == {"beta"}

    anna = filled(sheet, "anna", lambda row: {"label.quality": "1"})
    out = bench.folder / "new.jsonl"
    assert take(bench, anna, *key(sheet), "--out", out).code == 0
    found = load_gold(out)
    assert len(found.items) == 4
    assert {item.labels["quality"] for item in found.items} == {(1.0,)}


def test_results_of_other_items_are_refused(bench: Bench) -> None:
    """By their index and the lengths that were judged."""
    items = bench.folder / "items.jsonl"
    one = {"prompt": "Q?", "candidate": {"text": "worth=3, and some words."}}
    items.write_text(json.dumps(one) + "\n", "utf-8")
    results = bench.folder / "results.jsonl"
    asked = ["--batch", items, "--out", results, "--judges", "alpha"]
    ran = bench.command("assess", "quality", *asked, "--judges-file", "judges.toml")
    assert ran.code == 0, ran.err
    items.write_text(json.dumps({**one, "candidate": {"text": "short"}}) + "\n", "utf-8")
    ran = export(bench, results, "--items", items, "--out", bench.folder / "sheet.csv")

    assert ran.code == 1
    assert "was not made from item 0 of --items" in ran.err


def test_conversations_come_back_as_they_were(bench: Bench) -> None:
    """Shown as a text with its roles and calls; in the gold set they are messages again."""
    call = {"name": "search", "arguments": '{"q": "x"}', "id": "c1"}
    shown = [
        {"role": "assistant", "content": "Let me look, worth=3.", "tool_calls": [call]},
        {"role": "tool", "content": "=cmd", "tool_call_id": "c1"},
        {"role": "assistant", "content": "Done, worth=3."},
    ]
    prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Find x."}]
    lines = [
        {
            "id": f"m{n}", "prompt": prompt, "labels": {"quality": [n + 2]},
            "candidate": {"messages": [*shown, {"role": "assistant", "content": f"worth={n + 2}"}]},
        }
        for n in range(3)
    ]  # fmt: skip
    gold, runs = recorded(bench, lines)
    sheet = bench.folder / "sheet.csv"
    assert export(bench, "--gold", gold, "--runs", runs, "--out", sheet).code == 0
    assert "[assistant]" in rows_of(sheet)[0]["answer"]
    anna = filled(sheet, "anna", lambda row: {"label.quality": "3"})
    out = bench.folder / "new.jsonl"
    ran = take(bench, anna, *key(sheet), "--out", out)

    assert ran.code == 0, ran.err
    assert load_gold(out).digest == load_gold(gold).digest


def test_labels_of_a_jsonl_sheet(bench: Bench) -> None:
    """Numbers and texts; null is no label."""
    gold, runs = recorded(bench, points(4))
    sheet = bench.folder / "sheet.jsonl"
    export(bench, "--gold", gold, "--runs", runs, "--out", sheet)
    rows = [json.loads(line) for line in sheet.read_text("utf-8").splitlines()]
    for row, label in zip(rows, (4, "4", 4.0, None), strict=True):
        row["label.quality"] = label
    anna = sheet.with_name("anna.jsonl")
    anna.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    out = bench.folder / "new.jsonl"
    ran = take(bench, anna, *key(sheet), "--out", out)

    assert ran.code == 0, ran.err
    assert [line["labels"]["quality"][-1] for line in lines_of(out).values()] == [4, 4, 4]
