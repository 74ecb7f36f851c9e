"""``judge-service rank``."""

from __future__ import annotations

from typing import Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.judging import run

Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate", "-c", help="A candidate: a text, @file or - for stdin; repeat it.",
        rich_help_panel=o.REQUEST, show_default=False,
    ),
]  # fmt: skip
StrategyWord = Annotated[
    str | None,
    typer.Option(
        "--strategy", metavar="WORD", rich_help_panel=o.REQUEST,
        help="auto, assess, pairwise or listwise (default: auto).",
    ),
]  # fmt: skip
MaxCalls = Annotated[
    int | None,
    typer.Option(
        "--max-calls", min=1, metavar="N", rich_help_panel=o.REQUEST,
        help="The most verdicts to ask for (default: by the size of the group).",
    ),
]  # fmt: skip


def rank(
    rubric: o.RubricArgument = None,
    prompt: o.PromptText = None,
    candidate: Candidates = None,
    reference: o.ReferenceText = None,
    strategy: StrategyWord = None,
    max_calls: MaxCalls = None,
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
    """Rank a group of 2 to 64 candidates, or every group of a JSONL file.

    All members are judged by the same judges; the order in which they are given does not matter.
    With a compare rubric they meet in pairs; with an assess rubric each is assessed, and pairs
    settle equal rewards.

    [bold]Examples[/bold]

    judge-service rank pairwise-helpfulness -p @prompt.txt -c @a.txt -c @b.txt -c @c.txt

    judge-service rank helpfulness --batch groups.jsonl --out out.jsonl --max-calls 64
    """
    raise typer.Exit(run("rank", locals(), ("candidate",)))
