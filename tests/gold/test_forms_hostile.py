"""Labelled data as it lies around: rows that lack, repeat or contradict, cells of any kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge_service.errors import ConfigError
from judge_service.gold.file import gold_text, parse_gold
from judge_service.gold.forms.form import Converted, Options
from judge_service.gold.forms.registry import convert
from judge_service.gold.forms.table import parse_words
from judge_service.types import Message
from tests.gold.test_forms import converted, judged_prompt, mt_vote

WHOLE_PROMPT = (
    "###The instruction to evaluate:\nSay hi.\n\n###Response to evaluate:\nHi.\n\n"
    "###Reference Answer (Score 5):\nHello!\n\n###Score Rubrics:\n[Polite?]\n\n###Feedback: "
)
ROWS: dict[str, list[dict[str, Any]]] = {
    "llmbar": [{"input": "Say hi.", "output_1": "Hi.", "output_2": "Bye.", "label": 1}],
    "judgebench": [
        {"pair_id": "p", "question": "?", "response_A": "2", "response_B": "3", "label": "A>B"}
    ],
    "rewardbench": [
        {"id": 1, "prompt": "?", "chosen": "good", "rejected": "bad", "subset": "s"},
        {"id": "x", "prompt": "?", "chosen": ["g1", "g2"], "rejected": ["b1", "b2", "b3"]},
        {
            "prompt": [{"role": "user", "content": "?"}],
            "chosen": [{"role": "assistant", "content": "yes"}],
            "rejected": [{"role": "assistant", "content": "no"}],
        },
    ],
    "pandalm": [
        {
            "idx": 4, "cmp_key": "bloom-7b_llama-7b", "instruction": "Shorten.", "input": "A text.",
            "response1": "A.", "response2": "B.", "annotator1": 0, "annotator2": 1,
        }
    ],
    "mtbench": [
        mt_vote("model_a"),
        mt_vote("model_b", turn=2),
        {
            "question_id": 81, "model_1": "a", "model_2": "b", "turn": 1, "g1_winner": "model_1",
            "g2_winner": "model_1", "g1_user_prompt": judged_prompt("Why?", "Because.", "No."),
        },
        {
            "question_id": 81, "model": "a", "score": 7, "turn": 1,
            "user_prompt": "[Question]\nq\n\n[The Start of Assistant's Answer]\na\n"
            "[The End of Assistant's Answer]",
        },
    ],
    "prometheus": [
        {"orig_instruction": "Say hi.", "orig_response": "Hi.", "orig_score": "4"},
        {
            "orig_instruction": "Say hi.", "orig_response_A": "Hi.", "orig_response_B": "Bye.",
            "orig_preference": "B",
        },
        {"instruction": WHOLE_PROMPT, "gpt4_score": [5, 4]},
        {
            "chosen_instruction": WHOLE_PROMPT,
            "rejected_instruction": WHOLE_PROMPT.replace("Hi.", "Ho."),
        },
    ],
    "table": [
        {"prompt": "a", "answer": "b", "score": 3},
        {"prompt": "a", "first": "b", "second": "c", "choice": "A > B"},
        {"prompt": "a", "answer": "b", "labels": {"q": [3, 4]}},
    ],
}  # fmt: skip
WILD: list[Any] = [
    None, "", 0, -1, 1.5, True, float("nan"), float("inf"), 10**400, "9" * 400, "\ud800", "\x00",
    "a\nb", "x" * 1_100_000, [], {}, [None], [{}], [[]], ["a", "b"], [{"role": 1, "content": 2}],
]  # fmt: skip
BASES = [(form, row) for form, rows in ROWS.items() for row in rows]


def readable(found: Converted) -> None:
    """What was converted is a gold file that can be read back, every item of it."""
    text = gold_text(found.items).encode().decode()
    gold, faults = parse_gold(text, name="x", where="x")
    assert not faults
    assert gold.items == tuple(found.items)


@pytest.mark.parametrize(
    ("form", "base"), BASES, ids=[f"{form}-{n}" for n, (form, _) in enumerate(BASES)]
)
def test_whatever_stands_in_a_cell_is_used_or_named(
    tmp_path: Path, form: str, base: dict[str, Any]
) -> None:
    """Each field left out or of any kind: no traceback, no other row lost, and what is made of it
    can be read back.
    """
    whole = len(converted(tmp_path, form, [base]).items)
    for name in base:
        for value in WILD:
            for row in ({n: v for n, v in base.items() if n != name}, {**base, name: value}):
                if name == "choice" and row.get(name) == 0 and row[name] is not False:
                    continue  # an error of the whole file, with a test of its own
                found = converted(tmp_path, form, [row, base])
                readable(found)
                assert len(found.items) >= whole
                assert len(found.items) > whole or found.skipped or form == "mtbench"


def test_what_a_row_lacks_is_no_text(tmp_path: Path) -> None:
    """PandaLM's own file has NaN where there is no input."""
    row = {**ROWS["pandalm"][0], "input": float("nan")}

    (item,) = converted(tmp_path, "pandalm", [row]).items

    assert item.prompt == "Shorten."


