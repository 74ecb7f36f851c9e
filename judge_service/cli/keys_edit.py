"""Changing a keys file: one entry more or some fewer, everything else as its owner wrote it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT

from judge_service.access.keys_file import KeyEntry, load_keys, parse_keys, read_keys
from judge_service.cli.exits import UserError

_HEADER = re.compile(r"""\s*\[\[\s*(keys|"keys"|'keys')\s*\]\]\s*(#.*)?""")
_NO_CONTENT = re.compile(r"\s*(#.*)?")
NEW_MODE = 0o600


def entry_text(entry: KeyEntry) -> str:
    """An entry as it stands in a file."""
    return tomlkit.dumps({"keys": [_fields(entry)]}).strip("\n") + "\n"


def with_entry(text: str, entry: KeyEntry) -> str:
    """``text`` of a keys file with one entry more, at its end."""
    document = tomlkit.parse(text)
    keys = document.get("keys")
    if keys is not None and not isinstance(keys, AoT):
        # Written as a list of inline tables.
        table = tomlkit.inline_table()
        table.update(_fields(entry))
        keys.append(table)
        return tomlkit.dumps(document)
    newline = "\r\n" if "\r\n" in text else "\n"
    before = text.rstrip() + 2 * newline if text.strip() else ""
    return before + entry_text(entry).replace("\n", newline)


def without_entries(text: str, hashes: Collection[str]) -> str:
    """``text`` of a keys file without the entries that have these hashes.

    Comments between entries stay: a TOML library would take them for a part of the entry before.
    """
    found: dict[str, Any] = tomllib.loads(text)
    tables: list[dict[str, Any]] = found.get("keys", [])
    doomed = [n for n, table in enumerate(tables) if table["sha256"] in hashes]
    left = [table for n, table in enumerate(tables) if n not in doomed]
    shorter = _without_lines(text, doomed, len(tables))
    try:
        if shorter is not None and tomllib.loads(shorter).get("keys", []) == left:
            return shorter
    except ValueError:
        pass
    document = tomlkit.parse(text)
    for number in reversed(doomed):
        del document["keys"][number]
    return tomlkit.dumps(document)


def _without_lines(text: str, doomed: Collection[int], count: int) -> str | None:
    """The lines of all but the doomed tables; None where their headers are not to be made out."""
    lines = text.split("\n")
    headers = [n for n, line in enumerate(lines) if _HEADER.fullmatch(line)]
    if len(headers) != count:
        return None
    gone: set[int] = set()
    for number in doomed:
        first = headers[number]
        end = headers[number + 1] if number + 1 < count else len(lines)
        last = max(n for n in range(first, end) if not _NO_CONTENT.fullmatch(lines[n]))
        if last + 1 < end and not lines[last + 1].strip() and last + 2 < len(lines):
            last += 1  # the empty line that set it apart from what follows
        gone |= set(range(first, last + 1))
    return "\n".join(line for n, line in enumerate(lines) if n not in gone)


def _fields(entry: KeyEntry) -> dict[str, Any]:
    fields = entry.model_dump(mode="json", exclude_none=True)
    fields["scopes"] = fields.pop("scopes")  # last
    return fields


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep others who change a file of this folder waiting. Raises UserError."""
    try:
        folder = os.open(file.resolve().parent, os.O_RDONLY)
    except OSError as error:
        raise UserError(f"{file}: cannot be changed: {error.strerror or error}") from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def read_text(file: Path) -> str:
    """The text of a keys file that is right as it is. Raises ConfigError."""
    data = read_keys(file)
    parse_keys(data, file)
    return data.decode("utf-8-sig")


def replace_text(file: Path, text: str) -> None:
    """Put ``text`` into ``file``, at once and whole, after a check that it is right.

    A new file is for its owner alone; one that is there keeps its owner and mode, because whoever
    runs the service has to read it. Raises ConfigError or UserError.
    """
    data = text.encode("utf-8")
    parse_keys(data, file)
    target = file.resolve()
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        before = target.stat() if target.exists() else None
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, NEW_MODE)
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            if before is not None:
                # First the owner: changing it may take bits of the mode away.
                with contextlib.suppress(PermissionError):
                    os.fchown(out.fileno(), before.st_uid, before.st_gid)
                os.fchmod(out.fileno(), before.st_mode & 0o777)
            os.fsync(out.fileno())
        os.replace(draft, target)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)


def entries_of(file: Path) -> tuple[KeyEntry, ...]:
    """The entries of a file, none where there is no file. Raises ConfigError."""
    return load_keys(file) if file.exists() else ()
