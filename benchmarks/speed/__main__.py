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
from dataclasses import asdict
from importlib import import_module

from benchmarks.speed.row import Row

ROWS = (
    "assess_cpu", "compare_cpu", "cached:distinct", "cached:repeated", "lookups", "start", "memory",
    "workers",
)  # fmt: skip
"""Modules beside this one, with the kind that their ``measure`` is asked for."""
VERSIONS = ("litellm", "fastapi", "uvicorn", "redis", "aiohttp")


def main() -> int:
    """Measure, and print a table in Markdown; 1 where a row could not be measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)} (default: all)"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        module, *kind = given.one.split(":")
        row: Row = import_module(f"benchmarks.speed.{module}").measure(*kind)
        print(json.dumps(asdict(row)))
        return 0
    if unknown := set(given.rows) - set(ROWS):
        parser.error(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    broken = False
    found_rows: list[Row] = []
    names = given.rows or ROWS
    for number, name in enumerate(names, 1):
        print(f"[{number}/{len(names)}] {name} ...", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.speed", "--one", name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            broken = True
            print(done.stderr[-2000:], file=sys.stderr)
            continue
        row = Row(**json.loads(done.stdout.splitlines()[-1]))
        found_rows.append(row)
        print(row, file=sys.stderr, flush=True)
    print(_heading())
    print("| row | against, in the same run | goal | measured | |\n|---|---|---|---|---|")
    for row in found_rows:
        met = "met" if row.met else "not met"
        print(f"| {row.name} | {row.against} | {row.goal} | {row.value:.2f} {row.unit} | {met} |")
    return int(broken)


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
