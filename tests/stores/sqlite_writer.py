"""A process that writes to an embedded store: python -m tests.stores.sqlite_writer FILE NAME N.

Prints a line per value it was told is stored, then how much its counting came to.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from judge_service.adapters.sqlite_store import SqliteStore


async def write(file: Path, name: str, number: int) -> None:
    """Put ``number`` values and count as often."""
    store = SqliteStore(file)
    counted = 0
    for n in range(number):
        if await store.put(f"{name}:{n}", f"{name}:{n}".encode(), 600.0):
            print(n, flush=True)
        counted += await store.add("count", 1, 600.0) is not None
    await store.aclose()
    print("counted", counted, flush=True)


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
