"""Public forms of labelled data, made gold sets; what cannot be used is said, not guessed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from judge_service.errors import ConfigError
from judge_service.gold.forms.form import Converted, Options
from judge_service.gold.forms.registry import FORMS, convert
from judge_service.gold.forms.table import parse_columns, parse_words
from judge_service.types import Message

MT_TURNS = [
    {"role": "user", "content": "Name a river."},
    {"role": "assistant", "content": "The Rhine."},
    {"role": "user", "content": "And a lake?"},
    {"role": "assistant", "content": "Lake Como."},
]


def mt_vote(winner: str, *, swapped: bool = False, turn: int = 1, **more: Any) -> dict[str, Any]:
    """A vote in MT-Bench's form, on llama against vicuna."""
    llama = [*MT_TURNS[:1], {"role": "assistant", "content": "The Nile."}, *MT_TURNS[2:]]
    a, b = ("vicuna-13b-v1.2", "llama-13b") if swapped else ("llama-13b", "vicuna-13b-v1.2")
    first, second = (MT_TURNS, llama) if swapped else (llama, MT_TURNS)
    return {
        "question_id": 81, "model_a": a, "model_b": b, "winner": winner, "judge": "author_2",
        "conversation_a": first, "conversation_b": second, "turn": turn, **more,
    }  # fmt: skip


def judged_prompt(question: str, first: str, second: str) -> str:
    """The prompt that FastChat gives a judge of a pair."""
    return (
        f"[User Question]\n{question}\n\n[The Start of Assistant A's Answer]\n{first}\n"
        f"[The End of Assistant A's Answer]\n\n[The Start of Assistant B's Answer]\n{second}\n"
        "[The End of Assistant B's Answer]"
    )


def converted(
    folder: Path, form: str, rows: list[Any], options: Options | None = None
) -> Converted:
    """What comes of rows as JSONL."""
    file = folder / "data.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return convert(form, file, options or Options())


def test_llmbar(tmp_path: Path) -> None:
    """1 and 2 are the outputs."""
    rows = [{"input": "Say hi.", "output_1": "Hi.", "output_2": "Bye.", "label": n} for n in (1, 2)]

    found = converted(tmp_path, "llmbar", rows)

    assert [item.choices for item in found.items] == [("first",), ("second",)]
    assert found.items[0].prompt == "Say hi."
    assert [c.text for c in found.items[0].candidates] == ["Hi.", "Bye."]
    assert found.items[0].id != found.items[1].id


def test_judgebench(tmp_path: Path) -> None:
    """``A>B`` is the first."""
    row = {
        "pair_id": "p1", "question": "1+1?", "response_model": "gpt-4o-2024-05-13",
        "response_A": "2", "response_B": "3", "label": "A>B",
    }  # fmt: skip

    (item,) = converted(tmp_path, "judgebench", [row]).items

    assert (item.id, item.choices) == ("p1", ("first",))
    assert item.candidates[0].policy_model == "gpt-4o-2024-05-13"


def test_rewardbench(tmp_path: Path) -> None:
    """The chosen one stands now here, now there; four-way items become three pairs."""
    one = [
        {"id": n, "prompt": "?", "chosen": "good", "rejected": "bad", "subset": "s"}
        for n in range(20)
    ]
    four = {"id": "x", "prompt": "?", "chosen": ["good"], "rejected": ["b1", "b2", "b3"]}

    found = converted(tmp_path, "rewardbench", [*one, four])

    for item in found.items:
        place = 0 if item.choices == ("first",) else 1
        assert item.candidates[place].text == "good"
    assert {item.choices for item in found.items} == {("first",), ("second",)}
    assert [i.id for i in found.items[-3:]] == ["x/1", "x/2", "x/3"]
    again = converted(tmp_path, "rewardbench", [*one, four])
    assert again.items == found.items


def test_pandalm(tmp_path: Path) -> None:
    """0 is a tie; every annotator has a vote; the models' names tell families."""
    row = {
        "idx": 4, "cmp_key": "bloom-7b_llama-7b", "instruction": "Shorten.", "input": "A text.",
        "response1": "A.", "response2": "Text.", "annotator1": 0, "annotator2": 1, "annotator3": 2,
    }  # fmt: skip

    (item,) = converted(tmp_path, "pandalm", [row]).items

    assert item.choices == ("tie", "first", "second")
    assert item.prompt == "Shorten.\n\nA text."
    assert item.human_choice is None
    assert item.candidates[1].policy_model == "llama-7b"


def test_mt_bench_votes_on_one_pair_are_one_item(tmp_path: Path) -> None:
    """Whichever model stood first; votes for nobody are left out."""
    rows = [
        mt_vote("model_a"), mt_vote("model_b", swapped=True), mt_vote("tie"),
        mt_vote("tie (inconsistent)"),
    ]  # fmt: skip

    found = converted(tmp_path, "mtbench", rows)

    (item,) = found.items
    assert item.choices == ("first", "first", "tie")
    assert [c.text for c in item.candidates] == ["The Nile.", "The Rhine."]
    assert found.skipped == [("line 4", "a vote for nobody: 'tie (inconsistent)'")]
    assert not found.notes


