"""``check``: every fault with file and field, and ten questions about each reward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import BOUNDED, Cli, write_lines
from tests.harness import CRITERION, write_rubric

TRAIN = '[[judges]]\nid = "a"\nmodel = "openai/gpt-5-mini"\n'


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Options for a folder of rubrics and anchors of the test's own."""
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "anchors" / "gold").mkdir(parents=True)
    return ["--rubrics-dir", "rubrics", "--anchors-dir", "anchors"]


def answers(cli: Cli, *args: object) -> dict[int, dict[str, Any]]:
    """The checklist of the first rubric, by number."""
    said = cli("check", "--json", *args).json
    return {answer["number"]: answer for answer in said["rubrics"][0]["checklist"]}


def anchor(point: int) -> dict[str, Any]:
    """An anchor of the test rubric."""
    return {"criterion": "quality", "point": point, "prompt": "?", "candidate": "!", "reason": "r"}


def test_the_shipped_rubrics_pass(cli: Cli) -> None:
    """Ten answers for each, none of them a failure."""
    ran = cli("check", "--json")

    assert ran.code == 0
    assert ran.json["passed"]
    assert ran.json["faults"] == []
    assert len(ran.json["rubrics"]) >= 8
    for rubric in ran.json["rubrics"]:
        assert [answer["number"] for answer in rubric["checklist"]] == list(range(1, 11))
        assert all(answer["reason"] for answer in rubric["checklist"])
        assert {answer["answer"] for answer in rubric["checklist"]} <= {"yes", "no", "cannot tell"}


def test_the_checklist_for_people(cli: Cli) -> None:
    """Question, answer and reason for the rubric that is named, and a last line that sums up."""
    ran = cli("check", "helpfulness")

    assert ran.code == 0
    assert "Is there a gold set against regressions?" in ran.flat
    assert "writing-quality" not in ran.out
    assert "1 rubric checked, 0 failures" in ran.flat


def test_every_fault_is_named_with_file_and_field(
    cli: Cli, tmp_path: Path, folders: list[str]
) -> None:
    """Several faults in several files at once; what is sound is checked all the same."""
    write_rubric(tmp_path, rules=BOUNDED)
    write_rubric(tmp_path, "one", criteria=CRITERION.replace("weight = 1.0", "weight = 0.4"))
    write_rubric(tmp_path, "two", top="colour = 1")
    write_lines(tmp_path / "anchors" / "quality.jsonl", anchor(1), anchor(5))
    write_lines(tmp_path / "anchors" / "stray.jsonl", anchor(1))
    (tmp_path / "anchors" / "gold" / "g.jsonl").write_text("{}\nnope\n")
    (tmp_path / "judges.toml").write_text('[[judges]]\nid = "a"\nmodel = "openai/nonsense"\n')

    ran = cli("check", *folders, "--judges", "judges.toml")
    said = cli("check", "--json", *folders, "--judges", "judges.toml").json

    assert ran.code == 1
    for words in (
        "one.toml: criteria: the weights must sum to 1",
        "two.toml: colour: unknown field",
        "stray.jsonl: there is no rubric",
        "g.jsonl: line 1: prompt: missing",
        "g.jsonl: line 2: not JSON",
        "judges.toml: judges[a]: family",
    ):
        assert words in ran.err, words
    assert [rubric["id"] for rubric in said["rubrics"]] == ["quality"]
    assert not said["passed"]


def test_anchors_off_the_scale_are_faults(cli: Cli, tmp_path: Path, folders: list[str]) -> None:
    """With the line they stand on."""
    write_rubric(tmp_path, rules=BOUNDED)
    write_lines(tmp_path / "anchors" / "quality.jsonl", anchor(1), anchor(9))

    ran = cli("check", *folders)

    assert ran.code == 1
    assert "quality.jsonl: line 2: point: 9" in ran.err


@pytest.mark.parametrize(
    ("rules", "length", "code"),
    [
        ("", "", 1),
        (BOUNDED, "", 0),
        ('[[rules]]\nrule = "max_words"\nlimit = 100\nhard = true\n', "", 0),
        ("", "[length]\nfree_chars = 10\nzero_chars = 100\n", 0),
    ],
    ids=["nothing", "max_chars", "max_words", "length"],
)
def test_no_upper_length_is_a_failure(
    cli: Cli, tmp_path: Path, folders: list[str], rules: str, length: str, code: int
) -> None:
    """Any of the three ways to end length is enough."""
    write_rubric(tmp_path, rules=rules, length=length)

    ran = cli("check", "--json", *folders)
    sixth = answers(cli, *folders)[6]

    assert ran.code == code
    assert ran.json["passed"] == (code == 0)
    assert (sixth["answer"], sixth["failure"]) == (("no", True) if code else ("yes", False))


