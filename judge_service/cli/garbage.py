"""When this process looks for garbage: not while it starts, then rarely, and never through what the
start has made.
"""

from __future__ import annotations

import gc

COLLECT_AFTER = (20_000, 20, 20)
"""The collector's thresholds. Requests do not leave many cycles, and looking for them after every
700 objects takes a tenth of the time.
"""


def look_never() -> None:
    """Do not look: imports leave hardly any cycles, and looking takes a tenth of a start."""
    gc.disable()


def look_rarely() -> None:
    """Look, from now on, when there are many new objects."""
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()


def keep_all() -> None:
    """Look from now on, and leave out what there is by now. All of it stays, and a full collection
    would stop every request for a tenth of a second to find that out again.
    """
    gc.freeze()
    look_rarely()