def test_ids_that_repeat_get_a_number_and_that_is_told(tmp_path: Path) -> None:
    """Also where the numbered name is taken already; nothing is lost."""
    row = {"prompt": "?", "answer": "b", "score": 3}
    rows = [{**row, "id": name} for name in ("a", "a-2", "a", "a", "b")]

    found = converted(tmp_path, "table", rows)

    assert [item.id for item in found.items] == ["a", "a-2", "a-3", "a-4", "b"]
    assert "2 ids stood more than once and got a number" in found.notes


@pytest.mark.parametrize(
    ("word", "choice"),
    [
        *[(word, "first") for word in ("first", "A", "1", "1.0", "model_a", "A>B", "a >> b")],
        *[(word, "second") for word in ("Second", "b", 2, 2.0, "model_b", "B > A", "[[B]]")],
        *[(word, "tie") for word in ("tie", " TIE ", "Draw", "A = B", "both", "neither", "C")],
        *[(word, "tie") for word in ("tied", "equal", "same", "[[C]]", "tie (bothbad)")],
    ],
)
def test_choices_in_the_usual_words(tmp_path: Path, word: Any, choice: str) -> None:
    """In any case, as a word, a letter or a number."""
    row = {"prompt": "?", "first": "b", "second": "c", "choice": word}

    (item,) = converted(tmp_path, "table", [row]).items

    assert item.choices == (choice,)


def test_a_choice_of_nought_is_not_guessed(tmp_path: Path) -> None:
    """Some files count from 0, in others it is a tie; with --word it is said."""
    row = {"prompt": "?", "first": "b", "second": "c", "choice": 1}
    rows = [row, {**row, "choice": 0}]

    with pytest.raises(ConfigError, match="line 2: a choice of 0 is the first one in some files"):
        converted(tmp_path, "table", rows)
    words = parse_words(["0=first", "1=second"])
    found = converted(tmp_path, "table", rows, Options(words=words))
    assert [item.choices for item in found.items] == [("second",), ("first",)]


def test_a_table_as_spreadsheet_programs_write_it(tmp_path: Path) -> None:
    """Semicolons, a byte order mark, CRLF, line breaks in cells, blank lines, a column too many."""
    file = tmp_path / "votes.csv"
    file.write_bytes(
        "\ufeffprompt;answer;score;\r\n"
        '"Wann?\r\nGenau.";"Um ""acht"";\nja";4;\r\n\r\n;;;\r\nWer?;Ich;5\r\n'.encode()
    )

    found = convert("table", file, Options())

    assert [(i.prompt, i.candidates[0].text) for i in found.items] == [
        ("Wann?\r\nGenau.", 'Um "acht";\nja'), ("Wer?", "Ich"),
    ]  # fmt: skip
    assert [place for place, _ in found.skipped] == ["line 6"]


def test_no_answer_of_a_ties_item_is_lost(tmp_path: Path) -> None:
    """Each of the longer list meets one of the other."""
    found = converted(tmp_path, "rewardbench", [ROWS["rewardbench"][1]])

    met = []
    for item in found.items:
        better = 0 if item.choices == ("first",) else 1
        met.append((item.candidates[better].text, item.candidates[1 - better].text))
    assert met == [("g1", "b1"), ("g2", "b2"), ("g1", "b3")]


