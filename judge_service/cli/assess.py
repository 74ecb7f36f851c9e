"""``judge-service assess``."""

from __future__ import annotations

from typing import Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.judging import run

CandidateText = Annotated[
    str | None,
    typer.Option(
        "--candidate", "-c", help="What is judged: a text, @file or - for stdin.",
        rich_help_panel=o.REQUEST,
    ),
]  # fmt: skip


def assess(
    rubric: o.RubricArgument = None,
    prompt: o.PromptText = None,
    candidate: CandidateText = None,
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
    """Judge one candidate on a rubric, or every line of a JSONL file.

    A failed outcome has no reward: it says why, and the exit code is 3.

    [bold]Examples[/bold]

    judge-service assess helpfulness -p 'How do I keep basil alive?' -c 'Water it when dry.'

    judge-service assess correctness -p @question.txt -c - -r 42 < answer.txt

    judge-service assess helpfulness --batch items.jsonl --out results.jsonl --url http://127.0.0.1:8080
    """
    raise typer.Exit(run("assess", locals(), ("candidate",)))
