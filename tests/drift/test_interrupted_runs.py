"""Runs that were killed, stopped or torn go on where they stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.drift.support import RUNS, Bench, points, write_gold
from tests.provider import behaviours, faults


def test_a_torn_last_line_is_asked_again(bench: Bench) -> None:
    """What a power cut leaves behind."""
    first = bench.drift(*RUNS, gold=points(6)).report
    file = bench.folder / "kept.runs"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-3]) + lines[-3][:40])
    before = len(bench.provider.requests)

    second = bench.drift(*RUNS, gold=points(6)).report

    assert len(bench.provider.requests) == before + 2
    for report in (first, second):
        for part in (report, report["baseline"], report["candidate"]):
            del part["usage"]
    assert second == first


def test_a_killed_run_goes_on_where_it_stopped(bench: Bench) -> None:
    """After a ``kill -9`` the same command asks only for what is missing."""
    bench.provider.behave_by_default([behaviours.honest()] * 30 + [faults.hang()])
    gold = write_gold(bench.folder / "quality.jsonl", points(40))
    command = [
        sys.executable, "-m", "judge_service.cli", "drift", "--gold", str(gold),
        "--baseline", "alpha", "--candidate", "beta", "--format", "json", "--concurrency", "2",
        "--judges-file", "judges.toml", "--rubrics-dir", "rubrics", "--anchors-dir", "anchors",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
        reached = bench.provider.wait_until(lambda: len(bench.provider.requests) == 32)
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait(60)
    assert reached
    bench.provider.behave_by_default(behaviours.honest())
    ran = bench.drift("--concurrency", "2", gold=points(40))

    assert ran.code == 0
    assert "continuing an interrupted run" in ran.err
    # The two in flight when the process died were asked in vain.
    assert len(bench.provider.requests) == 122
    assert not list((bench.folder / "state" / "judge-service" / "drift").iterdir())


def test_an_interrupted_run_goes_on_where_it_stopped(bench: Bench) -> None:
    """Ctrl-C ends with 130 and one line; the same command asks only for what is missing."""
    bench.provider.behave_by_default([behaviours.honest()] * 10 + [faults.hang()])
    gold = write_gold(bench.folder / "quality.jsonl", points(40))
    command = [
        sys.executable, "-m", "judge_service.cli", "drift", "--gold", str(gold),
        "--baseline", "alpha", "--candidate", "beta", "--format", "json", "--concurrency", "2",
        "--judges-file", "judges.toml", "--rubrics-dir", "rubrics", "--anchors-dir", "anchors",
    ]  # fmt: skip
    stopped = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with stopped:
        reached = bench.provider.wait_until(lambda: len(bench.provider.requests) == 12)
        os.kill(stopped.pid, signal.SIGINT)
        out, err = stopped.communicate(timeout=60)
    assert reached
    assert stopped.returncode == 130
    assert out == ""
    assert "interrupted; the same command continues" in err
    assert "Traceback" not in err
    bench.provider.behave_by_default(behaviours.honest())
    ran = bench.drift("--concurrency", "2", gold=points(40))

    assert ran.code == 0
    assert len(bench.provider.requests) == 122
