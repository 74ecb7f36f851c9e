"""Schemathesis on the service's own OpenAPI page: healthy, without Redis, without judges."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.faults.report import Report
from benchmarks.faults.stage import Stage

PHASES = "examples,coverage,fuzzing,stateful"
TIMEOUT_MS = 1500
"""How long a generated request may be judged, whatever it says itself."""


def schemathesis(stage: Stage, *, state: str, seed: int = 1, seconds: int = 60) -> Report:
    """Everything the page describes is sent; no 5xx but 503 and no answer off the page."""
    report = Report(f"schemathesis, {state}", seed)
    with tempfile.TemporaryDirectory(prefix="fault-suite-") as folder:
        events = Path(folder) / "events.ndjson"
        ran = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")), "run",
                stage.service.url + "/openapi.json",
                "--checks", "all",
                # Whether a body can be right may hang on the rubric, which no page can say.
                "--exclude-checks", "positive_data_acceptance", "--phases", PHASES, "--mode", "all",
                "--max-time", str(seconds), "--seed", str(seed), "--continue-on-failure",
                "--request-timeout", "20", "--warnings", "off",
                "-H", f"X-Request-Timeout-Ms: {TIMEOUT_MS}",
                "--report-ndjson-path", str(events),
            ],
            cwd=folder, capture_output=True, text=True, timeout=seconds * 3 + 240,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "110"},
        )  # fmt: skip
        statuses = _statuses(events)
    fives = {status: n for status, n in statuses.items() if 500 <= status != 503}
    report.exactly("5xx but 503", sum(fives.values()), 0)
    report.exactly("exit code of schemathesis", ran.returncode, 0)
    report.at_least("requests sent", sum(statuses.values()), 100)
    report.exactly("service alive", stage.service.alive, True)
    tracebacks = stage.service.log().count("Traceback (most recent call last)")
    report.exactly("tracebacks in the log", tracebacks, 0)
    if ran.returncode:
        report.examples += failures(ran.stdout)
    report.figures |= {"statuses": {str(k): n for k, n in sorted(statuses.items())}}
    return report


def failures(output: str) -> list[str]:
    """What schemathesis complains of, one entry each."""
    _, _, found = output.partition(" FAILURES ")
    parts = re.split(r"\n(?=_{5,} )", found or output[-3000:])
    return [" ".join(part.split())[:900] for part in parts if part.strip(" =\n")][:12]


def _statuses(events: Path) -> Counter[int]:
    """The status of every response in a report."""
    found: Counter[int] = Counter()
    if not events.is_file():
        return found
    for line in events.read_text(encoding="utf-8").splitlines():
        found.update(int(s) for s in re.findall(r'"status_code": ?(\d{3})', line))
    return found
