"""The file of runs: a header, then a line per judgement, written as they come and continued.

A line is written by one call, so a process that is killed leaves whole lines and at most one torn
at the end, which is taken out when the file is continued.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge_service.drift.judgement import Judgement, NotAJudgement, judgement_of
from judge_service.drift.plan import SIDES, Place, Plan, RunData, SideName
from judge_service.drift.side import SideInfo, side_info_of
from judge_service.errors import ConfigError

VERSION = 1
HEAD = "drift_runs"
MAX_BYTES = 1024 * 1024 * 1024


@dataclass(slots=True, kw_only=True)
class Recorded:
    """What a file of runs holds. ``done`` is whether a report was made of it."""

    plan: str
    gold: str
    started: str
    sides: dict[SideName, SideInfo]
    found: dict[Place, Judgement] = field(default_factory=dict)
    done: bool = False
    whole_bytes: int = 0

    def data(self, side: SideName, *, recorded: bool = False) -> RunData:
        """The runs of a side that the file has."""
        numbers = sorted({place.run for place in self.found if place.side == side})
        runs = tuple(
            {p.item: j for p, j in self.found.items() if p.side == side and p.run == number}
            for number in numbers
        )
        return RunData(
            side=self.sides[side], runs=runs, recorded=self.started if recorded else None
        )


class Journal:
    """A file of runs that belongs to one plan and to one process at a time.

    ``found`` are the judgements that are there. Raises ConfigError for a file that is something
    else, somebody else's, or of another plan (``anew`` empties that one).
    """

    def __init__(self, path: Path, plan: Plan, *, started: str, anew: bool = False) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from None
        try:
            self._lock()
            self._begin(plan, started, anew=anew)
        except BaseException:
            self.close()
            raise

    @property
    def found(self) -> dict[Place, Judgement]:
        """The judgements that are there, the latest of each place."""
        return self._recorded.found

    @property
    def done(self) -> bool:
        """Whether a report was made of it before."""
        return self._recorded.done

    def data(self, side: SideName) -> RunData:
        """The runs of a side."""
        return self._recorded.data(side)

    def add(self, place: Place, judgement: Judgement) -> None:
        """Append a judgement, in one write."""
        self._write({"side": place.side, "run": place.run, **judgement.wire()})
        self._recorded.found[place] = judgement

    def finish(self) -> None:
        """Note that a report was made."""
        if not self._recorded.done:
            self._write({"done": True})
            self._recorded.done = True

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _begin(self, plan: Plan, started: str, *, anew: bool) -> None:
        recorded = None
        if os.fstat(self._file).st_size and not anew:
            recorded = _read(self._file, self.path)
            if recorded.plan != plan.digest:
                raise ConfigError(
                    f"{self.path}: holds runs of other items, judges, rubrics or repeats; name "
                    "another file, or say --overwrite"
                )
            os.ftruncate(self._file, recorded.whole_bytes)
        if recorded is None:
            os.ftruncate(self._file, 0)
            sides: dict[SideName, SideInfo] = {}
            for name, side in zip(SIDES, (plan.baseline, plan.candidate), strict=True):
                if side is not None:
                    sides[name] = side
            recorded = Recorded(
                plan=plan.digest, gold=plan.gold.digest, started=started, sides=sides
            )
            self._recorded = recorded
            self._write(
                {
                    HEAD: VERSION,
                    "plan": plan.digest,
                    "gold": plan.gold.digest,
                    "started": started,
                    "sides": {name: side.wire() for name, side in sides.items()},
                }
            )
        self._recorded = recorded

    def _write(self, line: Mapping[str, Any]) -> None:
        data = json.dumps(line, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        view = memoryview(data)
        os.lseek(self._file, 0, os.SEEK_END)
        while view:
            view = view[os.write(self._file, view) :]

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                return  # a file system without locks
            raise ConfigError(f"{self.path}: another process is writing to it") from None


def read_runs(path: Path) -> Recorded:
    """A file of runs, to be looked at. Raises ConfigError."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    try:
        return _read(file, path)
    except OSError as error:  # a folder, for one
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    finally:
        os.close(file)


def _read(file: int, path: Path) -> Recorded:
    if os.fstat(file).st_size > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES:,} bytes")
    os.lseek(file, 0, os.SEEK_SET)
    lines = _lines(file, path)
    head = next(lines, None)
    if head is None or head[0].get(HEAD) != VERSION:
        raise ConfigError(f"{path}: is no file of drift runs")
    try:
        sides: dict[SideName, SideInfo] = {
            name: side_info_of(head[0]["sides"][name]) for name in SIDES if name in head[0]["sides"]
        }
        recorded = Recorded(
            plan=str(head[0]["plan"]),
            gold=str(head[0]["gold"]),
            started=str(head[0]["started"]),
            sides=sides,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path}: line 1: not the head of a file of runs: {error}") from None
    recorded.whole_bytes = head[1]
    for number, (line, end) in enumerate(lines, start=2):
        _take(recorded, line, f"{path}: line {number}")
        recorded.whole_bytes = end
    return recorded


def _take(recorded: Recorded, line: Mapping[str, Any], where: str) -> None:
    if line.get("done") is True:
        recorded.done = True
        return
    side, run = line.get("side"), line.get("run")
    if side not in recorded.sides or not isinstance(run, int) or isinstance(run, bool) or run < 1:
        raise ConfigError(f"{where}: not a line of a file of runs")
    try:
        judgement = judgement_of(line)
        recorded.sides[side].check(judgement)
    except NotAJudgement as error:
        raise ConfigError(f"{where}: {error}") from None
    recorded.found[Place(side=side, run=run, item=judgement.item)] = judgement
    recorded.done = False


def _lines(file: int, path: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Every whole line, decoded, and where it ends; a torn last line is left out."""
    end = 0
    with open(file, "rb", closefd=False) as opened:
        for number, data in enumerate(opened, start=1):
            try:
                line = json.loads(data)
            except (ValueError, RecursionError):
                line = None
            whole = data.endswith(b"\n")
            if not isinstance(line, dict) or not whole:
                if not whole:
                    return
                raise ConfigError(f"{path}: line {number}: not a line of a file of runs")
            end += len(data)
            yield line, end