def test_a_weighted_length_rule_is_an_upper_length(
    cli: Cli, tmp_path: Path, folders: list[str]
) -> None:
    """It need not be hard."""
    rules = '[[rules]]\nrule = "max_chars"\nlimit = 100\nweight = 1.0\n'
    write_rubric(tmp_path, rules=rules + "[weights]\nrule = 0.2\nmodel = 0.8\n")

    assert cli("check", *folders).code == 0


@pytest.mark.parametrize(
    ("other", "answer", "code"),
    [
        ("", "cannot tell", 0),
        ('[[judges]]\nid = "b"\nmodel = "openai/gpt-5-mini"\npurpose = "validate"\n', "no", 1),
        ('[[judges]]\nid = "b"\nmodel = "openai/gpt-4o"\npurpose = "validate"\n', "no", 1),
        (
            '[[judges]]\nid = "b"\nmodel = "anthropic/claude-sonnet-4-5"\npurpose = "validate"\n',
            "yes",
            0,
        ),
    ],
    ids=["no validation", "same judge", "same family", "another family"],
)
def test_validation_must_not_share_a_family_with_training(
    cli: Cli, tmp_path: Path, other: str, answer: str, code: int
) -> None:
    """The same judge or family for both is a failure."""
    (tmp_path / "judges.toml").write_text(TRAIN + other)

    assert answers(cli, "helpfulness", "--judges", "judges.toml")[7]["answer"] == answer
    assert cli("check", "helpfulness", "--judges", "judges.toml").code == code


def test_judges_toml_here_is_looked_at(cli: Cli, tmp_path: Path) -> None:
    """As ``serve`` would; without it the question stays open."""
    assert answers(cli, "helpfulness")[7]["answer"] == "cannot tell"
    (tmp_path / "judges.toml").write_text(TRAIN)

    assert "validate" in answers(cli, "helpfulness")[7]["reason"]


def test_a_missing_key_is_a_warning(cli: Cli, tmp_path: Path) -> None:
    """Checking needs no keys, but it says which a service would miss."""
    (tmp_path / "judges.toml").write_text(TRAIN + 'api_key_env = "NO_SUCH_KEY_HERE"\n')

    ran = cli("check", "helpfulness")

    assert ran.code == 0
    assert "NO_SUCH_KEY_HERE is not set" in ran.err


def test_strict_lets_warnings_fail(cli: Cli) -> None:
    """For those who want every no answered."""
    assert cli("check", "writing-quality").code == 0
    assert cli("check", "writing-quality", "--strict").code == 1


@pytest.mark.parametrize(
    ("description", "answer"),
    [
        ("Whether the answer is right.", "yes"),
        ("Whether it is right, e.g. by the book.", "yes"),
        ("答えが正しいかどうか。", "yes"),
        ("Whether it is right. Also whether it is kind.", "no"),
        ("答えは正しいか。親切か。", "no"),
        ("Whether " + "it is right and " * 20 + "kind.", "no"),
    ],
    ids=["one", "abbreviation", "japanese", "two", "two in japanese", "endless"],
)
def test_one_sentence(
    cli: Cli, tmp_path: Path, folders: list[str], description: str, answer: str
) -> None:
    """The description is what is counted."""
    file = write_rubric(tmp_path, rules=BOUNDED) / "quality.toml"
    file.write_text(file.read_text().replace("A rubric for tests.", description))

    assert answers(cli, *folders)[1]["answer"] == answer


@pytest.mark.parametrize(
    ("reference", "rules", "answer"),
    [
        ("required", "", "yes"),
        ("optional", "", "cannot tell"),
        ("forbidden", "", "no"),
        ("required", '[[rules]]\nrule = "matches_reference"\nmode = "exact"\nhard = true\n', "yes"),
    ],
)
def test_ground_truth(
    cli: Cli, tmp_path: Path, folders: list[str], reference: str, rules: str, answer: str
) -> None:
    """A rule or a required reference is one."""
    write_rubric(tmp_path, rules=BOUNDED + rules, reference=reference)

    assert answers(cli, *folders)[2]["answer"] == answer


def test_missing_defences_are_listed(cli: Cli, tmp_path: Path, folders: list[str]) -> None:
    """A no that says what is open."""
    write_rubric(tmp_path, rules=BOUNDED + '[[rules]]\nrule = "repetition"\nhard = true\n')

    third = answers(cli, *folders)[3]

    assert third["answer"] == "no"
    assert "a refusal" in third["reason"]
    assert "repetition" not in third["reason"]


