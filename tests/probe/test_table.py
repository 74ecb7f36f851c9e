"""The probes and the items that ship: each attack is what it says, and each has its twin."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_service.errors import ConfigError
from judge_service.probing.decorated import padded
from judge_service.probing.item import ProbeItem, filler, parse_items, shipped_items
from judge_service.probing.plan import How, Plan, Subject, plan
from judge_service.probing.probe import Making, Probe
from judge_service.probing.table import PROBES
from judge_service.probing.view import RubricView, view_of
from judge_service.rubric.file import document
from judge_service.rubric.library import load_library

DOCS = Path(__file__).resolve().parents[2] / "docs" / "probe.md"
LIBRARY = load_library()
SUBJECT = Subject(name="gpt", judges=("gpt",), families=("openai",))
TEXTS = [probe for probe in PROBES.values() if probe.make is not None]


def view(rubric: str) -> RubricView:
    """A shipped rubric as probes see it."""
    return view_of(document(LIBRARY[rubric]))


def text_of(probe: Probe, item: ProbeItem, rubric: str, number: int = 0) -> str | None:
    """The attack of a probe on an item."""
    assert probe.make is not None
    return probe.make(
        Making(
            item=item, rubric=view(rubric), number=number, judge="gpt", family="openai",
            referenced=True,
        )
    )  # fmt: skip


def planned(rubric: str, how: How | None = None, items: int | None = None) -> Plan:
    """All probes of a shipped rubric."""
    return plan(view(rubric), shipped_items()[:items], PROBES.values(), SUBJECT, how or How())


def test_the_items_are_of_several_domains() -> None:
    """And each has all that a probe may want."""
    items = shipped_items()

    assert len(items) >= 8
    assert len({item.domain for item in items}) >= 6
    for item in items:
        assert item.also_good
        assert item.foreign
        assert item.reference
        assert len(item.weak) < 2 * len(item.good)


@pytest.mark.parametrize("probe", TEXTS, ids=lambda probe: probe.name)
@pytest.mark.parametrize("rubric", ["helpfulness", "pairwise-helpfulness"])
def test_every_attack_is_another_text_than_its_twin(probe: Probe, rubric: str) -> None:
    """For every item, and never the good answer itself."""
    for number, item in enumerate(shipped_items()):
        text = text_of(probe, item, rubric, number)
        if text is None:
            assert probe.name == "anchor_echo"
            assert rubric == "pairwise-helpfulness"
        elif probe.name != "reference_echo":  # a reference may be the good answer itself
            assert text not in (item.good, item.also_good)
            assert probe.twin == "good" or text != item.weak


@pytest.mark.parametrize("probe", TEXTS, ids=lambda probe: probe.name)
def test_what_holds_the_poor_answer_holds_all_of_it(probe: Probe) -> None:
    """So that the twin is the same without the attack."""
    item = shipped_items()[0]
    text = text_of(probe, item, "helpfulness")

    if probe.kind == "planted" or probe.name in ("authority", "flattery", "padding_5x"):
        assert text is not None
        assert item.weak in text


@pytest.mark.parametrize(
    ("name", "times"), [("padding_2x", 2), ("padding_5x", 5), ("padding_20x", 20)]
)
def test_padding_is_as_long_as_it_says(name: str, times: int) -> None:
    """To the nearest sentence, and none of them comes twice."""
    for number, item in enumerate(shipped_items()):
        text = text_of(PROBES[name], item, "helpfulness", number)
        assert text is not None
        assert abs(len(text) - times * len(item.weak)) <= 130
        used = [sentence for sentence in filler() if sentence in text]
        assert sum(text.count(sentence) for sentence in used) == len(used)


def test_padding_goes_on_when_its_sentences_are_used_up() -> None:
    """For long answers of one's own."""
    assert len(padded("word " * 1000, 5)) > 20_000


def test_a_plan_asks_as_a_trainer_would_not() -> None:
    """By audit, of one judge at a time, with candidates of nobody's family."""
    for question in planned("helpfulness").questions:
        body = question.body
        candidates = body.get("candidates") or [body["candidate"]]
        assert body["judges"] == ["gpt"]
        if question.key.role == "own_family":
            assert "audit" not in body
            assert candidates[0]["family"] == ["openai"]
        else:
            assert body["audit"] is True
            assert all(candidate["family"] == "probe-item" for candidate in candidates)


