"""Lines of a gold file: what may stand in one, and what is said of one that cannot be right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge_service.api.schemas import AssessBody
from judge_service.errors import ConfigError
from judge_service.gold.file import gold_text, load_gold, parse_gold
from judge_service.gold.item import GoldItem, majority
from judge_service.outcome import Choice
from judge_service.rubric.library import shipped
from judge_service.types import Candidate, Message, ToolCall
from tests.gold.support import line, pair, write


def faults_of(*lines: Any) -> list[str]:
    """What is wrong with these lines."""
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
    return parse_gold(text, name="g", where="g.jsonl")[1]


def test_a_line_with_points(tmp_path: Path) -> None:
    """One entry per annotator; the human value is their mean."""
    gold = load_gold(write(tmp_path / "g.jsonl", [line(3, labels={"quality": [4, 5]})]))

    (item,) = gold.items
    assert item.kind == "assess"
    assert item.human("quality") == 4.5
    assert item.human("other") is None
    assert gold.criteria == {"quality"}


def test_a_line_with_a_choice(tmp_path: Path) -> None:
    """The human choice is the one with the most votes."""
    votes = ["first", "tie", "first"]
    (item,) = load_gold(write(tmp_path / "g.jsonl", [pair(choice=votes)])).items

    assert item.kind == "compare"
    assert item.human_choice == "first"


@pytest.mark.parametrize(
    ("votes", "chosen"),
    [
        (["first"], "first"),
        (["first", "second"], None),
        (["first", "second", "second"], "second"),
        (["tie", "tie", "first", "first"], None),
        (["first", "second", "tie"], None),
        ([], None),
    ],
)
def test_a_draw_of_votes_is_no_choice(votes: list[Choice], chosen: str | None) -> None:
    """Neither a tie nor a coin."""
    assert majority(votes) == chosen


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prompt": None}, "prompt: "),
        ({"candidate": None}, "exactly one of candidate and candidates"),
        ({"candidates": ["a", "b"]}, "exactly one of candidate and candidates"),
        ({"labels": None}, "exactly one of labels and choice"),
        ({"labels": {}}, "labels: "),
        ({"labels": {"quality": []}}, "labels.quality: "),
        ({"labels": {"quality": 4}}, "labels.quality: must be a list"),
        ({"labels": {"quality": ["4"]}}, "labels.quality[0]"),
        ({"labels": {"quality": [True]}}, "labels.quality[0]"),
        ({"labels": {"quality": [10**400]}}, "labels.quality[0]: must lie between"),
        ({"labels": {"quality": [4, 1e300]}}, "labels.quality[1]: must lie between"),
        ({"labels": {"quality": [4] * 101}}, "labels.quality: must have 1 to 100 entries"),
        ({"choice": ["first"]}, "exactly one of labels and choice"),
        ({"id": ""}, "id: "),
        ({"id": 7}, "id: "),
        ({"colour": "red"}, "colour: unknown field"),
        ({"family": ""}, "family"),
        ({"candidate": {"text": "a", "messages": []}}, "candidate"),
        ({"candidate": {"txt": "a"}}, "candidate.txt: unknown field"),
        ({"candidate": 7}, "candidate: must be a text or an object"),
        ({"reference": 7}, "reference: "),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named_with_its_field(wrong: dict[str, Any], message: str) -> None:
    """File, line and field."""
    (fault, *_) = faults_of(line(), {**line(1), **wrong})

    assert fault.startswith("g.jsonl: line 2: ")
    assert message in fault


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nope", "line 1: not JSON"),
        ('{"id": "a", "id": "b"}', "the key 'id' stands twice"),
        ("[" * 100_000, "nested too deeply"),
        ("7", "line 1: "),
        ('{"labels": {"quality": [NaN]}}', "NaN is not a JSON number"),
        ('{"labels": {"quality": [1e999]}}', "1e999 is too large a number"),
    ],
    ids=["no JSON", "duplicate key", "deep", "no object", "NaN", "too large"],
)
def test_what_is_no_line_is_named(text: str, message: str) -> None:
    """Nothing of it is guessed."""
    assert message in faults_of(text)[0]


def test_an_id_stands_once() -> None:
    """Two items of one name could not be told apart in a run."""
    assert "id: 'i0' is already that of line 1" in faults_of(line(), line())[0]


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """And how many more there are."""
    file = write(tmp_path / "g.jsonl", [{"id": str(n)} for n in range(30)])

    with pytest.raises(ConfigError) as told:
        load_gold(file)

    assert str(told.value).count("\n") == 20
    assert "more faults" in str(told.value)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe{}"], ids=["empty", "blank", "UTF-16"])
def test_a_file_without_items_is_a_mistake(tmp_path: Path, content: bytes) -> None:
    """An empty set agrees with everything."""
    (tmp_path / "g.jsonl").write_bytes(content)

    with pytest.raises(ConfigError, match=r"g\.jsonl"):
        load_gold(tmp_path / "g.jsonl")


def test_the_digest_is_of_what_is_shown(tmp_path: Path) -> None:
    """Labels may be put right without making another set; texts may not."""
    first = load_gold(write(tmp_path / "a.jsonl", [line(0), line(1)]))
    relabelled = [line(1, family="qwen"), line(0, labels={"quality": [5, 5]})]
    second = load_gold(write(tmp_path / "b.jsonl", relabelled))
    third = load_gold(write(tmp_path / "c.jsonl", [line(0), line(1, candidate="Other.")]))

    assert first.digest == second.digest
    assert first.digest != third.digest


CALL = {"name": "find", "arguments": '{"q": "basil"}', "id": "c1"}
CHAT_CALL = {"id": "c1", "type": "function", "function": {k: CALL[k] for k in CALL if k != "id"}}


@pytest.mark.parametrize(
    ("message", "read"),
    [
        (
            {"role": "user", "content": [
                {"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}},
                {"text": "b"},
            ]},
            Message(role="user", text="a\n(image_url part, not shown)\nb"),
        ),
        (
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"}, {"type": "refusal", "refusal": "No."},
            ]},
            Message(role="assistant", text="No."),
        ),
        (
            {"role": "assistant", "content": None, "refusal": "No.", "reasoning_content": "hm"},
            Message(role="assistant", text="No."),
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
            Message(role="assistant", tool_calls=(ToolCall(**CALL),)),
        ),
        (
            {"role": "assistant", "tool_calls": [CALL]},
            Message(role="assistant", tool_calls=(ToolCall(**CALL),)),
        ),
        ({"role": "user", "content": "a", "tool_calls": None}, Message(role="user", text="a")),
    ],
    ids=["parts", "reasoning", "refusal", "chat calls", "plain calls", "no calls"],
)  # fmt: skip
def test_messages_are_read_as_in_a_request(message: dict[str, Any], read: Message) -> None:
    """In a prompt, in a candidate, and in a candidate that is a list of messages."""
    item = parse_gold(
        json.dumps(line(prompt=[message], candidate={"messages": [message]})), name="g", where="g"
    )[0].items[0]
    short = parse_gold(json.dumps(line(candidate=[message])), name="g", where="g")[0].items[0]

    assert item.prompt == (read,)
    assert item.candidates == short.candidates == (Candidate(messages=(read,)),)


ASKED = {"role": "user", "content": "a"}
BODY = {"rubric": "r", "prompt": "p"}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_audio"}]},
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
        {"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}]},
        {"role": "tool", "content": "7", "tool_call_id": "c1", "name": "find"},
    ],
    ids=["parts", "refusal", "calls", "reasoning", "tool"],
)
def test_a_request_and_a_gold_line_mean_the_same(message: dict[str, Any]) -> None:
    """What the API takes, a gold file takes, and it is the same message."""
    candidate = {"messages": [message]}
    sent = AssessBody.model_validate({**BODY, "candidate": candidate}).request().candidate
    gold, faults = parse_gold(json.dumps(line(candidate=candidate)), name="g", where="g")

    assert not faults
    assert gold.items[0].candidates == (sent,)


THOUGHT_ID = "call_0f8b__thought__" + "Q2hlY2s/" * 100


@pytest.mark.parametrize("word", [THOUGHT_ID, "a\nb\x00", "", "\ud83d"], ids=ascii)
def test_recorded_ids_are_taken_as_they_are(word: str) -> None:
    """Ids that hold a thought, or that a trainer left empty; a request has bounds for them."""
    calls = [{**CALL, "id": word}, {**CHAT_CALL, "id": word}]
    turns = [
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "content": [{"type": "a\tb"}], "name": word, "tool_call_id": word},
    ]
    gold, faults = parse_gold(json.dumps(line(candidate=turns)), name="g", where="g")

    assert not faults
    call = ToolCall(name=CALL["name"], arguments=CALL["arguments"], id=word)
    said = "(a\tb part, not shown)"
    assert gold.items[0].candidates[0].messages == (
        Message(role="assistant", tool_calls=(call, call)),
        Message(role="tool", text=said, name=word, tool_call_id=word),
    )
    assert parse_gold(gold_text(gold.items), name="g", where="g") == (gold, [])


@pytest.mark.parametrize(
    ("wrong", "only"),
    [
        ({"candidate": {"messages": [{"role": "user", "content": 3}]}},
         "candidate.messages[0].content: must be a text, a list of parts or null"),
        ({"candidate": [{"role": "user", "content": ["a"]}]},
         "candidate[0].content[0]: must be a table"),
        ({"candidate": [{"role": "user", "content": [{"type": "text"}]}]},
         "candidate[0].content[0]: a text part needs a text"),
        ({"candidate": [{"role": "user", "tool_calls": ["a"]}]},
         "candidate[0].tool_calls[0]: must be an object with a function, or with a name"),
        ({"candidate": [{"role": "user", "tool_calls": [{"function": {}}]}]},
         "candidate[0].tool_calls[0].function.name: missing"),
        ({"candidate": [{"role": "user", "tool_calls": [{"id": "c1"}]}]},
         "candidate[0].tool_calls[0].name: missing"),
        ({"candidate": [{"role": "user", "tool_calls": {}}]},
         "candidate[0].tool_calls: must be a list"),
        ({"candidate": [{"role": "tool", "tool_call_id": 7}]},
         "candidate[0].tool_call_id: Input should be a valid string"),
        ({"candidate": [{"role": "user", "content": [{"type": ""}]}]},
         "candidate[0].content[0].type: String should have at least 1 character"),
        ({"candidate": [{"role": "user", "content": [{"type": "image"}] * 1025}]},
         "candidate[0].content: must have 0 to 1,024 parts"),
        ({"candidate": []}, "candidate: must have 1 to 4,096 messages"),
        ({"prompt": [ASKED, 7]}, "prompt[1]: must be a table"),
        ({"labels": {"quality": ["a"]}}, "labels.quality[0]: must be a number"),
        ({"family": ["qwen", ""]}, "family[1]: String should have at least 1 character"),
        ({"family": 7}, "family: must be a word or a list of words"),
    ],
)  # fmt: skip
def test_one_mistake_is_one_fault(wrong: dict[str, Any], only: str) -> None:
    """Nothing is said of a list's length because of what stands in it, nor of other forms."""
    assert faults_of({**line(), **wrong}) == [f"g.jsonl: line 1: {only}"]


