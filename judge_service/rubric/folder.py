"""A folder of rubrics that is followed while the service runs: a change takes effect by itself."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeAlias

from judge_service.errors import ConfigError
from judge_service.rubric.file import Put, RubricShelf
from judge_service.rubric.library import load_library, load_rubric, shipped
from judge_service.rubric.rubric import Rubric

log = logging.getLogger("judge_service.rubrics")
LOOK_S = 0.4
"""How often the folder is looked at, in seconds. A change is taken over at the second look that
sees the same, so that a file is not read while an editor is still writing it.
"""
Stamp: TypeAlias = tuple[int, ...]


class RubricFolder:
    """The rubrics of an operator's folder; ``library`` always has the last good state of each.

    A file that cannot be right leaves its rubric as it was, and is told in one line of the log.
    """

    def __init__(
        self,
        rubrics_dir: Path,
        anchors_dir: Path | None = None,
        *,
        rule_modules: Collection[str] = (),
        look_s: float = LOOK_S,
    ) -> None:
        """Load the folder. Raises ConfigError."""
        self._rubrics_dir = rubrics_dir
        self._anchors_dir = shipped("anchors") if anchors_dir is None else anchors_dir
        self._rule_modules = rule_modules
        self._look_s = look_s
        self._lock = threading.Lock()
        self._lost = False
        self._faults: dict[str, str] = {}
        try:
            # Before it is read, so that a change in between is noticed.
            self._loaded = self._seen = self._stamps()
        except OSError:
            self._loaded = self._seen = {}
        self.library = load_library(rubrics_dir, anchors_dir, rule_modules=rule_modules)
        self._ended = threading.Event()
        self._follower: threading.Thread | None = None

    def follow(self) -> None:
        """Look after the folder from now on, in a thread of its own."""
        self._follower = threading.Thread(target=self._follow, name="rubrics", daemon=True)
        self._follower.start()

    def close(self) -> None:
        """Stop following."""
        self._ended.set()
        if self._follower is not None:
            self._follower.join()

    def put(self, rubric: Rubric, text_of: Callable[[Rubric], str]) -> Put:
        """Write a rubric into the folder and let the library have it.

        Raises what ``RubricShelf.put`` does.
        """
        shelf = RubricShelf(
            rubrics=self._rubrics_dir,
            anchors=self._anchors_dir,
            text_of=text_of,
            rule_modules=self._rule_modules,
        )
        with self._lock:
            done = shelf.put(rubric)
            stamps = self._stamps()
            if rubric.id in stamps:
                # What stands in the file, which another process may have written since.
                self._take(dict.fromkeys([rubric.id], stamps[rubric.id]))
        return done

    def look(self) -> None:
        """Take over what has changed and come to rest."""
        with self._lock:
            try:
                found = self._stamps()
            except OSError as error:
                self._say_lost(error.strerror or "it cannot be read")
                return
            if not found:
                self._say_lost("there is no rubric in it")
                return
            self._lost = False
            changed = {
                rubric_id: stamp
                for rubric_id, stamp in found.items()
                if self._loaded.get(rubric_id) != stamp and self._seen.get(rubric_id) == stamp
            }
            gone = self._loaded.keys() - found.keys() - self._seen.keys()
            self._seen = found
            if changed or gone:
                self._take(changed, gone)

    def _follow(self) -> None:
        while not self._ended.wait(self._look_s):
            try:
                self.look()
            except Exception:  # a thread that dies would leave the rubrics as they are, unnoticed
                log.exception("the rubrics folder could not be followed")

    def _stamps(self) -> dict[str, Stamp]:
        """What tells a changed file from the same one, by rubric id. Raises OSError."""
        files = [f for f in self._rubrics_dir.iterdir() if f.name.endswith(".toml")]
        stamps = {}
        for file in files:
            stamp = _stamp(file)
            if stamp:
                stamps[file.stem] = stamp + _stamp(self._anchors_dir / f"{file.stem}.jsonl")
        return stamps

    def troubles(self) -> list[str]:
        """What of the folder cannot be used just now; what was loaded before still is."""
        lost = [f"{self._rubrics_dir} cannot be read"] if self._lost else []
        return lost + [f"rubric {name!r} was changed and cannot be used" for name in self._faults]

    def _take(self, changed: Mapping[str, Stamp], gone: Collection[str] = ()) -> None:
        rubrics = dict(self.library.items())
        for rubric_id in gone:
            self._faults.pop(rubric_id, None)
            self._loaded.pop(rubric_id, None)
            if rubrics.pop(rubric_id, None) is not None:
                log.info("rubric %r is gone", rubric_id)
        for rubric_id, stamp in changed.items():
            self._loaded = {**self._loaded, rubric_id: stamp}
            try:
                rubric = self._load(rubric_id)
            except ConfigError as error:
                first, *more = str(error).splitlines()
                self._faults[rubric_id] = first
                log.error(
                    "a rubric was changed and cannot be used, what was loaded stays: %s%s",
                    first,
                    f" (and {len(more)} more)" if more else "",
                )
                continue
            self._faults.pop(rubric_id, None)
            before = rubrics.get(rubric_id)
            rubrics[rubric_id] = rubric
            if before is None or before.rubric_hash != rubric.rubric_hash:
                log.info("rubric %r has version %r from now on", rubric_id, rubric.version)
        self.library.replace(rubrics.values())

    def _load(self, rubric_id: str) -> Rubric:
        return load_rubric(
            self._rubrics_dir / f"{rubric_id}.toml",
            self._anchors_dir / f"{rubric_id}.jsonl",
            rule_modules=self._rule_modules,
        )

    def _say_lost(self, why: str) -> None:
        if not self._lost:
            self._lost = True
            log.error("%s: %s; the rubrics that were loaded stay", self._rubrics_dir, why)


def _stamp(file: Path) -> Stamp:
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino
