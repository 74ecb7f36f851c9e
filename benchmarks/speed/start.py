"""From the start of the service to its first ready answer, beside a bare import.

``python -m benchmarks.speed.start`` starts both in turns.
"""

from __future__ import annotations

import argparse
import statistics

from benchmarks.speed.process import OPENAI, Started, imported, start
from benchmarks.speed.rounds import rounds_of
from benchmarks.speed.row import Row

GOAL = 1.5
BARE = "fastapi, uvicorn, redis"


def measure(*, rounds: int = 7) -> Row:
    """The row: medians over ``rounds``, after one to warm up."""
    ours: list[Started] = []
    bare: list[Started] = []
    for number in rounds_of(rounds, "start"):
        one, beside = start(OPENAI), imported(BARE)
        if number:
            ours.append(one)
            bare.append(beside)
    ratio = _median(ours) / _median(bare)
    return Row(
        name="start to ready, judges configured",
        against=f'python -c "import {BARE}"',
        goal=f"<= {GOAL:.1f} x",
        value=ratio,
        unit="x",
        met=ratio <= GOAL,
        detail=f"service {_told(ours)}\nimport  {_told(bare)}\n{rounds} rounds",
    )


def _median(some: list[Started]) -> float:
    return statistics.median(one.seconds for one in some)


def _told(some: list[Started]) -> str:
    seconds = [one.seconds for one in some]
    cpu = statistics.median(one.cpu_s for one in some)
    return f"{_median(some):.2f} s [{min(seconds):.2f}-{max(seconds):.2f}], {cpu:.2f} s of CPU"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=7)
    print(measure(rounds=parser.parse_args().rounds))