def test_conversations_keep_their_turns(tmp_path: Path) -> None:
    """What follows the prompt is judged, its last turn with the others as context."""
    turns = [
        {"role": role, "content": text}
        for role, text in (("user", "?"), ("assistant", "a"), ("user", "b"), ("assistant", "c"))
    ]
    row = {
        "id": 1,
        "prompt": "?",
        "chosen": turns,
        "rejected": [*turns[:3], {**turns[3], "content": "d"}],
    }

    (item,) = converted(tmp_path, "rewardbench", [row]).items

    shown = [[m.text for m in c.messages or ()] for c in item.candidates]
    assert sorted(shown) == [["a", "b", "c"], ["a", "b", "d"]]


def conversation(name: str, *turns: str) -> str:
    """A conversation as FastChat writes it into a judge's prompt."""
    said = [
        f"### {'User' if place % 2 == 0 else f'Assistant {name}'}:\n{turn}"
        for place, turn in enumerate(turns)
    ]
    body = "\n\n".join(said)
    head = f"Assistant {name}'s Conversation with User|>"
    return f"<|The Start of {head}\n\n{body}\n\n<|The End of {head}"


def test_fastchats_judgments_of_second_turns(tmp_path: Path) -> None:
    """Conversations of the two, and the reference to the last question."""
    reference = (
        "<|The Start of Reference Answer|>\n\n### User:\nq1\n\n### Reference answer:\nr1\n\n"
        "### User:\nq2\n\n### Reference answer:\nr2\n\n<|The End of Reference Answer|>\n\n\n"
    )
    both = [conversation("A", "q1", "a1", "q2", "a2"), conversation("B", "q1", "b1", "q2", "b2")]
    row = {
        "question_id": 81, "model_1": "x", "model_2": "y", "turn": 2, "g1_winner": "tie",
        "g2_winner": "tie", "g1_user_prompt": reference + "\n\n\n".join(both),
    }  # fmt: skip

    (item,) = converted(tmp_path, "mtbench", [row]).items

    assert (item.id, item.prompt, item.reference) == ("81/x/y/turn2", "q1", "r2")
    assert [[m.text for m in c.messages or ()] for c in item.candidates] == [
        ["a1", "q2", "a2"], ["b1", "q2", "b2"],
    ]  # fmt: skip
    assert item.choices == ("tie",)


def test_fastchats_judgments_of_single_answers(tmp_path: Path) -> None:
    """Scores of 1 to 10 of both turns; what the judge could not score is left out."""
    math = (
        "[Instruction]\nRate.\n\n[Question]\nq1\n\n[The Start of Reference Answer]\nr1\n"
        "[The End of Reference Answer]\n\n[The Start of Assistant's Answer]\na1\n"
        "[The End of Assistant's Answer]"
    )
    one = {"question_id": 7, "model": "llama-13b", "user_prompt": math, "score": 6, "turn": 1}
    two = {**one, "turn": 2, "user_prompt": conversation("A", "q1", "a1", "q2", "a2"), "score": 9.5}

    found = converted(tmp_path, "mtbench", [one, two, {**one, "score": -1}])

    assert [dict(item.labels) for item in found.items] == [{"quality": (6.0,)}, {"quality": (9.5,)}]
    assert [item.reference for item in found.items] == ["r1", None]
    assert found.items[0].candidates[0].text == "a1"
    assert found.items[1].candidates[0].messages is not None
    assert found.skipped == [("line 3", "a score that is not on 1 to 10: '-1'")]
    assert "a model's, not people's" in found.notes[0]


def test_votes_on_other_texts_are_not_put_together(tmp_path: Path) -> None:
    """Two files of one benchmark put together, with answers sampled anew."""
    other = mt_vote("model_b")
    other["conversation_a"] = [
        *other["conversation_a"][:1],
        {"role": "assistant", "content": "No."},
    ]

    found = converted(tmp_path, "mtbench", [mt_vote("model_a"), other])

    assert [item.choices for item in found.items] == [("first",)]
    assert found.skipped == [("line 2", "other texts than those of line 1 under the same names")]