def test_one_mistake_in_a_pair_is_one_fault() -> None:
    """The same of candidates and choices."""
    assert faults_of(pair(candidates=["a", 7])) == [
        "g.jsonl: line 1: candidates[1]: must be a text or an object, or a list of messages"
    ]
    assert faults_of(pair(candidates=["a"])) == ["g.jsonl: line 1: candidates: must have 2 entries"]
    assert faults_of(pair(choice=["left"])) == [
        "g.jsonl: line 1: choice[0]: Input should be 'first', 'second' or 'tie'"
    ]


words = st.text(max_size=20)
families = st.frozensets(st.sampled_from(["qwen", "openai", "llama"]), max_size=2)
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool"]),
    text=words,
    name=st.none() | words,
    tool_calls=st.lists(
        st.builds(
            ToolCall,
            name=st.text(min_size=1, max_size=20),
            arguments=words,
            id=st.none() | words,
        ),
        max_size=1,
    ).map(tuple),
    tool_call_id=st.none() | words,
)
turns = st.lists(messages, min_size=1, max_size=3).map(tuple)
candidates = st.builds(Candidate, text=words, families=families) | st.builds(
    Candidate, messages=turns, families=families
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # of a busy machine
@given(
    st.builds(
        GoldItem, id=st.just("a"), prompt=words | turns, candidates=st.tuples(candidates),
        reference=st.none() | words,
        labels=st.dictionaries(
            st.sampled_from(["x", "y"]),
            st.lists(st.integers(1, 7).map(float), min_size=1, max_size=3).map(tuple),
            min_size=1,
        ),
    )
    | st.builds(
        GoldItem, id=st.just("b"), prompt=words, candidates=st.tuples(candidates, candidates),
        choices=st.lists(st.sampled_from(["first", "second", "tie"]), min_size=1).map(tuple),
    )
)  # fmt: skip
def test_what_is_written_is_read_back(item: GoldItem) -> None:
    """Every item, whatever its texts."""
    gold, faults = parse_gold(gold_text([item]), name="g", where="g")

    assert not faults
    assert gold.items == (item,)


@pytest.mark.parametrize("file", sorted((shipped("anchors") / "gold").glob("*.jsonl")), ids=str)
def test_the_shipped_sets_load(file: Path) -> None:
    """All of them, with two labels for each item."""
    gold = load_gold(file)

    assert gold.items
    for item in gold.items:
        assert len(item.choices) == 2 or all(len(p) == 2 for p in item.labels.values())
