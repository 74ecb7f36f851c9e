"""``assess`` and ``compare`` on one request, in process and against a running service."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, faults

ASSESS = ("assess", "quality", "--prompt", "Why?", "--family", "qwen")
COMPARE = ("compare", "pair", "--prompt", "Why?", "--family", "qwen")


def test_an_assessment_as_json_is_the_outcome(cli: Cli, where: list[str]) -> None:
    """The same object as over HTTP; exit code 0."""
    ran = cli(*ASSESS, "--candidate", "a good answer", "--json", *where)

    assert ran.code == 0, ran.err
    outcome = ran.json
    assert (outcome["status"], outcome["reward"]) == ("success", 1.0)
    assert outcome["criteria"]["quality"]["point"] == 5
    assert outcome["verdicts"][0]["judge"] in ("alpha", "beta")
    assert outcome["flags"] == []


def test_both_ways_judge_alike(cli: Cli, here: list[str], service: RunningService) -> None:
    """In process and over HTTP there is one form of outcome, with the same content."""
    args = (*ASSESS, "--candidate", "a good answer", "--json")
    one, other = cli(*args, *here).json, cli(*args, "--url", service.url).json

    assert list(one) == list(other)
    for name in ("reward", "rules", "criteria", "rubric_hash", "fingerprint", "flags"):
        assert one[name] == other[name], name


def test_an_assessment_for_people(cli: Cli, where: list[str]) -> None:
    """Status, reward, the point with its meaning, judge, family, reason and cost."""
    ran = cli(*ASSESS, "--candidate", "a bad answer", *where)

    assert ran.code == 0, ran.err
    for words in (
        "SUCCESS reward 0.25", "2 of 1–5", "mostly wrong", "alpha", "Checked against the rubric.",
        "1 request, ", "900 + 60 tokens", "1 of 1 passed",
    ):  # fmt: skip
        assert words in ran.flat or (words == "alpha" and "beta" in ran.flat), words


def test_no_colours_where_nobody_looks(cli: Cli, here: list[str]) -> None:
    """Output into a file has no escape sequences."""
    assert "\x1b" not in cli(*ASSESS, "--candidate", "a good answer", *here).out


def test_a_reason_cannot_steer_the_terminal(
    cli: Cli, provider: FakeProvider, where: list[str]
) -> None:
    """Escape sequences and markup of a judge's reason are shown, not obeyed."""
    provider.behave_by_default(behaviours.fixed(3, reason="\x1b[2J[red]gone[/red] \u202e!"))

    ran = cli(*ASSESS, "--candidate", "an answer", *where)

    assert "\\u{1B}[2J[red]gone[/red] \\u{202E}!" in ran.flat.replace("} !", "}!")
    assert not set("\x1b\u202e") & set(ran.out)


def test_no_verdict_is_exit_code_three(cli: Cli, provider: FakeProvider, where: list[str]) -> None:
    """A failed outcome has no reward, and says why."""
    provider.behave_by_default(behaviours.says("I would rather not."))

    shown = cli(*ASSESS, "--candidate", "an answer without a verdict", *where)
    said = cli(*ASSESS, "--candidate", "an answer without a verdict", "--json", *where)

    assert (shown.code, said.code) == (3, 3)
    assert "FAILED unparsable" in shown.flat
    assert "reward 0" not in shown.flat
    assert (said.json["reward"], said.json["error"]["code"]) == (None, "unparsable")


def test_a_hard_rule_needs_no_judge(cli: Cli, provider: FakeProvider, here: list[str]) -> None:
    """Reward 0 is a success, and the rule is named."""
    ran = cli(*ASSESS, "--candidate", "x" * 2000, *here)

    assert ran.code == 0
    assert "SUCCESS reward 0" in ran.flat
    assert "max_chars failed" in ran.flat
    assert provider.requests == []


def test_a_comparison_shows_both_orders(cli: Cli, where: list[str]) -> None:
    """Who won, and what was chosen in each order."""
    ran = cli(*COMPARE, "--first", "bad", "--second", "good", *where)

    assert ran.code == 0, ran.err
    for words in ("SECOND is better", "first shown first (AB)", "second shown first (BA)"):
        assert words in ran.flat, words


@pytest.mark.parametrize(
    ("first", "second", "outcome", "preference"),
    [("good", "bad", "first", 1.0), ("bad", "good", "second", 0.0), ("same", "same", "tie", 0.5)],
)
def test_a_comparison_as_json(
    cli: Cli, here: list[str], first: str, second: str, outcome: str, preference: float
) -> None:
    """The preference is for the first."""
    ran = cli(*COMPARE, "--first", first, "--second", second, "--json", *here)

    assert ran.code == 0, ran.err
    assert (ran.json["outcome"], ran.json["preference"]) == (outcome, preference)