def test_prometheus_preferences_by_whole_prompts(tmp_path: Path) -> None:
    """As in its evaluation of helpfulness, honesty and harmlessness; some have no reference."""
    plain = WHOLE_PROMPT.replace("###Reference Answer (Score 5):\nHello!\n\n", "")
    row = {"chosen_instruction": plain, "rejected_instruction": plain.replace("Hi.", "Ho.")}
    torn = {**row, "rejected_instruction": plain.replace("Say hi.", "Say ho.")}

    found = converted(tmp_path, "prometheus", [row, torn])

    (item,) = found.items
    chosen = item.candidates[0 if item.choices == ("first",) else 1]
    assert (item.prompt, chosen.text, item.reference) == ("Say hi.", "Hi.", None)
    assert item.metadata == {"rubric": "[Polite?]"}
    assert found.skipped[0][1] == "chosen and rejected are not answers to one instruction"


def test_a_broken_file_of_many_lines_names_the_line(tmp_path: Path) -> None:
    """And nothing is made of the lines before it."""
    file = tmp_path / "data.jsonl"
    good = json.dumps(ROWS["llmbar"][0])
    file.write_text(f"{good}\r\n\r\n{good}\r\n{{oops}}\r\n")

    with pytest.raises(ConfigError, match="line 4: not JSON"):
        convert("llmbar", file, Options())


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"prompt": "", "answer": "b", "score": 3}, "the prompt is blank"),
        ({"prompt": " \n", "answer": "b", "score": 3}, "the prompt is blank"),
        ({"prompt": "a", "answer": "", "score": 3}, "the candidate is blank"),
        ({"prompt": "a", "answer": "\u200b", "score": 3}, "the candidate is blank"),
        ({"prompt": "a", "first": "b", "second": "", "choice": "A"}, "the second is blank"),
        ({"prompt": "a", "first": "b", "second": " ", "choice": "A"}, "a candidate is blank"),
        ({"prompt": "a", "answer": "b", "score": "1_000"}, "quality: '1_000' is not a number"),
        ({"prompt": "a", "answer": "b", "score": "\u0665"}, "is not a number"),
        ({"prompt": "a", "answer": "b", "score": "0x3"}, "is not a number"),
        ({"prompt": "a", "answer": "b", "score": "4,5"}, "is not a number"),
        ({"prompt": "a", "answer": "b", "score": True}, "is not a number"),
        ({"prompt": "a", "answer": "b", "labels": {"q": ["1_0"]}}, "q: '1_0' is not a number"),
    ],
)
def test_a_row_with_nothing_to_judge_or_no_plain_number_is_named(
    tmp_path: Path, row: dict[str, Any], reason: str
) -> None:
    """And left out; the rows beside it are used."""
    fit = {"prompt": "a", "answer": "b", "score": " +4.5 "}

    found = converted(tmp_path, "table", [fit, row])

    assert [item.labels for item in found.items] == [{"quality": (4.5,)}]
    ((place, why),) = found.skipped
    assert place == "line 2"
    assert reason in why


@pytest.mark.parametrize(
    ("form", "row", "reason"),
    [
        ("llmbar", {**ROWS["llmbar"][0], "output_2": " "}, "a candidate is blank"),
        ("judgebench", {**ROWS["judgebench"][0], "question": ""}, "the prompt is blank"),
        ("prometheus", {**ROWS["prometheus"][0], "orig_response": ""}, "the candidate is blank"),
        ("prometheus", {**ROWS["prometheus"][0], "orig_score": "0_4"}, "no score: '0_4'"),
    ],
)  # fmt: skip
def test_the_same_in_public_forms(
    tmp_path: Path, form: str, row: dict[str, Any], reason: str
) -> None:
    """Whatever form the row has."""
    found = converted(tmp_path, form, [ROWS[form][0], row])

    assert len(found.items) == 1
    assert [why for _, why in found.skipped] == [reason]


def test_conversations_in_parts(tmp_path: Path) -> None:
    """Lists of parts are read as in a request."""
    asked = [{"role": "user", "content": [{"type": "text", "text": "Hi?"}, {"type": "image_url"}]}]
    row = {**ROWS["rewardbench"][2], "prompt": asked}

    (item,) = converted(tmp_path, "rewardbench", [row]).items

    assert item.prompt == (Message(role="user", text="Hi?\n(image_url part, not shown)"),)
