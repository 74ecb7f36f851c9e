"""Keeping an uploaded rubric: every version for good, the current one replaced in a single step.

A version is claimed by a hard link to its finished text, which succeeds for one writer only, in
whatever process or on whatever machine; the file that is loaded is replaced by a rename. So there
is no moment at which a crash leaves half a rubric, or one with the anchors of another.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judge_service.errors import ConfigError, JudgeServiceError
from judge_service.rubric.library import decode_toml, load_rubric, parse_rubric
from judge_service.rubric.rubric import Rubric

HISTORY = ".history"
"""Folder below that of the rubrics, with a folder for each id and a file for each version."""
MAX_FILE_BYTES = 16 * 1024 * 1024
Put = Literal["created", "restored", "unchanged"]
"""A new version; one that was there before and is current again; the current one."""
_PLAIN_VERSION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


class VersionExists(JudgeServiceError):
    """The version is there already, with other content."""


class FolderRefused(JudgeServiceError):
    """Something in the folder is not what this service would write over."""


def document(rubric: Rubric) -> dict[str, Any]:
    """The rubric as JSON-ready values in the shape of its file, anchors included."""
    rules = [rule.model_dump(mode="json", by_alias=True) for rule in rubric.rules]
    return {**rubric.content(), "rules": rules}


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricShelf:
    """A folder of rubrics that can be written to.

    ``anchors`` is where the anchors of files written by hand are; ``text_of`` makes the text of a
    file, which holds the anchors, too.
    """

    rubrics: Path
    anchors: Path
    text_of: Callable[[Rubric], str]
    rule_modules: Collection[str] = ()

    def put(self, rubric: Rubric) -> Put:
        """Make ``rubric`` the current one of its id.

        Raises VersionExists, FolderRefused, ConfigError where the rubric cannot be written as a
        file, and OSError.
        """
        text = self._text(rubric)
        live = self.rubrics / f"{rubric.id}.toml"
        if live.is_symlink():
            raise FolderRefused(f"the file of rubric {rubric.id!r} is a symbolic link")
        current = self._current(live)
        if current is not None and current.version == rubric.version:
            if current.rubric_hash == rubric.rubric_hash:
                return "unchanged"
            raise _exists(rubric)
        kept = self._kept_folder(rubric.id)
        if current is not None:
            # Written by hand: kept under its version, unless that one is known already.
            self._claim(kept, current, self._text(current))
        if self._claim(kept, rubric, text):
            done: Put = "created"
        elif self._same_as_kept(kept, rubric):
            done = "restored"
        else:
            raise _exists(rubric)
        new = _written(kept, text)
        try:
            os.replace(new, live)
        except OSError:
            new.unlink(missing_ok=True)
            raise
        _sync_folder(self.rubrics)
        return done

    def _text(self, rubric: Rubric) -> str:
        """The text of the file, which must mean what the rubric means. Raises ConfigError."""
        text = self.text_of(rubric)
        if self._read(text).rubric_hash != rubric.rubric_hash:
            raise ConfigError(
                f"rubric {rubric.id!r} holds a value that no TOML file can hold, such as null"
            )
        return text

    def _read(self, text: str) -> Rubric:
        data = decode_toml(text, Path("the file to be written"))
        return parse_rubric(data, where="the file to be written", rule_modules=self.rule_modules)

    def _current(self, live: Path) -> Rubric | None:
        """The rubric that is loaded now; None where there is none, or nothing of sense."""
        anchors = self.anchors / f"{live.stem}.jsonl"
        try:
            return load_rubric(live, anchors, rule_modules=self.rule_modules)
        except ConfigError:
            return None

    def _kept_folder(self, rubric_id: str) -> Path:
        folder = self.rubrics / HISTORY
        for made in (folder, folder / rubric_id):
            made.mkdir(exist_ok=True)
            if made.is_symlink():
                raise FolderRefused(f"the folder {HISTORY} of kept versions is a symbolic link")
        return folder / rubric_id

    def _claim(self, kept: Path, rubric: Rubric, text: str) -> bool:
        """Keep a version for good; False when it is kept already."""
        file = kept / _version_file(rubric.version)
        if os.path.lexists(file):
            return False
        new = _written(kept, text)
        try:
            os.link(new, file, follow_symlinks=False)
        except FileExistsError:
            return False
        finally:
            new.unlink(missing_ok=True)
        _sync_folder(kept)
        return True

    def _same_as_kept(self, kept: Path, rubric: Rubric) -> bool:
        file = kept / _version_file(rubric.version)
        if file.is_symlink() or file.stat().st_size > MAX_FILE_BYTES:
            return False
        try:
            found = self._read(file.read_text(encoding="utf-8"))
        except (ConfigError, UnicodeDecodeError):
            return False
        return found.rubric_hash == rubric.rubric_hash


def _exists(rubric: Rubric) -> VersionExists:
    return VersionExists(
        f"version {rubric.version[:64]!r} of rubric {rubric.id!r} exists with other content; "
        "give the changed rubric a new version"
    )


def _version_file(version: str) -> str:
    """A file name for a version, which may be any text."""
    if _PLAIN_VERSION.fullmatch(version) and not version.startswith("sha256-"):
        return f"{version}.toml"
    return f"sha256-{hashlib.sha256(version.encode()).hexdigest()}.toml"


def _written(folder: Path, text: str) -> Path:
    """A new file with this text, on the disk and not only on its way there."""
    file = folder / f".new-{secrets.token_hex(8)}"
    number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    try:
        with os.fdopen(number, "wb") as opened:
            opened.write(text.encode())
            opened.flush()
            os.fsync(opened.fileno())
    except OSError:
        file.unlink(missing_ok=True)
        raise
    return file


def _sync_folder(folder: Path) -> None:
    """Let the names in a folder survive a loss of power."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