def test_an_inconsistent_pair_is_nobodys_win(
    cli: Cli, provider: FakeProvider, here: list[str]
) -> None:
    """It is a success, with a preference for nobody."""
    provider.behave_by_default(behaviours.first_position())

    ran = cli(*COMPARE, "--first", "bad", "--second", "good", *here)

    assert ran.code == 0
    assert "INCONSISTENT" in ran.flat
    assert "preference" not in ran.flat


def test_texts_come_from_files_and_stdin(cli: Cli, where: list[str], tmp_path: Path) -> None:
    """Each text has its own source."""
    (tmp_path / "prompt.txt").write_text("Why?\n")

    ran = cli(
        "assess", "quality", "-p", "@prompt.txt", "-c", "-", "--json", *where, stdin="a good one\n"
    )  # fmt: skip

    assert ran.json["reward"] == 1.0
    assert ran.json["metrics"]["length_chars"] == len("a good one")


def test_judges_are_restricted_and_families_excluded(cli: Cli, where: list[str]) -> None:
    """A candidate of a judge's family leaves the other judge, or none."""
    args = ("assess", "quality", "-p", "Why?", "-c", "good", "--json")

    assert cli(*args, "--judges", "beta", *where).json["verdicts"][0]["judge"] == "beta"
    assert cli(*args, "--family", "beta", *where).json["verdicts"][0]["judge"] == "alpha"
    nobody = cli(*args, "--family", "alpha,beta", *where)
    assert (nobody.code, nobody.json["error"]["code"]) == (3, "no_eligible_judge")


def test_a_panel_is_asked(cli: Cli, where: list[str]) -> None:
    """``--panel-size`` overrides the rubric's."""
    ran = cli(*ASSESS, "-c", "good", "--panel-size", "2", "--json", *where)

    assert {v["judge"] for v in ran.json["verdicts"]} == {"alpha", "beta"}


def test_the_time_limit_holds(cli: Cli, provider: FakeProvider, where: list[str]) -> None:
    """A judge that never answers ends in a failed outcome."""
    provider.behave_by_default(faults.hang())

    ran = cli(*ASSESS, "-c", "a good answer too late", "--timeout", "0.3", "--json", *where)

    assert ran.code == 3
    assert ran.json["error"]["code"] in ("deadline_exceeded", "timeout")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("assess", "nonsense", "-p", "?", "-c", "!"), "there is no rubric 'nonsense'"),
        (("assess", "pair", "-p", "?", "-c", "!"), "use compare"),
        (("assess", "quality", "-p", "?", "-c", "!", "--judges", "nobody"), "no judge 'nobody'"),
        (
            ("assess", "quality", "-p", "?", "-c", "!", "--timeout", "601"),
            "--timeout: must be at most 600",
        ),
        (("assess", "quality", "-p", "?", "-c", "!", "--panel-size", "0"), "--panel-size"),
        (("assess", "quality", "-p", "@nowhere", "-c", "!"), "nowhere"),
        (("assess", "quality", "-p", "-", "-c", "-"), "already read"),
    ],
    ids=["rubric", "kind", "judge", "timeout", "panel", "file", "stdin twice"],
)
def test_a_mistake_is_one_line(
    cli: Cli, where: list[str], args: tuple[str, ...], words: str
) -> None:
    """Exit code 1, nothing on stdout, no traceback."""
    ran = cli(*args, *where)

    assert ran.code == 1
    assert ran.out == ""
    assert words in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--judges-file", "nowhere.toml"], "--judges-file: nowhere.toml: no such file"),
        (["--rubrics-dir", "nowhere"], "nowhere: no such folder"),
    ],
    ids=["judges", "rubrics"],
)
def test_a_setting_that_cannot_be_right_is_one_line(
    cli: Cli, options: list[str], words: str
) -> None:
    """Named as it was given."""
    ran = cli("assess", "quality", "-p", "?", "-c", "!", *options)

    assert ran.code == 1
    assert words in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_an_unknown_variable_is_one_line(cli: Cli) -> None:
    """A misspelt setting is not passed over."""
    ran = cli("assess", "quality", "-p", "?", "-c", "!", env={"JUDGE_SERVICE_JUDGE": "x"})

    assert ran.code == 1
    assert "JUDGE_SERVICE_JUDGE: there is no such setting" in ran.err


def test_a_broken_rule_is_told_in_words(cli: Cli, here: list[str]) -> None:
    """The line names what broke, with a space between the words."""
    ran = cli(*ASSESS, "--candidate", "", *here)
    assert "hard rule non_empty failed" in ran.flat
