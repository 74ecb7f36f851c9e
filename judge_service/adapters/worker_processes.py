"""The worker processes that share one folder of metrics: which of them live, and which did."""

from __future__ import annotations

import os
import re
from pathlib import Path

_FILE = re.compile(r".*_([0-9]+)\.db")


def worker_pids(folder: Path) -> tuple[list[int], list[int]]:
    """Ids of the processes that have files in ``folder``: those alive, and those that are gone."""
    found = {int(match[1]) for file in folder.iterdir() if (match := _FILE.fullmatch(file.name))}
    alive = sorted(pid for pid in found if _lives(pid))
    return alive, sorted(found.difference(alive))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # The id went to somebody else's process.
        return False
    return True
