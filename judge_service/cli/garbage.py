"""How often this process looks for garbage: rarely, and never through what the start has made."""

from __future__ import annotations

import gc

COLLECT_AFTER = (20_000, 20, 20)
"""The collector's thresholds. Neither imports nor requests leave many cycles, and looking for them
after every 700 objects takes a tenth of the time.
"""


def look_rarely() -> None:
    """Set the thresholds; before the first large import."""
    gc.set_threshold(*COLLECT_AFTER)


def keep_all() -> None:
    """Leave out what there is by now. All of it stays, and a full collection would stop every
    request for a tenth of a second to find that out again.
    """
    gc.freeze()
