"""``judge-service drift``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.exits import WRONG

SIDES, RUN, REPORT = "What is compared", "How it is asked", "Report"

USAGE_CODE = WRONG
"""2 means drift."""

Gold = Annotated[
    str | None,
    typer.Option(
        "--gold", metavar="FILE", rich_help_panel=SIDES,
        help="The gold set: a JSONL file, or the name of one beside the anchors.",
    ),
]  # fmt: skip
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline", metavar="JUDGE[,RUBRIC]", rich_help_panel=SIDES,
        help="The judge that is trusted, and its rubric (default: the one the gold set is for).",
    ),
]  # fmt: skip
Candidate = Annotated[
    str | None,
    typer.Option(
        "--candidate", metavar="JUDGE[,RUBRIC]", rich_help_panel=SIDES,
        help="The judge that is compared with it. Without one the baseline's runs are recorded.",
    ),
]  # fmt: skip
BaselineRun = Annotated[
    Path | None,
    typer.Option(
        "--baseline-run", metavar="FILE", rich_help_panel=SIDES,
        help="Runs of the baseline that were recorded earlier; it is not asked again.",
    ),
]  # fmt: skip
Repeat = Annotated[
    int,
    typer.Option(
        "--repeat", metavar="N", min=1, max=20, rich_help_panel=SIDES,
        help="Uncached runs of the baseline. Two or more measure its noise; 1 gives no floor.",
    ),
]  # fmt: skip
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="text|json|html", rich_help_panel=REPORT,
        help="Form of the report (default: by the ending of --out, else text).",
    ),
]  # fmt: skip
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="PATH", rich_help_panel=REPORT,
        help="Where the report goes (default: stdout).",
    ),
]  # fmt: skip
Top = Annotated[
    int,
    typer.Option(
        "--top", metavar="N", min=0, max=1000, rich_help_panel=REPORT,
        help="How many of the most changed, highest and lowest items are shown.",
    ),
]  # fmt: skip
Seed = Annotated[
    int,
    typer.Option(
        "--seed", metavar="N", min=0, help="Seed of the bootstrap.", rich_help_panel=REPORT
    ),
]  # fmt: skip
Runs = Annotated[
    Path | None,
    typer.Option(
        "--runs", metavar="FILE", rich_help_panel=RUN,
        help="Keep the runs here. The same command continues the file, or reports from it again. "
        "It can be a --baseline-run later. (Default: beside the store, until the report is made.)",
    ),
]  # fmt: skip
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost", metavar="USD", min=0.0, rich_help_panel=RUN,
        help="Stop before more than this is spent; the same command continues.",
    ),
]  # fmt: skip
Cached = Annotated[
    bool,
    typer.Option(
        "--cached", rich_help_panel=RUN,
        help="Let the candidate judge's verdicts come from the cache. A judge that was changed "
        "without notice is not seen then.",
    ),
]  # fmt: skip
RetryFailed = Annotated[
    bool,
    typer.Option(
        "--retry-failed", rich_help_panel=RUN,
        help="Ask again where an interrupted run, or one in --runs, has a failure that may pass.",
    ),
]  # fmt: skip
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Begin the runs anew.", rich_help_panel=RUN)
]
Concurrency = Annotated[
    int,
    typer.Option(
        "--concurrency", metavar="N", min=1, max=512, help="Items at a time.", rich_help_panel=RUN
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", metavar="SECONDS", min=0.1, max=600, rich_help_panel=RUN,
        help="Time for one judgement (default 60; the embedded trial model has 120).",
    ),
]  # fmt: skip


def drift(
    gold: Gold = None,
    baseline: Baseline = None,
    candidate: Candidate = None,
    baseline_run: BaselineRun = None,
    repeat: Repeat = 2,
    report_format: Format = None,
    out: Out = None,
    top: Top = 10,
    seed: Seed = 20_260_101,
    runs: Runs = None,
    max_cost: MaxCost = None,
    cached: Cached = False,
    retry_failed: RetryFailed = False,
    overwrite: Overwrite = False,
    concurrency: Concurrency = 8,
    timeout: Timeout = None,
    judges_file: o.JudgesFile = None,
    rubrics_dir: o.RubricsDir = None,
    anchors_dir: o.AnchorsDir = None,
    rule_modules: o.RuleModules = None,
    embedded_judge: o.EmbeddedJudge = None,
    local_model: o.LocalModel = None,
    local_model_family: o.LocalModelFamily = None,
    as_json: o.Json = False,
) -> None:
    """Compare two judges (or rubrics) on the same human-labelled items.

    Drift is called only beyond the noise of the unchanged baseline. Exit codes: 0 no drift,
    1 an error, 2 drift, 3 not enough evidence, 130 interrupted (the same command continues).

    [bold]Examples[/bold]

    judge-service drift --gold helpfulness --baseline gpt --candidate gpt-new

    judge-service drift --gold gold.jsonl --baseline gpt,helpfulness --repeat 3 --runs gpt.runs

    judge-service drift --gold gold.jsonl --baseline-run gpt.runs --candidate gpt --out drift.html
    """
    from judge_service.cli.drift_run import Wanted, run

    wanted = Wanted(
        gold=gold, baseline=baseline, candidate=candidate, baseline_run=baseline_run,
        repeat=repeat, form="json" if as_json and report_format is None else report_format,
        out=out, top=top, seed=seed, runs=runs, max_cost=max_cost, cached=cached,
        retry_failed=retry_failed, overwrite=overwrite, concurrency=concurrency, timeout=timeout,
        flags={
            "judges_file": judges_file, "rubrics_dir": rubrics_dir, "anchors_dir": anchors_dir,
            "rule_modules": rule_modules, "embedded_judge": embedded_judge,
            "local_model": local_model, "local_model_family": local_model_family,
        },
    )  # fmt: skip
    raise typer.Exit(run(wanted))
