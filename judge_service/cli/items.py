"""The items of a batch: lines of a JSONL file, each an HTTP body with an optional id."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from judge_service.cli.exits import UserError
from judge_service.cli.requests import Asked, Defaults, Kind, asked

MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_FAULTS = 10
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One request of a batch. ``index`` counts items from 0, ``line`` lines from 1.

    ``digest`` names what is asked, so that a result is never taken for another item's.
    """

    index: int
    line: int
    id: str | int | None
    digest: str
    request: Asked

    def labels(self) -> dict[str, Any]:
        """What a line of results begins with."""
        own = {} if self.id is None else {"id": self.id}
        return {"index": self.index, **own, "item": self.digest}


class Items:
    """All items of a file, or of stdin for ``-``. Can be gone through several times.

    A context manager, which closes the file.
    """

    def __init__(self, source: str, kind: Kind, defaults: Defaults) -> None:
        self._kind = kind
        self._defaults = defaults
        self._name = "standard input" if source == "-" else source
        self._file = _opened(source)

    def __enter__(self) -> Self:
        """Nothing to open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def check(self) -> list[str]:
        """Look at every line before anything is spent; returns the items' digests.

        Raises UserError with the lines that cannot be right.
        """
        digests: list[str] = []
        faults: list[str] = []
        wrong = 0
        for item in self._items():
            if isinstance(item, UserError):
                wrong += 1
                faults += [str(item)] if wrong <= MAX_FAULTS else []
            else:
                digests.append(item.digest)
        if wrong > MAX_FAULTS:
            faults.append(f"and {wrong - MAX_FAULTS} more lines")
        if faults:
            raise UserError("\n".join(faults))
        if not digests:
            raise UserError(f"{self._name}: no items")
        return digests

    def __iter__(self) -> Iterator[Item]:
        """The items in order. Raises UserError at a line that cannot be right."""
        for item in self._items():
            if isinstance(item, UserError):
                raise item
            yield item

    def _items(self) -> Iterator[Item | UserError]:
        self._file.seek(0)
        index = number = 0
        while data := self._file.readline(MAX_LINE_BYTES + 1):
            number += 1
            if number == 1:
                data = data.removeprefix(_BOM)
            if not data.strip():
                continue
            where = f"{self._name}: line {number}"
            if len(data) > MAX_LINE_BYTES:
                while data and not data.endswith(b"\n"):
                    data = self._file.readline(MAX_LINE_BYTES)
                yield UserError(f"{where}: larger than {MAX_LINE_BYTES:,} bytes")
            else:
                yield self._item(data, where, index, number)
            index += 1

    def _item(self, data: bytes, where: str, index: int, number: int) -> Item | UserError:
        try:
            body = _decoded(data)
            own = body.pop("id", None)
            if own is not None and (not isinstance(own, (str, int)) or isinstance(own, bool)):
                raise UserError("id: a text or a whole number")
            filled = self._defaults.fill(body)
            request = asked(self._kind, filled)
        except UserError as error:
            return UserError("\n".join(f"{where}: {line}" for line in str(error).splitlines()))
        return Item(index=index, line=number, id=own, digest=_digest(filled), request=request)


def _decoded(data: bytes) -> dict[str, Any]:
    from judge_service.api.body import decode_json
    from judge_service.api.problems import Problem

    try:
        body = decode_json(data.strip())
    except Problem as error:
        raise UserError(str(error).replace("the body is", "it is")) from None
    if not isinstance(body, dict):
        raise UserError("not a JSON object")
    return body


def _digest(body: dict[str, Any]) -> str:
    """16 hex digits over what is asked; how long it may take does not count."""
    counted = {k: v for k, v in body.items() if k != "timeout_s"}
    canonical = json.dumps(counted, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _opened(source: str) -> IO[bytes]:
    """The file; a copy of stdin and of whatever else cannot be read twice."""
    try:
        if source == "-":
            return _copied(sys.stdin.buffer)
        file = Path(source).expanduser().open("rb")
        if file.seekable():
            return file
        with file:
            return _copied(file)
    except OSError as error:
        raise UserError(f"--batch: {source}: {error.strerror or error}") from None
    except (RuntimeError, ValueError) as error:  # no such home folder; a null character
        raise UserError(f"--batch: {source}: {error}") from None


def _copied(file: IO[bytes]) -> IO[bytes]:
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - as long-lived as the items
    shutil.copyfileobj(file, copy)
    return copy