def test_anchors_at_both_ends(cli: Cli, tmp_path: Path, folders: list[str]) -> None:
    """The end without an anchor is named."""
    write_rubric(tmp_path, rules=BOUNDED)
    write_lines(tmp_path / "anchors" / "quality.jsonl", anchor(1))
    without = answers(cli, *folders)[4]
    write_lines(tmp_path / "anchors" / "quality.jsonl", anchor(1), anchor(5))

    assert without["answer"] == "no"
    assert "quality (5)" in without["reason"]
    assert answers(cli, *folders)[4]["answer"] == "yes"


@pytest.mark.parametrize(
    ("name", "item", "answer"),
    [
        ("quality", {"candidate": "a", "labels": {"quality": [4]}}, "yes"),
        ("humans", {"candidate": "a", "labels": {"quality": [4]}}, "yes"),
        ("humans", {"candidate": "a", "labels": {"other": [4]}}, "no"),
        ("humans", {"candidates": ["a", "b"], "choice": ["first"]}, "no"),
    ],
    ids=["own", "fitting", "other criteria", "choices"],
)
def test_a_gold_set_is_found(
    cli: Cli, tmp_path: Path, folders: list[str], name: str, item: dict[str, Any], answer: str
) -> None:
    """Under the rubric's name, or another that labels its criteria."""
    write_rubric(tmp_path, rules=BOUNDED)
    write_lines(tmp_path / "anchors" / "gold" / f"{name}.jsonl", {"id": "1", "prompt": "?", **item})

    assert answers(cli, *folders)[10]["answer"] == answer


def test_metrics_are_named(cli: Cli) -> None:
    """The keys are fixed, and said."""
    ninth = answers(cli, "helpfulness")[9]

    assert ninth["answer"] == "yes"
    assert "criterion/accuracy" in ninth["reason"]
    assert answers(cli, "pairwise-helpfulness")[9]["answer"] == "yes"


def test_a_rubric_file_alone(cli: Cli, tmp_path: Path) -> None:
    """A path instead of an id; anchors are looked for beside it."""
    write_rubric(tmp_path, rules=BOUNDED)

    assert cli("check", "rubrics/quality.toml").code == 0
    nowhere = cli("check", "rubrics/nowhere.toml")
    assert nowhere.code == 1
    assert "nowhere.toml: cannot be read" in nowhere.err


def test_an_unknown_rubric_is_one_line(cli: Cli) -> None:
    """With those that are known."""
    ran = cli("check", "nonsense")

    assert ran.code == 1
    assert "there is no rubric nonsense; known: " in ran.err


def test_json_stays_json_with_faults(cli: Cli, tmp_path: Path, folders: list[str]) -> None:
    """Faults are in the object, not around it."""
    (tmp_path / "rubrics" / "x.toml").write_text("nonsense")

    ran = cli("check", "--json", *folders)

    assert ran.code == 1
    assert "x.toml: not TOML" in json.loads(ran.out)["faults"][0]


@pytest.mark.parametrize("named", [(), ("quality",)], ids=["all", "one rubric"])
def test_faults_of_watching_are_found_whatever_is_checked(
    cli: Cli, tmp_path: Path, folders: list[str], named: tuple[str, ...]
) -> None:
    """They would keep the service from starting, whichever rubric is looked at."""
    write_rubric(tmp_path, rules=BOUNDED)
    watch = "[watch]\nshift = -1\n[watch.shadow]\njudges = ['nobody']\ndaily_cost_usd = 1.0\n"
    (tmp_path / "judges.toml").write_text(TRAIN + watch)

    ran = cli("check", *named, *folders)

    assert ran.code == 1
    assert "judges.toml: watch: shift" in ran.err


def test_a_sentinel_of_another_rubric_is_no_fault(
    cli: Cli, tmp_path: Path, folders: list[str]
) -> None:
    """The rubric that is named is not all there is."""
    write_rubric(tmp_path, rules=BOUNDED)
    write_rubric(tmp_path, "other", rules=BOUNDED)
    gold = {"id": "1", "prompt": "?", "candidate": "!", "labels": {"quality": [3]}}
    write_lines(tmp_path / "anchors" / "gold" / "other.jsonl", gold)
    watch = '[watch.sentinel]\ngold = ["other"]\nshare = 0.01\ndaily_cost_usd = 1.0\n'
    (tmp_path / "judges.toml").write_text(TRAIN + watch)

    ran = cli("check", "quality", *folders)

    assert (ran.code, "error" in ran.err) == (0, False), ran.err
