"""``judge-service assess``."""

from __future__ import annotations

from typing import Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.judging_command import judging_command

CandidateText = Annotated[
    str | None,
    typer.Option(
        "--candidate", "-c", metavar="TEXT", help="What is judged: a text, @file or - for stdin.",
        rich_help_panel=o.REQUEST,
    ),
]  # fmt: skip


@judging_command("assess", ("candidate",))
def assess(candidate: CandidateText = None) -> None:
    """Judge one candidate on a rubric, or every line of a JSONL file.

    A failed outcome has no reward: it says why, and the exit code is 3.

    [bold]Examples[/bold]

    judge-service assess helpfulness -p 'How do I keep basil alive?' -c 'Water it when dry.'

    judge-service assess correctness -p @question.txt -c - -r 42 < answer.txt

    judge-service assess helpfulness --batch items.jsonl --out results.jsonl --url http://127.0.0.1:8080
    """
