"""``judge-service compare``."""

from __future__ import annotations

from typing import Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.judging import run

FirstText = Annotated[
    str | None,
    typer.Option(
        "--first", "-1", help="The first candidate: a text, @file or - for stdin.",
        rich_help_panel=o.REQUEST,
    ),
]  # fmt: skip
SecondText = Annotated[
    str | None,
    typer.Option(
        "--second", "-2", help="The second candidate: a text, @file or - for stdin.",
        rich_help_panel=o.REQUEST,
    ),
]  # fmt: skip


def compare(
    rubric: o.RubricArgument = None,
    prompt: o.PromptText = None,
    first: FirstText = None,
    second: SecondText = None,
    reference: o.ReferenceText = None,
    policy_model: o.PolicyModel = None,
    family: o.Family = None,
    judges: o.JudgeIds = None,
    panel_size: o.PanelSize = None,
    timeout: o.Timeout = None,
    batch: o.BatchFile = None,
    out: o.OutFile = None,
    concurrency: o.Concurrency = 8,
    retry_failed: o.RetryFailed = False,
    overwrite: o.Overwrite = False,
    url: o.Url = None,
    judges_file: o.JudgesFile = None,
    rubrics_dir: o.RubricsDir = None,
    anchors_dir: o.AnchorsDir = None,
    rule_modules: o.RuleModules = None,
    require_family: o.RequireFamily = None,
    embedded_judge: o.EmbeddedJudge = None,
    local_model: o.LocalModel = None,
    local_model_family: o.LocalModelFamily = None,
    as_json: o.Json = False,
) -> None:
    """Compare two candidates in both orders, or every pair of a JSONL file.

    Where the two orders disagree the outcome is inconsistent: nobody's win, and not a tie. When
    the candidates come from different models, repeat --family.

    [bold]Examples[/bold]

    judge-service compare pairwise-helpfulness -p @prompt.txt --first @a.txt --second @b.txt

    judge-service compare pairwise-helpfulness --batch pairs.jsonl --out out.jsonl --retry-failed
    """
    raise typer.Exit(run("compare", locals(), ("first", "second")))
