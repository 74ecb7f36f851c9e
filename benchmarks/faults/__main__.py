"""Run scenarios of the fault suite: ``python -m benchmarks.faults NAME [options]``.

Prints a table and a line of JSON for each; the exit code is 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.faults.redis_server import RedisMissing
from benchmarks.faults.scenarios import SCENARIOS, Options


def main() -> int:
    """Run what the command line names; 0 when every promise was kept."""
    options = _options()
    names = list(SCENARIOS) if options.scenario == "all" else [options.scenario]
    chosen = Options(
        requests=options.requests,
        seed=options.seed,
        workers=options.workers,
        in_flight=options.in_flight,
        faults=options.faults,
        seconds=options.seconds,
        attempt_s=options.attempt_s,
    )
    broken = 0
    for name in names:
        try:
            for report in SCENARIOS[name](chosen):
                report.print()
                broken += len(report.broken)
        except RedisMissing as missing:
            print(f"error: {missing}", file=sys.stderr)
            return 1
    return 1 if broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults",
        description="The real service over HTTP under faults; see docs/faults.md.",
    )
    lines = [f"{name}: {(run.__doc__ or '').splitlines()[0]}" for name, run in SCENARIOS.items()]
    parser.add_argument("scenario", choices=[*SCENARIOS, "all"], help="; ".join(lines))
    parser.add_argument("--requests", type=int, help="how many requests (or clients)")
    parser.add_argument("--seed", type=int, default=1, help="what every draw depends on (1)")
    parser.add_argument("--workers", type=int, help="processes of the service")
    parser.add_argument("--in-flight", type=int, default=64, help="callers at once (64)")
    parser.add_argument("--faults", type=float, help="share of faulty replies in chaos (0.2)")
    parser.add_argument("--seconds", type=int, help="how long one run of schemathesis lasts")
    parser.add_argument(
        "--attempt-s", type=float, default=2.0, help="when a hanging judge is given up (2 s)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