def test_mt_bench_second_turns_keep_their_first(tmp_path: Path) -> None:
    """As messages: the last answer is judged, what came before is context."""
    (item,) = converted(tmp_path, "mtbench", [mt_vote("model_b", turn=2)]).items

    assert item.prompt == "Name a river."
    assert item.candidates[1].messages == (
        Message(role="assistant", text="The Rhine."),
        Message(role="user", text="And a lake?"),
        Message(role="assistant", text="Lake Como."),
    )


def test_mt_bench_judgments_of_a_model(tmp_path: Path) -> None:
    """The texts are in the judge's prompt; orders that disagree are no label."""
    row = {
        "question_id": 81, "model_1": "a", "model_2": "b", "turn": 1, "g1_winner": "model_1",
        "g2_winner": "model_1", "g1_user_prompt": judged_prompt("Why?", "Because.", "No."),
    }  # fmt: skip

    found = converted(tmp_path, "mtbench", [row, {**row, "g2_winner": "tie"}])

    (item,) = found.items
    assert (item.prompt, item.choices) == ("Why?", ("first",))
    assert [c.text for c in item.candidates] == ["Because.", "No."]
    assert found.skipped == [("line 2", "the two orders disagree")]
    assert "a model's, not people's" in found.notes[0]


def test_prometheus(tmp_path: Path) -> None:
    """Feedback, preferences and evaluation sets; the labels are a model's, and that is said."""
    feedback = {
        "orig_instruction": "Say hi.", "orig_response": "Hi.", "orig_score": "4",
        "orig_criteria": "Is it polite?", "orig_reference_answer": "Hello!",
    }  # fmt: skip
    preference = {
        "orig_instruction": "Say hi.", "orig_response_A": "Hi.", "orig_response_B": "Bye.",
        "orig_preference": "B",
    }  # fmt: skip
    sections = (
        "###Task Description:\n...\n\n###The instruction to evaluate:\nSay hi.\n\n"
        "###Response to evaluate:\nHi.\n\n###Reference Answer (Score 5):\nHello!\n\n"
        "###Score Rubrics:\n[Is it polite?]\nScore 1: no\n\n###Feedback: "
    )
    evaluation = {"instruction": sections, "gpt4_score": [5, 4, 5]}

    found = converted(
        tmp_path, "prometheus", [feedback, preference, evaluation, {**feedback, "orig_score": 9}],
        Options(criterion="politeness"),
    )  # fmt: skip

    assert [dict(item.labels) for item in found.items] == [
        {"politeness": (4.0,)}, {}, {"politeness": (5.0, 4.0, 5.0)},
    ]  # fmt: skip
    assert found.items[1].choices == ("second",)
    assert found.items[2].prompt == "Say hi."
    assert found.items[2].candidates[0].text == "Hi."
    assert [item.reference for item in found.items] == ["Hello!", None, "Hello!"]
    assert "not on 1 to 5" in found.skipped[0][1]
    assert "not people's" in found.notes[0]


def test_a_table_with_a_map_of_its_columns(tmp_path: Path) -> None:
    """Two annotators in two columns, an empty cell is no label, a model's name is its family."""
    file = tmp_path / "votes.csv"
    file.write_text(
        'frage,antwort,von,anna,bert\nWarum?,"Darum, ja.",qwen3-4b,4,5\nWann?,Um acht.,llama-3,1,\n'
    )
    columns = parse_columns(
        ["prompt=frage", "candidate=antwort", "model=von", "label.accuracy=anna,bert"]
    )

    found = convert("table", file, Options(columns=columns))

    first, second = found.items
    assert (first.prompt, first.candidates[0].text) == ("Warum?", "Darum, ja.")
    assert first.labels == {"accuracy": (4.0, 5.0)}
    assert first.candidates[0].policy_model == "qwen3-4b"
    assert second.candidates[0].text == "Um acht."
    assert second.labels == {"accuracy": (1.0,)}


def test_a_table_of_pairs_in_the_users_words(tmp_path: Path) -> None:
    """What a cell means is said with --word; the usual words are known."""
    file = tmp_path / "votes.tsv"
    file.write_text("question\tanswer_a\tanswer_b\tverdict\nQ?\tyes\tno\tleft\nQ?\tyes\tno\tB\n")
    options = Options(columns=parse_columns(["choice=verdict"]), words=parse_words(["left=first"]))

    found = convert("table", file, options)

    assert [item.choices for item in found.items] == [("first",), ("second",)]


