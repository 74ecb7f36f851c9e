"""``judge-service compare``."""

from __future__ import annotations

from typing import Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.judging_command import judging_command

FirstText = Annotated[
    str | None,
    typer.Option(
        "--first", "-1", metavar="TEXT", rich_help_panel=o.REQUEST,
        help="The first candidate: a text, @file or - for stdin.",
    ),
]  # fmt: skip
SecondText = Annotated[
    str | None,
    typer.Option(
        "--second", "-2", metavar="TEXT", rich_help_panel=o.REQUEST,
        help="The second candidate: a text, @file or - for stdin.",
    ),
]  # fmt: skip


@judging_command("compare", ("first", "second"))
def compare(first: FirstText = None, second: SecondText = None) -> None:
    """Compare two candidates in both orders, or every pair of a JSONL file.

    Where the two orders disagree the outcome is inconsistent: nobody's win, and not a tie. When
    the candidates come from different models, repeat --family.

    [bold]Examples[/bold]

    judge-service compare pairwise-helpfulness -p @prompt.txt --first @a.txt --second @b.txt

    judge-service compare pairwise-helpfulness --batch pairs.jsonl --out out.jsonl --retry-failed
    """
