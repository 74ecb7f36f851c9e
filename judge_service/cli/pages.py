"""Reports as pages: on the terminal, or in a file as text, Markdown, HTML or JSON."""

from __future__ import annotations

import os
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge_service.cli.exits import UserError
from judge_service.cli.terminal import clean, json_text, out, plain, print_json

if TYPE_CHECKING:
    from judge_service.bias.page import Page


PIPE_WIDTH = 120


class Form(StrEnum):
    """What a report is written as."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


FormOption = Annotated[
    Form, typer.Option("--format", help="What the report is written as.", show_default=True)
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Where the report goes (default: stdout)."),
]


def show(page: Page, data: Any, form: Form, path: Path | None) -> None:
    """Write a report once. Raises UserError when the file cannot be written."""
    if path is not None:
        _write(path, _written(page, data, form))
    elif form is Form.JSON:
        print_json(data)
    elif form is Form.TEXT:
        console = out()
        # A pipe has no width of its own.
        width = max(60, min(console.width, 120)) if console.is_terminal else PIPE_WIDTH
        console.print(plain(page.text(width)), soft_wrap=True, end="")
    else:
        out().print(plain(_written(page, data, form)), soft_wrap=True, end="")


def check_out(path: Path | None) -> None:
    """Raise UserError, before anything is spent, where a report could not be written."""
    if path is None:
        return
    folder = path.expanduser().absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UserError(f"--out: {folder}: no folder that can be written to")
    if path.expanduser().is_dir():
        raise UserError(f"--out: {path}: a folder")


def _written(page: Page, data: Any, form: Form) -> str:
    if form is Form.JSON:
        return json_text(data) + "\n"
    if form is Form.MARKDOWN:
        return clean(page.markdown())
    return clean(page.html()) if form is Form.HTML else clean(page.text())


def _write(path: Path, text: str) -> None:
    """Whole or not at all: written beside its place, then renamed."""
    path = path.expanduser()
    try:
        handle, beside = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(beside).chmod(0o666 & ~mask)
        Path(beside).replace(path)
    except OSError as error:
        raise UserError(f"--out: {path}: {error.strerror or error}") from None
