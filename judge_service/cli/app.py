"""The Typer app: its commands, and one place where errors become readable lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from judge_service.cli.exits import CODES, INTERRUPTED, USAGE, WRONG, UsageError, UserError
from judge_service.cli.garbage import look_rarely
from judge_service.cli.terminal import complain
from judge_service.cli.usage import ParserError, in_one_line, shows_help
from judge_service.cli.version import show_version
from judge_service.errors import JudgeServiceError

COMMANDS = (
    "serve", "assess", "compare", "rank", "check", "probe", "drift", "gold", "review", "bias",
    "watch", "judges", "keys", "cache", "version",
)  # fmt: skip
"""In the order of the help: judging, what a judge and a rubric are worth, live traffic, the rest.
Each is a module beside this one that has a function or an app of the same name, and a
``USAGE_CODE`` where wrong usage does not end with 2.
"""


class _Readable(TyperGroup):
    """A user's mistake is a line on stderr and an exit code; a traceback is always a bug."""

    usage_codes: Mapping[str, int]
    """Of the commands that say something else with 2."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> Any:
        """Parse what stands before the command."""
        try:
            return super().make_context(info_name, args, *rest, **more)
        except ParserError as error:
            _wrong_usage(error, USAGE)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except (ParserError, UsageError) as error:
            _wrong_usage(error, self.usage_codes.get(ctx.invoked_subcommand, USAGE))
        except (UserError, JudgeServiceError) as error:
            complain(error)
            raise typer.Exit(WRONG) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read the output has gone; Python would complain once more at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(WRONG) from None


def _wrong_usage(error: Exception, code: int) -> NoReturn:
    if not shows_help(error):
        complain(error if isinstance(error, UsageError) else in_one_line(error))
    raise typer.Exit(code) from None


def _root(
    show: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=show_version, is_eager=True),
    ] = False,
) -> None:
    del show


def app_with(commands: Iterable[str]) -> typer.Typer:
    """The app with some of its commands: making all of them takes longer than what most do."""
    modules = {name: import_module(f"judge_service.cli.{name}") for name in commands}
    codes = {name: getattr(module, "USAGE_CODE", USAGE) for name, module in modules.items()}
    made = typer.Typer(
        cls=type("Readable", (_Readable,), {"usage_codes": codes}),
        name="judge-service",
        help="Score texts with an LLM as judge: a reward only where there is a verdict.",
        epilog=CODES,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_root)
    for name, module in modules.items():
        command = getattr(module, name)
        if isinstance(command, typer.Typer):
            made.add_typer(command)
        else:
            made.command()(command)
    return made


def __getattr__(name: str) -> Any:
    """The whole ``app``, made when it is asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = app_with(COMMANDS)
    return made


def run() -> None:
    """Run the command line of this process."""
    first = sys.argv[1:2]
    app = app_with(first if first and first[0] in COMMANDS else COMMANDS)
    if first != ["serve"]:  # whose start goes on for longer
        look_rarely()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    app(prog_name="judge-service")
