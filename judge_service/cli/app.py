"""The Typer app: all commands, and one place where errors become readable lines."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from judge_service.cli import cache, gold
from judge_service.cli.assess import assess
from judge_service.cli.bias import bias
from judge_service.cli.check import check
from judge_service.cli.compare import compare
from judge_service.cli.drift import DriftCommand, drift
from judge_service.cli.exits import CODES, INTERRUPTED, WRONG, UserError
from judge_service.cli.judges import judges
from judge_service.cli.keys import keys
from judge_service.cli.probe import ProbeCommand, probe
from judge_service.cli.rank import rank
from judge_service.cli.serve import serve
from judge_service.cli.terminal import complain
from judge_service.cli.version import show_version, version
from judge_service.cli.watch import watch
from judge_service.errors import JudgeServiceError


class _Readable(TyperGroup):
    """A user's mistake is a line on stderr and an exit code; a traceback is always a bug."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except (UserError, JudgeServiceError) as error:
            complain(error)
            raise typer.Exit(WRONG) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read the output has gone; Python would complain once more at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(WRONG) from None


app = typer.Typer(
    cls=_Readable,
    name="judge-service",
    help="Score texts with an LLM as judge: a reward only where there is a verdict.",
    epilog=CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root(
    show: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=show_version, is_eager=True),
    ] = False,
) -> None:
    del show


for command in (serve, assess, compare, rank, check, bias, judges, version):
    app.command()(command)
app.command(cls=DriftCommand)(drift)
app.command(cls=ProbeCommand)(probe)
app.command(cls=DriftCommand)(watch)
app.add_typer(keys)
app.add_typer(cache.app)
app.add_typer(gold.app)


def run() -> None:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    app(prog_name="judge-service")
