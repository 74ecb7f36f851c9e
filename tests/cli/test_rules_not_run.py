"""An outcome for people whose rules were not run to their end."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli
from tests.harness import write_rubric


def test_rules_that_were_not_run_are_not_told_as_passed(
    cli: Cli, here: list[str], folder: Path
) -> None:
    """A rule that raises on one of two candidates: the other one's rules are told, and no more."""
    rule = (
        '[[rules]]\nrule = "tests.rules.custom_rules:breaks_on"\nparams = {word = "boom"}\n'
        "hard = true\n"
    )
    write_rubric(folder, "breaking", kind="compare", rules=rule)
    modules = {"JUDGE_SERVICE_RULE_MODULES": "tests.rules.custom_rules"}
    args = ("compare", "breaking", "--prompt", "Why?", "--family", "qwen", *here)

    ran = cli(*args, "--first", "boom", "--second", "good", env=modules)

    (folder / "rubrics" / "breaking.toml").unlink()
    assert (ran.code, "FAILED internal" in ran.flat) == (3, True)
    assert "rules first: not checked rules second: 1 of 1 passed" in ran.flat
