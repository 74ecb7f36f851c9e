"""Texts from the command line: as they stand, from a file (``@file``), from stdin (``-``)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from judge_service.cli.exits import UserError
from judge_service.cli.terminal import note

MAX_BYTES = 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class Sources:
    """Reads the texts of one command; standard input can be read for one of them only."""

    def __init__(self) -> None:
        self._stdin_taken_by: str | None = None

    def read(self, flag: str, value: str) -> str:
        """The text that ``value`` stands for. Raises UserError naming ``flag``.

        ``@@…`` is a text that begins with ``@``. Of a file or of stdin, a byte order mark and one
        newline at the very end are left out.
        """
        if value == "-":
            return self._stdin(flag)
        if value.startswith("@@"):
            value = value[1:]
        elif value.startswith("@"):
            return self._file(flag, value[1:])
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UserError(f"{flag}: the text is not UTF-8") from None
        return value

    def _file(self, flag: str, name: str) -> str:
        if not name:
            raise UserError(f"{flag}: no file name after @; a text that begins with @ needs @@")
        try:
            with Path(name).expanduser().open("rb") as file:
                return _decoded(f"{flag}: {name}", file)
        except OSError as error:
            hint = "; a text that begins with @ needs @@"
            missing = isinstance(error, FileNotFoundError)
            raise UserError(
                f"{flag}: {name}: {error.strerror or error}{hint if missing else ''}"
            ) from None
        except (RuntimeError, ValueError) as error:  # no such home folder; a null character
            raise UserError(f"{flag}: {name}: {error}") from None

    def claim(self, flag: str) -> None:
        """Take standard input for ``flag``. Raises UserError when another option has it."""
        if self._stdin_taken_by is not None:
            raise UserError(f"{flag}: standard input was already read for {self._stdin_taken_by}")
        self._stdin_taken_by = flag

    def _stdin(self, flag: str) -> str:
        self.claim(flag)
        if sys.stdin.isatty():
            note(f"reading {flag.lstrip('-')} from the terminal; end it with Ctrl-D")
        return _decoded(f"{flag}: standard input", sys.stdin.buffer)


def _decoded(where: str, file: BinaryIO) -> str:
    data = file.read(MAX_BYTES + 8)
    data = data.removeprefix(_BOM)
    data = data.removesuffix(b"\r\n") if data.endswith(b"\r\n") else data.removesuffix(b"\n")
    if len(data) > MAX_BYTES:
        raise UserError(f"{where}: a text may have at most {MAX_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not UTF-8 (byte {error.start})") from None