@pytest.mark.parametrize(
    ("rows", "columns", "reason"),
    [
        ([{"prompt": "a", "answer": "b"}], [], "no label"),
        ([{"prompt": "a", "score": 3}], [], "no candidate"),
        ([{"answer": "a", "score": 3}], [], "no prompt"),
        ([{"prompt": "a", "answer": "b", "score": "good"}], [], "'good' is not a number"),
        ([{"prompt": "a", "answer": "b", "score": "nan"}], [], "'nan' is not a number"),
        ([{"prompt": "a", "first": "b", "second": "c", "choice": "left"}], [], "is no choice"),
        ([{"prompt": "a", "answer": "b", "s": 1}], ["label.x=t"], "there is no column 't'"),
    ],
    ids=["label", "candidate", "prompt", "word", "nan", "choice", "column"],
)
def test_a_row_that_cannot_be_used_is_named(
    tmp_path: Path, rows: list[Any], columns: list[str], reason: str
) -> None:
    """With its place; when nothing is left, that is an error."""
    with pytest.raises(ConfigError, match="no row could be used") as told:
        converted(tmp_path, "table", rows, Options(columns=parse_columns(columns)))

    assert f"line 1: {reason}" in str(told.value) or reason in str(told.value)


@pytest.mark.parametrize(
    "given", ["nothing=x", "prompt", "prompt=", "prompt=a,b", "label.=x"],
)  # fmt: skip
def test_a_map_that_cannot_be_right_is_refused(given: str) -> None:
    """With what there is to map."""
    with pytest.raises(ConfigError):
        parse_columns([given])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.json", b'[{"input": "a", "output_1": "b", "output_2": "c", "label": 1}]'),
        ("data.json", b'{"data": [{"input": "a", "output_1": "b", "output_2": "c", "label": 1}]}'),
        (
            "data.jsonl",
            b'\xef\xbb\xbf{"input": "a", "output_1": "b", "output_2": "c", "label": 1}\n',
        ),
        ("data.csv", b"input,output_1,output_2,label\na,b,c,1\n"),
    ],
    ids=["list", "object", "lines", "table"],
)
@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzip"])
def test_files_come_in_several_shapes(
    tmp_path: Path, name: str, content: bytes, zipped: bool
) -> None:
    """JSON, JSONL, CSV, each also compressed."""
    file = tmp_path / (name + (".gz" if zipped else ""))
    file.write_bytes(gzip.compress(content) if zipped else content)

    (item,) = convert("llmbar", file, Options()).items

    assert item.choices == ("first",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("data.jsonl", b"nope\n", "line 1: not JSON"),
        ("data.jsonl", b"7\n", "line 1: not an object"),
        ("data.json", b"[1]", "entry 0: not an object"),
        ("data.csv", b"a,b\n1,2,3\n", "more cells than there are columns"),
        ("data.csv", b'a,b\n"1,2\n', "not CSV"),
        ("data.jsonl.gz", b"\x1f\x8bnonsense", "cannot be read"),
        ("data.parquet", b"PAR1", "Parquet"),
        ("data.jsonl", b"\xff\xfe{\x00}\x00", "line 1: not UTF-8 but UTF-16"),
        ("data.jsonl", b'{}\n{"a": "\xe9"}\n', "line 2: not UTF-8"),
        ("data.jsonl", b'{}\n{"a": 1, "a": 2}\n', "line 2: not JSON: the key 'a' stands twice"),
        ("data.jsonl", b"[" * 100_000 + b"\n", "not JSON: nested too deeply"),
        ("data.csv", b"a,b,a\n1,2,3\n", "line 1: two columns are named 'a'"),
        ("data.csv", b'a,b\n1,"2\n\n3"\n1,2,3\n', "line 5: more cells"),
        (
            "data.csv",
            b"a,b\n1," + b"x" * (5 * 1024 * 1024) + b"\n",
            "line 2: not CSV: field larger",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """Named with what is wrong."""
    (tmp_path / name).write_bytes(content)

    with pytest.raises(ConfigError, match=message):
        convert("llmbar", tmp_path / name, Options())


def test_a_hostile_prompt_takes_no_time(tmp_path: Path) -> None:
    """Markers that begin again and again are looked at once."""
    text = "[User Question]\n" + "[The Start of Assistant A's Answer]\n" * 40_000
    row = {
        "question_id": 1, "model_1": "a", "model_2": "b", "g1_winner": "tie", "g2_winner": "tie",
        "g1_user_prompt": text,
    }  # fmt: skip

    with pytest.raises(ConfigError, match="no section"):
        converted(tmp_path, "mtbench", [row])


def test_every_form_says_what_it_reads() -> None:
    """For the list on the command line."""
    assert all(form.about for form in FORMS.values())
    with pytest.raises(ConfigError, match="there is no form 'nothing'"):
        convert("nothing", Path("x"), Options())