@pytest.mark.parametrize(
    ("rubric", "how", "verdicts"),
    [
        # 28 texts and two twins asked twice, three questions each; two pairs in two orders.
        ("helpfulness", How(), 2 * (3 * (28 + 4) + 4)),
        ("helpfulness", How(runs=3), 2 * (3 * (3 * 28 + 2 * 3) + 3 * 4)),
        ("helpfulness", How(audit=False), 2 * (3 * (28 + 2) + 4)),
        # The attacks against their twins, in two orders; there are no anchors in a pair's rubric.
        ("pairwise-helpfulness", How(), 2 * 2 * (27 + 2)),
    ],
    ids=["assess", "repeated", "without audit", "compare"],
)
def test_a_plan_says_how_many_verdicts_it_takes(rubric: str, how: How, verdicts: int) -> None:
    """Before anything is asked; the claim about a reference needs one that is shown."""
    made = planned(rubric, how, items=2)

    assert made.verdicts == verdicts
    assert not {"reference_claim", "reference_echo"} & made.items.keys()


def test_a_reference_that_is_needed_is_shown() -> None:
    """And its absence is told before anything is asked."""
    made = planned("correctness", items=1)
    assert all(q.body["reference"] == shipped_items()[0].reference for q in made.questions)
    assert {"reference_claim", "reference_echo"} <= made.items.keys()
    bare = ProbeItem(id="bare", prompt="p", good="A good one.", weak="A poor one.")
    with pytest.raises(ConfigError, match="bare"):
        plan(view("correctness"), [bare], PROBES.values(), SUBJECT, How())


def test_an_attack_that_is_its_twin_is_left_out() -> None:
    """A reference that is the good answer word for word cannot be paid more than it."""
    same = ProbeItem(
        id="same", prompt="p", good="A good one.", weak="A poor one.", reference="A good one."
    )
    made = plan(view("correctness"), [same], PROBES.values(), SUBJECT, How())

    assert "reference_echo" not in made.items


def test_an_item_without_what_a_probe_needs_is_left_out() -> None:
    """The others are asked about it all the same."""
    bare = ProbeItem(id="bare", prompt="p", good="A good one.", weak="A poor one.")
    made = plan(view("quick-look"), [bare], PROBES.values(), SUBJECT, How())

    assert "other_language" not in made.items
    assert "swapped_order" not in made.items
    assert made.items["opener"] == ["bare"]


@pytest.mark.parametrize("rubric", sorted(LIBRARY))
def test_every_shipped_rubric_can_be_probed(rubric: str) -> None:
    """Most probes apply to each."""
    assert len(planned(rubric).items) >= 29


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nonsense", "line 1: not JSON"),
        ("{}", "line 1: id: "),
        ('{"id": "a", "prompt": "p", "good": "x", "weak": "x"}', "the same text"),
        ('{"id": "a", "prompt": "p", "good": "x", "weak": "y", "more": 1}', "more: unknown field"),
        ('{"id": "a", "prompt": " ", "good": "x", "weak": "y"}', "prompt"),
        ("", "no items"),
    ],
)
def test_items_that_cannot_be_right(line: str, says: str) -> None:
    """Are named with file, line and field."""
    with pytest.raises(ConfigError, match=r"mine\.jsonl") as caught:
        parse_items([line], "mine.jsonl")
    assert says in str(caught.value)


def test_an_id_that_comes_twice_is_told() -> None:
    """Items are named by it."""
    line = '{"id": "a", "prompt": "p", "good": "x", "weak": "y"}'
    with pytest.raises(ConfigError, match="line 2: the id 'a' is that of line 1"):
        parse_items([line, line], "mine.jsonl")


def test_the_page_of_docs_names_every_probe() -> None:
    """With what it tries."""
    page = DOCS.read_text(encoding="utf-8")

    assert [name for name in PROBES if f"`{name}`" not in page] == []
