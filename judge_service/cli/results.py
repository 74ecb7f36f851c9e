"""The file of results of a batch: appended line by line, continued, and put in order at the end.

A line is written by one call, so a process that is killed leaves whole lines and at most one torn
at the end, which the next run takes out.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from judge_service.cli.exits import UserError
from judge_service.cli.terminal import json_text, print_json


class Known(NamedTuple):
    """A line that is there: where it stands, and what became of which item."""

    offset: int
    length: int
    item: str
    success: bool
    retryable: bool


class Results(Protocol):
    """Where results go. ``known`` are those of earlier runs and of this one, by index."""

    known: dict[int, Known]

    def add(self, line: Mapping[str, Any]) -> None:
        """Write one result."""

    def finish(self) -> None:
        """Leave everything in order and let go of it."""

    def close(self) -> None:
        """Let go of it as it is."""


class StreamResults:
    """Results on standard output, as they come."""

    def __init__(self) -> None:
        self.known: dict[int, Known] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        """Print the line."""
        print_json(line, sys.stdout)
        self.known[line["index"]] = _known(line, 0, 0)

    def finish(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


class FileResults:
    """Results in a file that belongs to one batch and to one process at a time.

    Raises UserError when the file is something else, or somebody else's.
    """

    def __init__(self, path: Path, *, overwrite: bool = False) -> None:
        self._path = path
        self._end = self._lines = 0
        self.known: dict[int, Known] = {}
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UserError(f"--out: {path}: {error.strerror or error}") from None
        try:
            self._lock()
            if overwrite:
                os.ftruncate(self._file, 0)
            self._read()
        except BaseException:
            # Whatever it was, also an interrupt: the file and its lock are let go.
            self.close()
            raise

    def add(self, line: Mapping[str, Any]) -> None:
        """Append the line, in one write."""
        data = json_text(line).encode() + b"\n"
        view = memoryview(data)
        os.lseek(self._file, self._end, os.SEEK_SET)
        while view:
            view = view[os.write(self._file, view) :]
        self._take(line, len(data))

    def finish(self) -> None:
        """Put the lines in the order of their indices, the latest of each, by an atomic rename."""
        wanted = [self.known[index] for index in sorted(self.known)]
        in_order = all(a.offset < b.offset for a, b in pairwise(wanted))
        if self._lines > len(wanted) or not in_order:
            beside = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
            with beside.open("wb") as sorted_file:
                for line in wanted:
                    sorted_file.write(os.pread(self._file, line.length, line.offset))
                sorted_file.flush()
                os.fsync(sorted_file.fileno())
            beside.chmod(os.fstat(self._file).st_mode & 0o777)
            beside.replace(self._path)
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                return  # a file system without locks
            raise UserError(f"--out: {self._path}: another process is writing to it") from None

    def _read(self) -> None:
        """Take in the lines that are there."""
        with open(self._file, "rb", closefd=False) as file:
            for number, data in enumerate(file, start=1):
                line = _decoded(data)
                if line is None:
                    self._torn(data, number)
                    return
                whole = data.endswith(b"\n")
                self._take(line, len(data) + (not whole))
                if not whole:
                    os.pwrite(self._file, b"\n", self._end - 1)
                    return

    def _take(self, line: Mapping[str, Any], length: int) -> None:
        self.known[line["index"]] = _known(line, self._end, length)
        self._end += length
        self._lines += 1

    def _torn(self, data: bytes, number: int) -> None:
        """Take out a last line that was not written to its end; anything else is not ours."""
        is_last = self._end + len(data) == os.fstat(self._file).st_size
        head, start = b'{"index":', data.rstrip(b"\0\n")
        ours = start.startswith(head) or head.startswith(start)
        if not is_last or not ours:
            raise UserError(
                f"--out: {self._path}: line {number} is not a result; name another file, or say "
                "--overwrite"
            )
        os.ftruncate(self._file, self._end)


def _decoded(data: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or line.get("status") not in ("success", "failed"):
        return None
    index = line.get("index")
    return line if isinstance(index, int) and not isinstance(index, bool) and index >= 0 else None


def _known(line: Mapping[str, Any], offset: int, length: int) -> Known:
    error = line.get("error")
    return Known(
        offset=offset,
        length=length,
        item=str(line.get("item")),
        success=line["status"] == "success",
        retryable=isinstance(error, Mapping) and error.get("retryable") is True,
    )
