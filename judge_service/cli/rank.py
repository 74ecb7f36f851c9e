"""``judge-service rank``."""

from __future__ import annotations

from typing import Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.judging_command import judging_command

Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate", "-c", metavar="TEXT", rich_help_panel=o.REQUEST, show_default=False,
        help="A candidate: a text, @file or - for stdin; repeat it.",
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


@judging_command("rank", ("candidate",))
def rank(
    candidate: Candidates = None, strategy: StrategyWord = None, max_calls: MaxCalls = None
) -> None:
    """Rank a group of 2 to 64 candidates, or every group of a JSONL file.

    All members are judged by the same judges; the order in which they are given does not matter.
    With a compare rubric they meet in pairs; with an assess rubric each is assessed, and pairs
    settle equal rewards.

    [bold]Examples[/bold]

    judge-service rank pairwise-helpfulness -p @prompt.txt -c @a.txt -c @b.txt -c @c.txt

    judge-service rank helpfulness --batch groups.jsonl --out out.jsonl --max-calls 64
    """
