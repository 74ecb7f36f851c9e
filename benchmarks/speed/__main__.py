"""The speed table: each row measured in a process of its own, one after the other.

``python -m benchmarks.speed`` measures all; names of rows measure those. Minutes, on a quiet
machine.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict
from importlib import import_module

from benchmarks.speed.peers.roster import PEERS
from benchmarks.speed.row import Row

ROWS = (
    "assess_cpu", "compare_cpu", "cached:redis", "cached:near", "cached:bodies", "lookups",
    "start", "memory", "workers", "latency:assess", "latency:compare", "prefix", "rank_calls:odds",
    "rank_calls:graded", "peers", "litellm_proxy",
)  # fmt: skip
"""Modules beside this one, with the kind that their ``measure`` is asked for."""
PARTS = tuple(f"peers:{peer.name}" for peer in PEERS)
"""Rows that are measured by name only: one peer each."""
VERSIONS = ("litellm", "fastapi", "uvicorn", "redis", "aiohttp")


def main() -> int:
    """Measure, and print a table in Markdown; 1 where a row could not be measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "rows",
        nargs="*",
        metavar="ROW",
        help=f"of {', '.join(ROWS + PARTS)} (default: {', '.join(ROWS)})",
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        return _measure(given.one)
    if unknown := set(given.rows) - {*ROWS, *PARTS}:
        known = ", ".join(ROWS + PARTS)
        parser.error(f"no such row: {', '.join(sorted(unknown))}; there are {known}")
    broken = False
    began = time.monotonic()
    found_rows: list[Row] = []
    names = given.rows or ROWS
    for number, name in enumerate(names, 1):
        print(f"[{number}/{len(names)}] {name} ...", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.speed", "--one", name],
            stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            print(f"{name} could not be measured", file=sys.stderr)
            broken = True
            continue
        row = Row(**json.loads(done.stdout.splitlines()[-1]))
        found_rows.append(row)
        print(row, file=sys.stderr, flush=True)
    print(_heading())
    print("| row | against, in the same run | goal | measured | |\n|---|---|---|---|---|")
    for row in found_rows:
        print(f"| {row.name} | {row.against} | {row.goal} | {row.measured} | {row.verdict} |")
    took = datetime.timedelta(seconds=round(time.monotonic() - began))
    print(f"\n{len(found_rows)} of {len(names)} rows, measured in {took} (h:mm:ss)")
    return int(broken)


def _measure(name: str) -> int:
    """In a process of its own: print the row as JSON, or why there is none."""
    module, *kind = name.split(":")
    try:
        row: Row = import_module(f"benchmarks.speed.{module}").measure(*kind)
    except (RuntimeError, OSError) as error:
        print(f"{name}: {error or type(error).__name__}", file=sys.stderr)
        return 1
    print(json.dumps(asdict(row)))
    return 0


def _heading() -> str:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in VERSIONS)
    day = datetime.datetime.now(tz=datetime.UTC).date()
    cores = len(os.sched_getaffinity(0))
    return (
        f"{day}, Python {platform.python_version()}, {cores} cores {platform.machine()}; "
        f"{versions}\n"
    )


if __name__ == "__main__":
    raise SystemExit(main())
